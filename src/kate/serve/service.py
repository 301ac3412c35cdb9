"""The application: routes, the token, limits on bodies, metrics; and how it is run.

kate serve INDEX                      # from the shell
uvicorn --factory "my_app:make"       # from Python: make() returns make_app("INDEX")
"""

from __future__ import annotations

import asyncio
import contextlib
import hmac
import json
import logging
import time
from collections.abc import AsyncIterator, Awaitable, Callable
from typing import Any

from starlette.applications import Starlette
from starlette.requests import ClientDisconnect, Request
from starlette.responses import HTMLResponse, JSONResponse, RedirectResponse, Response
from starlette.routing import Route

import kate
from kate.explore.page_file import POLICY_HEADER, served_page
from kate.serve import embeddings, index_answers, openapi
from kate.serve.api_errors import ApiError, bad_request
from kate.serve.encode_queue import EncodeQueue
from kate.serve.explore_pages import MOST_ON_THE_MAP, ExplorePages
from kate.serve.limits import Limits
from kate.serve.live_folder import LiveFolder, Served
from kate.serve.service_metrics import ServiceMetrics
from kate.storage.folders import FolderError, StrPath
from kate.threads import require_own_threads

__all__ = ["Service", "make_app"]

_logger = logging.getLogger("kate.serve")
_LOOK_AGAIN = 1.0  # seconds between two looks at the folder
# for whoever restarts a service that does not answer; and the page, which holds nothing of the index until its reader
# gives the token
_OPEN_ROUTES = {"/health", "/explore", "/explore/"}

Handler = Callable[[Request], Awaitable[Response]]


def make_app(
    folder: StrPath,
    *,
    token: str | None = None,
    limits: Limits | None = None,
    name: str | None = None,
    on_map: int = MOST_ON_THE_MAP,
) -> Starlette:
    """The service of a model or index folder as an ASGI application.

    token : what clients must send as ``Authorization: Bearer …``; None lets everybody in
    name : of the model in /v1/models; the folder's by default
    on_map : documents that the page at /explore/ shows on its map; a sample where the index has more
    """
    return Service(LiveFolder(folder, name), token, limits or Limits(), ExplorePages(on_map)).app()


