"""The page that kate serve gives for very many documents: how long it takes to make, to open and to answer.

    python benchmarks/explore_serve.py FOLDER                       # 100,000 documents, a few minutes
    python benchmarks/explore_serve.py FOLDER --documents 1000000   # ten minutes on two idle cores, 6 GB

FOLDER keeps the model and the indexes, so that a second run only measures. Documents are pieces of eight to twenty-four
words of the State of the Union addresses, cut at random places: real words in their real order and as often as they
really are. Prints JSON lines; ``ratio`` is to the same figure of an index of the 20,000 first of these documents, all
of which are on the map, in the same run. Chromium and the service share the machine.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import os
import shutil
import statistics
import tempfile
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import httpx
import numpy as np
import polars as pl

import kate
from kate.demo.speeches import paragraphs
from kate.text.frames import as_documents

QUERIES = ("gold and silver", "peace treaty with mexico", "health care for children", "tariff", "the union")
FEW = 20_000
ON_MAP = 50_000
PATIENCE = 1800  # seconds for a page
FLAGS = (
    *("--headless=new", "--no-sandbox", "--disable-dev-shm-usage", "--proxy-server=direct://"),
    *("--use-angle=swiftshader", "--enable-unsafe-swiftshader", "--window-size=1280,860"),
)


def print_line(**row: Any) -> None:
    print(json.dumps(row), flush=True)


def pieces(n: int) -> pl.DataFrame:
    """So many pieces of the addresses, each with its year."""
    random = np.random.default_rng(0)
    whole = [(one.text.split(), one.year) for one in paragraphs()]
    lengths = random.integers(8, 25, n)
    places = random.integers(0, len(whole), n)
    starts = random.random(n)
    texts, years = [], []
    for place, length, start in zip(places.tolist(), lengths.tolist(), starts.tolist(), strict=True):
        words, year = whole[place]
        first = int(start * max(len(words) - length, 1))
        texts.append(" ".join(words[first : first + length]))
        years.append(year)
    return pl.DataFrame({"id": [f"p{row}" for row in range(n)], "text": texts, "year": years})


def index_of(folder: Path, n: int) -> Path:
    """The index of the first pieces; it is built if it is not there."""
    target = folder / f"index-{n}"
    if not target.is_dir():
        if not (folder / "model").is_dir():
            kate.TextModel(verbose=False).fit(pl.Series([one.text for one in paragraphs()])).save(
                folder / "model"
            )
        began = time.perf_counter()
        kate.Index.build(kate.load(folder / "model"), as_documents(pieces(n))).save(target)
        print_line(documents=n, index_seconds=time.perf_counter() - began)
    return target


def measure(folder: Path) -> dict[str, Any]:
    with served(folder) as address, httpx.Client(timeout=60, trust_env=False) as client:
        began = time.perf_counter()
        while (answer := client.get(f"{address}/explore/manifest.json")).status_code == 202:
            if time.perf_counter() - began > PATIENCE:
                raise TimeoutError(answer.text)
            time.sleep(0.1)
        seconds = time.perf_counter() - began
        manifest = answer.json()
        found = {
            query: client.post(f"{address}/search", json={"q": query, "top": 300}).json() for query in QUERIES
        }
        ids = {query: [hit["id"] for hit in answer["hits"]] for query, answer in found.items()}
        return {
            "documents": (manifest["sample"] or {"total": manifest["n_documents"]})["total"],
            "on_map": manifest["n_documents"],
            "megabytes": sum(part["bytes"] for part in manifest["parts"]) / 1e6,
            "load": os.getloadavg()[0],
            "seconds": {"page": seconds},
            "milliseconds": {
                "search": median_ms(lambda q: client.post(f"{address}/search", json={"q": q, "top": 300})),
                "describe": median_ms(
                    lambda q: client.post(f"{address}/explore/documents", json={"ids": ids[q]})
                ),
                **in_chromium(address),
            },
        }


def median_ms(work: Callable[[str], Any]) -> float:
    times = []
    for query in QUERIES:
        began = time.perf_counter()
        work(query)
        times.append(1000 * (time.perf_counter() - began))
    return statistics.median(times)


def in_chromium(address: str) -> dict[str, float]:
    """Until the map and the words are there, and from a query to its hits in the list; nothing without Chromium."""
    binary, driver = shutil.which("chromium"), shutil.which("chromedriver")
    if binary is None or driver is None:
        return {}
    from selenium import webdriver

    with tempfile.TemporaryDirectory() as profile:
        options = webdriver.ChromeOptions()
        options.binary_location = binary
        for flag in (*FLAGS, f"--user-data-dir={profile}"):
            options.add_argument(flag)
        window = webdriver.Chrome(options=options, service=webdriver.ChromeService(driver))
        window.set_script_timeout(300)
        try:
            window.get(f"{address}/explore/")
            until = time.monotonic() + 300
            while (
                window.execute_script("return document.getElementById('explorer').dataset.ready") != "words"
            ):
                if time.monotonic() > until:
                    raise TimeoutError(window.execute_script("return document.body.innerText")[:300])
                time.sleep(0.05)
            marks = window.execute_script(
                "return ['map', 'words'].map((one) => performance.getEntriesByName(`kate-${one}`)[0].startTime)"
            )
            hits = statistics.median(window.execute_async_script(SEARCH, query) for query in QUERIES)
            return {"map is there": marks[0], "words are there": marks[1], "hits are listed": hits}
        finally:
            window.quit()


SEARCH = """
const [query, done] = arguments, began = performance.now(), shown = document.querySelector('.how-many');
shown.textContent = '';
location.hash = 'q=' + encodeURIComponent(query);
const look = () => shown.textContent.includes('hit') ? done(performance.now() - began) : setTimeout(look, 5);
setTimeout(look, 5);
"""


@contextmanager
def served(folder: Path) -> Iterator[str]:
    """The address of the service, which runs in a thread of this process."""
    import uvicorn

    from kate.serve.service import make_app

    config = uvicorn.Config(make_app(folder, on_map=ON_MAP), host="127.0.0.1", port=0, log_level="warning")
    server = uvicorn.Server(config)
    thread = threading.Thread(target=lambda: asyncio.run(server.serve()), daemon=True)
    thread.start()
    while not server.started:
        time.sleep(0.01)
    try:
        yield f"http://127.0.0.1:{server.servers[0].sockets[0].getsockname()[1]}"
    finally:
        server.should_exit = True
        thread.join(20)


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("folder", type=Path)
    parser.add_argument("--documents", type=int, default=100_000)
    given = parser.parse_args()
    given.folder.mkdir(parents=True, exist_ok=True)
    folders = [index_of(given.folder, n) for n in (given.documents, FEW)]
    many, few = (measured(folder) for folder in folders)
    ratio = {what: many[of][what] / few[of][what] for of in ("seconds", "milliseconds") for what in few[of]}
    print_line(documents=many["documents"], of=few["documents"], ratio=ratio)


def measured(folder: Path) -> dict[str, Any]:
    found = measure(folder)
    print_line(**found)
    return found


if __name__ == "__main__":
    main()
