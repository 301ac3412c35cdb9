"""Runs the application under uvicorn, and ends it without breaking off what clients have begun."""

from __future__ import annotations

import asyncio
import socket
from typing import Any

import uvicorn

__all__ = ["run"]

_STILL_ANSWERED = 0.5  # seconds after the last new connection in which requests on open ones are taken


class _PatientServer(uvicorn.Server):
    """On a signal, first nobody is let in any more, then open connections have a moment to finish what they send.

    uvicorn closes connections that look idle at once, and a request may be on its way on one of them.
    """

    async def shutdown(self, sockets: list[socket.socket] | None = None) -> None:
        for server in self.servers:
            server.close()
        await asyncio.sleep(_STILL_ANSWERED)
        await super().shutdown(sockets)


def run(app: Any, host: str, port: int, seconds: float) -> None:
    """Serve until SIGTERM or Ctrl-C; requests at hand then have ``seconds`` to be answered."""
    config = uvicorn.Config(
        app,
        host=host,
        port=port,
        log_level="info",
        access_log=False,
        timeout_graceful_shutdown=int(seconds) + 1,
    )
    _PatientServer(config).run()
