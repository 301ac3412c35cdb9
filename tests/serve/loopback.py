"""A service that runs on loopback while a test asks it."""

from __future__ import annotations

import contextlib
import threading
import time
from collections.abc import Iterator
from typing import Any

import httpx
import uvicorn

__all__ = ["PATIENCE", "get", "post", "running"]

PATIENCE = 60.0  # seconds that a busy machine is given for an answer; httpx gives 5


@contextlib.contextmanager
def running(app: Any) -> Iterator[str]:
    """The address of an application that answers until the end of the block."""
    config = uvicorn.Config(app, host="127.0.0.1", port=0, log_level="warning", lifespan="on")
    server = uvicorn.Server(config)
    thread = threading.Thread(target=server.run, daemon=True)
    thread.start()
    end = time.monotonic() + PATIENCE
    while not server.started:
        if not thread.is_alive() or time.monotonic() > end:
            raise RuntimeError("the service did not start")
        time.sleep(0.01)
    try:
        yield f"http://127.0.0.1:{server.servers[0].sockets[0].getsockname()[1]}"
    finally:
        server.should_exit = True
        thread.join(PATIENCE)


def get(address: str, **options: Any) -> httpx.Response:
    return httpx.get(address, timeout=PATIENCE, **options)


def post(address: str, **options: Any) -> httpx.Response:
    return httpx.post(address, timeout=PATIENCE, **options)