class Service:
    """Answers requests about one folder."""

    def __init__(
        self, live: LiveFolder, token: str | None, limits: Limits, pages: ExplorePages | None = None
    ) -> None:
        self._live, self._token, self._limits = live, token, limits
        self._pages = pages or ExplorePages()
        self._metrics = ServiceMetrics()
        self._queue: EncodeQueue | None = None

    def app(self) -> Starlette:
        routes: list[tuple[str, str, Handler]] = [
            ("POST", "/v1/embeddings", self._embeddings),
            ("GET", "/v1/models", self._models),
            ("GET", "/v1/models/{name:path}", self._model),
            ("GET", "/search", self._search),
            ("POST", "/search", self._search),
            ("POST", "/similar", self._similar),
            ("GET", "/documents/{id:path}", self._document),
            ("GET", "/topics", self._topics),
            ("GET", "/topics/{id}", self._topic),
            ("POST", "/label", self._label),
            ("GET", "/explore", self._to_explorer),
            ("GET", "/explore/", self._explorer),
            ("GET", "/explore/manifest.json", self._explorer_manifest),
            ("GET", "/explore/parts/{name}", self._explorer_part),
            ("POST", "/explore/documents", self._explorer_documents),
            ("GET", "/health", self._health),
            ("GET", "/metrics", self._metrics_text),
            ("GET", "/openapi.json", self._openapi),
            ("GET", "/", self._page),
        ]
        handlers = {
            Exception: self._broken,
            404: self._no_such_route,
            405: self._no_such_method,
        }
        return Starlette(
            routes=[
                Route(path, self._guarded(path, handler), methods=[method])
                for method, path, handler in routes
            ],
            lifespan=self._lifespan,
            exception_handlers=handlers,
        )

    @contextlib.asynccontextmanager
    async def _lifespan(self, app: Starlette) -> AsyncIterator[None]:
        require_own_threads()  # a preloading server has forked: say so now, not at the first request
        self._queue = EncodeQueue(self._limits, on_batch=self._metrics.batches.observe)
        tasks = [asyncio.create_task(self._queue.run()), asyncio.create_task(self._watch())]
        try:
            yield
        finally:
            for task in tasks:
                task.cancel()
            await asyncio.gather(*tasks, return_exceptions=True)
            self._queue.close()

    async def _watch(self) -> None:
        """Look for a folder that replaced the served one."""
        while True:
            await asyncio.sleep(_LOOK_AGAIN)
            if await asyncio.to_thread(self._live.refresh):
                self._metrics.reloads.set(self._live.n_reloads)

    def _guarded(self, route: str, handler: Handler) -> Handler:
        """A handler behind the token, with its errors answered and its time measured."""

        async def guarded(request: Request) -> Response:
            start = time.perf_counter()
            try:
                self._require_token(request, route)
                response = await handler(request)
            except ApiError as error:
                response = error.response()
            except ClientDisconnect:
                response = Response(status_code=499)
            self._metrics.requests.labels(route, str(response.status_code)).inc()
            self._metrics.seconds.labels(route).observe(time.perf_counter() - start)
            return response

        return guarded

    def _require_token(self, request: Request, route: str) -> None:
        if self._token is None or route in _OPEN_ROUTES:
            return
        given = request.headers.get("authorization", "")
        # compared in constant time: nobody learns a token letter by letter
        if not hmac.compare_digest(given.encode(), f"Bearer {self._token}".encode()):
            raise ApiError(
                401,
                "the token is missing or wrong; send it as Authorization: Bearer TOKEN",
                code="invalid_api_key",
                headers={"WWW-Authenticate": "Bearer"},
            )

    async def _embeddings(self, request: Request) -> Response:
        body = await self._body(request)
        found = await embeddings.answer_embeddings(body, self._live.current, self._line, self._limits)
        return JSONResponse(found)

    async def _models(self, request: Request) -> Response:
        return JSONResponse(embeddings.list_models(self._live.current))

    async def _model(self, request: Request) -> Response:
        return JSONResponse(embeddings.described_model(self._live.current, request.path_params["name"]))

    async def _search(self, request: Request) -> Response:
        given = dict(request.query_params) if request.method == "GET" else await self._body(request)
        return await self._answered(lambda served: index_answers.search(given, served))

    async def _similar(self, request: Request) -> Response:
        body = await self._body(request)
        return await self._answered(lambda served: index_answers.similar(body, served))

    async def _document(self, request: Request) -> Response:
        name = request.path_params["id"]
        return await self._answered(lambda served: index_answers.document(name, served))

    async def _topics(self, request: Request) -> Response:
        given = dict(request.query_params)
        return await self._answered(lambda served: index_answers.topics(given, served))

    async def _topic(self, request: Request) -> Response:
        number, given = request.path_params["id"], dict(request.query_params)
        return await self._answered(lambda served: index_answers.topic(number, given, served))

    async def _label(self, request: Request) -> Response:
        body = await self._body(request)
        return await self._answered(lambda served: index_answers.label(body, served, self._limits))

    async def _to_explorer(self, request: Request) -> Response:
        return RedirectResponse("explore/")  # what the page fetches lies beside it

    async def _explorer(self, request: Request) -> Response:
        html, policy = served_page()
        return HTMLResponse(html, headers={POLICY_HEADER: policy, "Referrer-Policy": "no-referrer"})

    async def _explorer_manifest(self, request: Request) -> Response:
        found, headers = self._pages.manifest(self._live.current), {"Cache-Control": "no-store"}
        if isinstance(found, str):
            return JSONResponse({"making": found}, 202, headers | {"Retry-After": "1"})
        return JSONResponse(found, headers=headers)

    async def _explorer_part(self, request: Request) -> Response:
        edition = request.query_params.get("edition")
        found = self._pages.part(request.path_params["name"], edition, self._live.current)
        # no Content-Encoding: the part is a gzip file, and the page decompresses it
        headers = {"Cache-Control": "private, max-age=86400, immutable", "X-Content-Type-Options": "nosniff"}
        return Response(found, media_type="application/octet-stream", headers=headers)

    async def _explorer_documents(self, request: Request) -> Response:
        body = await self._body(request)
        return await self._answered(lambda served: lambda: {"documents": self._pages.describe(body, served)})

    async def _health(self, request: Request) -> Response:
        served = self._live.current
        facts: dict[str, Any] = {"status": "ok", "kate": kate.__version__, "model": served.name}
        if served.index is not None:
            facts["documents"] = len(served.index)
        return JSONResponse(facts)

    async def _metrics_text(self, request: Request) -> Response:
        self._metrics.waiting.set(self._line.n_waiting)
        return Response(self._metrics.text(), media_type="text/plain; version=0.0.4")

    async def _openapi(self, request: Request) -> Response:
        return JSONResponse(openapi.description(self._live.current.name, has_token=self._token is not None))

    async def _page(self, request: Request) -> Response:
        described = openapi.description(self._live.current.name, has_token=self._token is not None)
        return HTMLResponse(
            openapi.openapi_page(described), headers={"Content-Security-Policy": openapi.POLICY}
        )

    async def _answered(self, asking: Callable[[Served], Callable[[], Any]]) -> Response:
        """What the served folder answers; or the one that replaced it meanwhile, where that took its files away."""
        self._line.require_room()
        served = self._live.current
        try:
            return JSONResponse(await self._line.call(asking(served)))
        except FolderError:
            await asyncio.to_thread(self._live.refresh)
            if self._live.current is served:
                raise
            return JSONResponse(await self._line.call(asking(self._live.current)))

    async def _body(self, request: Request) -> Any:
        """The JSON of a request, read no further than it may be long."""
        most = self._limits.body_bytes
        parts, size = [], 0
        async for part in request.stream():
            size += len(part)
            if size > most:
                raise ApiError(413, f"the body is longer than {most:,} bytes; send less at a time")
            parts.append(part)
        try:
            return json.loads(b"".join(parts))
        except (ValueError, RecursionError) as error:
            raise bad_request(f"the body is not valid JSON: {str(error)[:200]}") from None

    @property
    def _line(self) -> EncodeQueue:
        if self._queue is None:
            raise ApiError(503, "the service is starting; try again in a second")
        return self._queue

    async def _broken(self, request: Request, error: Exception) -> Response:
        _logger.error("%s %s failed", request.method, request.url.path, exc_info=error)
        return ApiError(500, "something went wrong here; the service's log says what").response()

    async def _no_such_route(self, request: Request, error: Exception) -> Response:
        return ApiError(404, f"there is no {request.url.path} here; / lists what there is").response()

    async def _no_such_method(self, request: Request, error: Exception) -> Response:
        message = f"{request.url.path} does not take {request.method}; / lists what there is"
        return ApiError(405, message, headers=dict(getattr(error, "headers", None) or {})).response()
