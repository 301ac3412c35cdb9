"""The command serve: a model or an index as an HTTP service."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from kate.extras import install_command

__all__ = ["add_to"]

_LOOPBACK = {"127.0.0.1", "::1", "localhost"}


def add_to(app: typer.Typer) -> None:
    app.command()(serve)


def serve(
    folder: Annotated[
        Path, typer.Argument(metavar="MODEL_OR_INDEX", help="A folder of kate fit or kate index.")
    ],
    host: Annotated[str, typer.Option(help="The address to listen at.")] = "127.0.0.1",
    port: Annotated[int, typer.Option(min=0, max=65535, help="0 takes one that is free.")] = 8000,
    token: Annotated[
        str | None,
        typer.Option(
            envvar="KATE_TOKEN", help="What clients send as Authorization: Bearer TOKEN.", show_envvar=True
        ),
    ] = None,
    no_token: Annotated[
        bool, typer.Option("--no-token", help="Let everybody in who reaches another host than this machine.")
    ] = False,
    name: Annotated[
        str | None, typer.Option(help="The name of the model; that of the folder by default.")
    ] = None,
    max_body: Annotated[int, typer.Option(min=1024, metavar="BYTES", help="Longest body of a request.")] = 16
    * 2**20,
    max_texts: Annotated[int, typer.Option(min=1, metavar="N", help="Texts per request.")] = 2048,
    max_waiting: Annotated[
        int, typer.Option(min=1, metavar="N", help="Requests that may wait; more are answered with 429.")
    ] = 512,
    timeout: Annotated[
        float, typer.Option(min=0.1, metavar="SECONDS", help="The longest a request may take.")
    ] = 30.0,
    on_map: Annotated[
        int,
        typer.Option(
            min=100, max=200_000, metavar="N", help="Documents on the map of /explore/; a sample of more."
        ),
    ] = 50_000,
    share_port: Annotated[
        bool,
        typer.Option(
            "--share-port",
            help="A second service may listen at the port: start the new one, then stop the old one.",
        ),
    ] = False,
) -> None:
    """Serve vectors, search and topics over HTTP.

    /v1/embeddings is that of OpenAI's API, so that its clients work with the address http://HOST:PORT/v1; / lists all
    routes, and /explore/ is the page of an index: a map, topics, time, search in all documents. A folder that is
    replaced while it is served is picked up within a second. Ctrl-C or SIGTERM stops when the requests at hand are
    answered. Needs: pip install 'kate-text[serve]'

    \b
    Examples:
      kate serve index
      curl 'http://127.0.0.1:8000/search?q=gold+and+silver&top=3'
      KATE_TOKEN=secret kate serve model --host 0.0.0.0
    """
    try:
        from kate.serve.limits import Limits
        from kate.serve.running import run
        from kate.serve.service import make_app
    except ImportError as error:
        raise ImportError(
            f"kate serve needs packages that are not installed ({error}): {install_command('serve')}"
        ) from None
    if host not in _LOOPBACK and token is None and not no_token:
        raise ValueError(
            f"--host {host} lets other machines in, and there is no token; give one (--token, or the variable "
            "KATE_TOKEN), or say --no-token"
        )
    limits = Limits(body_bytes=max_body, texts=max_texts, waiting=max_waiting, seconds=timeout)
    app = make_app(folder, token=token, limits=limits, name=name, on_map=on_map)
    shown = "" if port == 0 else f" at http://{host}:{port}; its page is http://{host}:{port}/explore/"
    typer.echo(f"serving {folder}{shown}; Ctrl-C stops it", err=True)
    run(app, host, port, timeout, share_port=share_port)
