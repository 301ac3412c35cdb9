"""Runs the application under uvicorn, and ends it without breaking off what clients have begun."""

from __future__ import annotations

import asyncio
import socket
import time
from typing import Any

import uvicorn

from kate.serve.listening import anyone_waits, open_shared, stop_handshakes

__all__ = ["run"]

_STILL_ANSWERED = 0.5  # seconds in which open connections are served as before
_LONGEST_QUEUE = 10.0  # seconds, at most, to accept connections that wait when the machine is busy
_LAST_WORDS = 0.2  # seconds for the request of the connection that was accepted last


class _PatientServer(uvicorn.Server):
    """On a signal: nobody new is let in, everybody who waits is, and what open connections send is answered.

    uvicorn closes the listening socket, and connections that look idle, at once: somebody may wait at the one, and a
    request may be on its way on the others.
    """

    async def startup(self, sockets: list[socket.socket] | None = None) -> None:
        await super().startup(sockets)
        if sockets:  # uvicorn says it only of sockets of its own
            self._log_started_message(sockets)

    async def shutdown(self, sockets: list[socket.socket] | None = None) -> None:
        descriptors = [sock.fileno() for server in self.servers for sock in server.sockets]
        stop_handshakes(descriptors)
        # clients that ask one thing after another over one connection are told to open a new one
        self.server_state.default_headers = [*self.server_state.default_headers, (b"connection", b"close")]
        await asyncio.sleep(_STILL_ANSWERED)
        end = time.monotonic() + _LONGEST_QUEUE
        while anyone_waits(descriptors) and time.monotonic() < end:
            await asyncio.sleep(0.01)
        for server in self.servers:
            server.close()
        await asyncio.sleep(_LAST_WORDS)
        await super().shutdown(sockets)


def run(app: Any, host: str, port: int, seconds: float, *, share_port: bool = False) -> None:
    """Serve until SIGTERM or Ctrl-C; requests at hand then have ``seconds`` to be answered.

    share_port : another service may listen at the same port, so that it is there before this one ends
    """
    config = uvicorn.Config(
        app,
        host=host,
        port=port,
        log_level="info",
        access_log=False,
        timeout_graceful_shutdown=int(seconds) + 1,
    )
    _PatientServer(config).run(open_shared(host, port) if share_port else None)
