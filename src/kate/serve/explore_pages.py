"""/explore/: the page of the served index, made when somebody first asks for it, and anew for one that took over."""

from __future__ import annotations

import logging
import threading
from collections.abc import Sequence
from typing import Any

from kate.errors import quoted
from kate.explore.explored_index import ExploredIndex
from kate.serve.api_errors import ApiError, bad_request
from kate.serve.live_folder import Served
from kate.serve.request_fields import RequestFields

__all__ = ["MOST_ON_THE_MAP", "ExplorePages"]

MOST_ON_THE_MAP = 50_000
_MOST_DESCRIBED = 1_000  # documents of one request

_logger = logging.getLogger("kate.serve")


class ExplorePages:
    """The page of the index that is served.

    most : documents on its map; a sample where the index has more
    """

    def __init__(self, most: int = MOST_ON_THE_MAP) -> None:
        self._most = most
        self._lock = threading.Lock()
        self._of: Served | None = None
        self._made: ExploredIndex | None = None
        self._failure: str | None = None
        self._progress = ("reading documents", 0.0)

    def manifest(self, served: Served) -> dict[str, Any] | str:
        """The manifest; while the page is made, what is being done."""
        made = self._current(served)
        return made if isinstance(made, str) else dict(made.page.manifest)

    def part(self, name: str, edition: str | None, served: Served) -> bytes:
        """A part of the page, compressed as it is."""
        made = self._finished(served)
        if edition != made.edition:
            raise ApiError(410, "the index was replaced by a new one: load the page again")
        if name not in made.page.parts:
            raise ApiError(404, f"this page has no part {quoted(name)}", param="name")
        return made.page.parts[name]

    def describe(self, given: Any, served: Served) -> list[dict[str, Any]]:
        """Where documents that were found stand on the map, and what the page shows of them."""
        fields = RequestFields(given)
        ids = fields.take("ids")
        fields.finish()
        if (
            not isinstance(ids, Sequence)
            or isinstance(ids, str)
            or not all(isinstance(one, str) for one in ids)
        ):
            raise bad_request("ids are those of documents, as a list of strings", "ids")
        if len(ids) > _MOST_DESCRIBED:
            raise bad_request(
                f"{len(ids):,} ids are more than {_MOST_DESCRIBED:,}; send fewer at a time", "ids"
            )
        return self._finished(served).describe(ids)

    def _finished(self, served: Served) -> ExploredIndex:
        made = self._current(served)
        if isinstance(made, str):
            raise ApiError(503, made, headers={"Retry-After": "1"})
        return made

    def _current(self, served: Served) -> ExploredIndex | str:
        """The page if it is made; else it is begun, and whoever asks is told what is being done."""
        if served.index is None:
            raise ApiError(
                404,
                f"{served.name} is a model without documents, and there is nothing to explore; serve an index: "
                "kate index MODEL CORPUS -o INDEX, then kate serve INDEX",
            )
        with self._lock:
            if self._of is not served:
                self._of, self._made, self._failure = served, None, None
                self._progress = ("reading documents", 0.0)
                threading.Thread(target=self._make, args=(served,), name="kate-explore", daemon=True).start()
            if self._made is not None:
                return self._made
            if self._failure is not None:
                raise ApiError(500, self._failure)
            what, share = self._progress
        return f"The page is being made: {what}" + (f", {share:.0%}" if share else "")

    def _make(self, served: Served) -> None:
        def told(what: str, share: float) -> None:
            self._progress = (what, share)

        made, failure = None, None
        try:
            assert served.index is not None
            made = ExploredIndex.of(served.index, served.name, self._most, told)
        except Exception as error:  # any error must be reported to the clients that wait
            _logger.error("the page of %s could not be made", served.name, exc_info=error)
            failure = (
                str(error) if isinstance(error, ValueError) else "the page could not be made; see the log"
            )
        with self._lock:
            if self._of is served:
                self._made, self._failure = made, failure
