"""What a service costs: requests per second and latency over loopback, beside the same work in the process.

    python benchmarks/serve.py              # a minute or two
    python benchmarks/serve.py --soak       # and 100,000 requests, for the memory
    python benchmarks/serve.py --ends 10    # only: stopped and replaced under load, ten times each

Prints JSON lines. The clients run on the same cores as the service, so that its own figures are better than these.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import os
import signal
import socket
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

import kate
from kate.demo.speeches import paragraphs
from kate.text.documents import Documents

QUERIES = (
    "gold and silver",
    "peace treaty with mexico",
    "health care for children",
    "the union and the states",
)
CLIENTS = (1, 8, 64)


def print_line(**row: Any) -> None:
    print(json.dumps(row), flush=True)


def prepare(folder: Path) -> kate.Index:
    documents = Documents.from_texts([one.text for one in paragraphs()])
    index = kate.Index.build(kate.TextModel(verbose=False).fit(documents), documents)
    index.save(folder)
    return index


def start(folder: Path, port: int = 0, *options: str) -> tuple[subprocess.Popen[str], int]:
    command = [sys.executable, "-m", "kate", "serve", str(folder), "--port", str(port), *options]
    process = subprocess.Popen(command, stderr=subprocess.PIPE, text=True)
    assert process.stderr is not None
    for line in process.stderr:
        if "running on" in line:
            return process, int(line.split("127.0.0.1:")[1].split()[0])
    raise RuntimeError("the service did not start")


def request(path: str, body: dict[str, Any] | None) -> bytes:
    data = b"" if body is None else json.dumps(body).encode()
    head = f"{'GET' if body is None else 'POST'} {path} HTTP/1.1\r\nHost: kate\r\nContent-Length: {len(data)}\r\n\r\n"
    return head.encode() + data


async def client(port: int, requests: list[bytes], n: int, seconds: list[float], statuses: list[int]) -> None:
    """Send requests one after the other over one connection."""
    reader, writer = await asyncio.open_connection("127.0.0.1", port)
    for number in range(n):
        began = time.perf_counter()
        writer.write(requests[number % len(requests)])
        head = await reader.readuntil(b"\r\n\r\n")
        length = int(head.lower().split(b"content-length:")[1].split(b"\r\n")[0])
        await reader.readexactly(length)
        seconds.append(time.perf_counter() - began)
        statuses.append(int(head.split()[1]))
    writer.close()


def load(port: int, requests: list[bytes], n_clients: int, n: int) -> dict[str, Any]:
    """Figures of ``n`` requests by so many clients at once."""
    seconds: list[float] = []
    statuses: list[int] = []

    async def all_of_them() -> float:
        began = time.perf_counter()
        await asyncio.gather(
            *(client(port, requests, n // n_clients, seconds, statuses) for _ in range(n_clients))
        )
        return time.perf_counter() - began

    spent = asyncio.run(all_of_them())
    assert set(statuses) == {200}, set(statuses)
    return {
        "clients": n_clients,
        "requests": len(seconds),
        "per_second": round(len(seconds) / spent, 1),
        "p50_ms": round(float(np.median(seconds)) * 1e3, 2),
        "p99_ms": round(float(np.quantile(seconds, 0.99)) * 1e3, 2),
    }


def in_process(work: Callable[[str], Any], n: int = 300) -> float:
    """How often a second the same is done without a service."""
    for query in QUERIES:
        work(query)
    began = time.perf_counter()
    for number in range(n):
        work(QUERIES[number % len(QUERIES)])
    return n / (time.perf_counter() - began)


def resident(process: subprocess.Popen[str]) -> float:
    text = Path(f"/proc/{process.pid}/status").read_text()
    return round(int(text.split("VmRSS:")[1].split()[0]) / 1024, 1)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--soak", action="store_true", help="100,000 requests, for the memory")
    parser.add_argument(
        "--ends", type=int, metavar="N", help="only: stopped and replaced under load, N times"
    )
    arguments = parser.parse_args()
    soak = arguments.soak
    with tempfile.TemporaryDirectory() as folder:
        index = prepare(Path(folder) / "index")
        embed = [request("/v1/embeddings", {"model": "index", "input": query}) for query in QUERIES]
        for _ in range(arguments.ends or 0):
            stopped_under_load(*start(Path(folder) / "index"), embed)
            replaced_under_load(Path(folder) / "index", embed)
        if arguments.ends:
            return
        process, port = start(Path(folder) / "index")
        try:
            search = [request("/search", {"q": query, "top": 10}) for query in QUERIES]
            alone = in_process(index.model.encode)
            for n_clients in CLIENTS:
                row = load(port, embed, n_clients, 4_000)
                print_line(
                    what="one text",
                    **row,
                    in_process=round(alone, 1),
                    ratio=round(row["per_second"] / alone, 3),
                )
            alone = in_process(index.search, n=100)
            for n_clients in CLIENTS:
                row = load(port, search, n_clients, 640)
                print_line(
                    what="search",
                    **row,
                    in_process=round(alone, 1),
                    ratio=round(row["per_second"] / alone, 3),
                )
            before = resident(process)
            n = 100_000 if soak else 5_000
            load(port, embed, 8, n)
            print_line(what="memory", requests=n, before_mib=before, after_mib=resident(process))
            stopped_under_load(process, port, embed)
            replaced_under_load(Path(folder) / "index", embed)
        finally:
            process.kill()


@dataclass
class Asked:
    """What became of requests, each over a connection of its own."""

    answered: int = 0
    broken: int = 0  # taken in, and closed without an answer
    refused: int = 0

    async def keep_asking(self, port: int, request: bytes) -> None:
        """Until somebody is refused, or the task is cancelled between two requests."""
        while True:
            try:
                await asyncio.shield(asyncio.ensure_future(self._one(port, request)))
            except ConnectionRefusedError:
                self.refused += 1
                return

    async def _one(self, port: int, request: bytes) -> None:
        reader, writer = await asyncio.open_connection("127.0.0.1", port)
        try:
            writer.write(request)
            head = await reader.readuntil(b"\r\n\r\n")
            await reader.readexactly(int(head.lower().split(b"content-length:")[1].split(b"\r\n")[0]))
            self.answered += 1
        except (asyncio.IncompleteReadError, ConnectionResetError):
            self.broken += 1
        finally:
            writer.close()


def stopped_under_load(process: subprocess.Popen[str], port: int, requests: list[bytes]) -> None:
    """SIGTERM while clients ask: everybody is answered until the port is closed to all."""
    asked = Asked()

    async def ask_and_stop() -> None:
        clients = [asyncio.ensure_future(asked.keep_asking(port, requests[0])) for _ in range(8)]
        await asyncio.sleep(1)
        os.kill(process.pid, signal.SIGTERM)
        await asyncio.wait_for(asyncio.gather(*clients), 60)

    asyncio.run(ask_and_stop())
    print_line(
        what="stopped under load",
        answered=asked.answered,
        broken=asked.broken,
        refused_at_the_end=asked.refused,
        exit_code=process.wait(30),
    )


def replaced_under_load(folder: Path, requests: list[bytes]) -> None:
    """A second service starts at the same port, then the first one is stopped: nobody may notice."""
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    asked, processes = Asked(), [start(folder, port, "--share-port")[0]]

    async def ask_and_replace() -> None:
        clients = [asyncio.ensure_future(asked.keep_asking(port, requests[0])) for _ in range(8)]
        new, _ = await asyncio.to_thread(start, folder, port, "--share-port")
        processes.append(new)
        await asyncio.sleep(0.5)
        os.kill(processes[0].pid, signal.SIGTERM)
        await asyncio.to_thread(processes[0].wait, 30)
        await asyncio.sleep(1.5)  # who asked while the first one closed asks again after a second
        for one in clients:
            one.cancel()
        await asyncio.gather(*clients, return_exceptions=True)
        while waiting := asyncio.all_tasks() - {asyncio.current_task()}:
            await asyncio.wait(waiting, timeout=10)

    try:
        asyncio.run(ask_and_replace())
    finally:
        for process in processes:
            process.kill()
    print_line(
        what="replaced under load", answered=asked.answered, broken=asked.broken, refused=asked.refused
    )


if __name__ == "__main__":
    main()
