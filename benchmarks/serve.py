"""What a service costs: requests per second and latency over loopback, beside the same work in the process.

    python benchmarks/serve.py              # a minute or two
    python benchmarks/serve.py --soak       # and 100,000 requests, for the memory

Prints JSON lines. The clients run on the same cores as the service, so that its own figures are better than these.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import os
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
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


def start(folder: Path) -> tuple[subprocess.Popen[str], int]:
    command = [sys.executable, "-m", "kate", "serve", str(folder), "--port", "0"]
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
    soak = parser.parse_args().soak
    with tempfile.TemporaryDirectory() as folder:
        index = prepare(Path(folder) / "index")
        process, port = start(Path(folder) / "index")
        try:
            embed = [request("/v1/embeddings", {"model": "index", "input": query}) for query in QUERIES]
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
        finally:
            process.kill()


def stopped_under_load(process: subprocess.Popen[str], port: int, requests: list[bytes]) -> None:
    """SIGTERM while clients ask: every request that was begun before is answered."""

    async def ask_and_stop() -> tuple[int, int]:
        answered = broken = 0

        async def one() -> None:
            nonlocal answered, broken
            try:
                while True:
                    reader, writer = await asyncio.open_connection("127.0.0.1", port)
                    writer.write(requests[0])
                    head = await reader.readuntil(b"\r\n\r\n")
                    await reader.readexactly(int(head.lower().split(b"content-length:")[1].split(b"\r\n")[0]))
                    answered += 1
                    writer.close()
            except ConnectionRefusedError:
                return  # a new connection after the end: nothing was begun
            except (asyncio.IncompleteReadError, ConnectionResetError):
                broken += 1

        clients = [asyncio.ensure_future(one()) for _ in range(8)]
        await asyncio.sleep(1)
        os.kill(process.pid, signal.SIGTERM)
        await asyncio.wait_for(asyncio.gather(*clients), 60)
        return answered, broken

    answered, broken = asyncio.run(ask_and_stop())
    print_line(what="stopped under load", answered=answered, broken=broken, exit_code=process.wait(30))


if __name__ == "__main__":
    main()
