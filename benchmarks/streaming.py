"""Memory and speed of kate encode, label and index as the corpus grows: batch by batch, beside all at once.

    python benchmarks/streaming.py                          # 200,000 and 1,000,000 documents of 30 words
    python benchmarks/streaming.py --documents 20000 --commands encode --formats parquet

The documents are runs of 30 words drawn from real texts (film reviews and news, of the folder that KATE_DATA names),
as a Parquet file or as JSON lines. Every run is a process of its own. "streamed" is what the command does; "in memory"
reads the whole corpus, works on it and writes it with one call each, as the library does. Prints a JSON line for each
run: seconds without the start of Python (and those of the processors, which other programs disturb less), documents per
second, and the peak of the resident memory in MiB ("anonymous" leaves out pages of files, which the system takes back
when it needs them); and one for each pair, with the ratios streamed / in memory, and how many MiB a million documents
more took.
"""

from __future__ import annotations

import argparse
import gzip
import json
import os
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl

WORDS_OF_A_DOCUMENT = 30
AT_ONCE = 50_000
OUTPUTS = {"encode": "vectors.parquet", "label": "labelled.csv", "index": "index", "lance": "index-lance"}


def make_corpora(folder: Path, n_documents: int, formats: list[str]) -> dict[str, Path]:
    """The corpus in each format; the same for the same number."""
    words = np.array(" ".join(real_texts()).split())
    rng = np.random.default_rng(0)
    starts = rng.integers(0, len(words) - WORDS_OF_A_DOCUMENT, n_documents)
    paths = {name: folder / f"{n_documents}.{name}" for name in formats}
    frames = []
    lines = paths["jsonl"].open("wb") if "jsonl" in paths else None
    for first in range(0, n_documents, AT_ONCE):
        some = starts[first : first + AT_ONCE]
        texts = [" ".join(words[start : start + WORDS_OF_A_DOCUMENT]) for start in some.tolist()]
        ids = [f"d{number}" for number in range(first, first + len(texts))]
        frame = pl.DataFrame({"id": ids, "text": texts, "year": 1990 + some % 30})
        if lines is not None:
            frame.write_ndjson(lines)
        frames.append(frame)
    if lines is not None:
        lines.close()
    if "parquet" in paths:
        pl.concat(frames).write_parquet(paths["parquet"])
    return paths


def real_texts() -> list[str]:
    folder = Path(os.environ.get("KATE_DATA", "shared/data"))
    texts: list[str] = []
    for name in ("reviews.jsonl.gz", "bbc.jsonl.gz"):
        with gzip.open(folder / name, "rt", encoding="utf-8") as lines:
            texts += [json.loads(line)["text"] for line in lines]
    return texts


def fit(corpus: Path, folder: Path) -> None:
    import kate

    documents = kate.read_corpus(corpus)
    kate.TextModel(verbose=False).fit(documents.texts[:50_000]).save(folder)


def run_streamed(command: str, model: Any, corpus: Path, output: Path) -> None:
    import kate
    from kate.model.corpus_outputs import encode_corpus, label_corpus
    from kate.text.corpus_batches import LARGE_BATCH_SIZE

    batches = kate.iter_corpus(corpus, keep_nested=command == "label", batch_size=LARGE_BATCH_SIZE)
    if command == "encode":
        encode_corpus(model, batches, output)
    elif command == "label":
        label_corpus(model, batches, output)
    else:
        kate.Index.write(model, batches, output, store="lance" if command == "lance" else "files")


def run_in_memory(command: str, model: Any, corpus: Path, output: Path) -> None:
    import kate
    from kate.text.table_files import write_table

    if command == "encode":
        documents = kate.read_corpus(corpus)
        vectors = pl.Series("vector", model.encode(documents.texts), dtype=pl.Array(pl.Float32, 128))
        documents.frame.select("id").with_columns(vectors.cast(pl.List(pl.Float32))).write_parquet(output)
    elif command == "label":
        documents = kate.read_corpus(corpus, keep_nested=True)
        write_table(model.topics().label(documents).with_columns(pl.col("topic_share").round(4)), output)
    else:
        store = "lance" if command == "lance" else "files"
        kate.Index.build(model, kate.read_corpus(corpus)).save(output, store=store)


def measured(work: Callable[[], None]) -> dict[str, float]:
    """Seconds, those of the processors, and the peaks of the resident memory in MiB."""
    peaks = {"VmRSS": 0.0, "RssAnon": 0.0}
    done = threading.Event()

    def watch() -> None:
        while not done.is_set():
            for line in Path("/proc/self/status").read_text().splitlines():
                name, _, rest = line.partition(":")
                if name in peaks:
                    peaks[name] = max(peaks[name], int(rest.split()[0]) / 1024)
            done.wait(0.02)

    watcher = threading.Thread(target=watch, daemon=True)
    watcher.start()
    start, cpu = time.perf_counter(), time.process_time()
    work()
    seconds, cpu = time.perf_counter() - start, time.process_time() - cpu
    done.set()
    watcher.join()
    return {"seconds": seconds, "cpu_seconds": cpu, "rss": peaks["VmRSS"], "anonymous": peaks["RssAnon"]}


def child(command: str, way: str, model_folder: Path, corpus: Path, output: Path) -> None:
    import kate

    model = kate.load(model_folder)
    # what is made once is not timed
    model.topics()
    model.encode(["a warm start"])
    run = run_streamed if way == "streamed" else run_in_memory
    print(json.dumps(measured(lambda: run(command, model, corpus, output))))


def run_child(*arguments: object) -> dict[str, float]:
    command = [sys.executable, __file__, "--child", *map(str, arguments)]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    if done.returncode:
        sys.exit(done.stderr)
    found: dict[str, float] = json.loads(done.stdout.splitlines()[-1])
    return found


def compare(folder: Path, command: str, kind: str, corpora: dict[int, Path], ways: list[str]) -> None:
    """All numbers of documents both ways, and the line with the ratios."""
    found: dict[tuple[str, int], dict[str, float]] = {}
    for n_documents, corpus in corpora.items():
        for way in ways:
            output = folder / OUTPUTS[command]
            figures = run_child(command, way, folder / "model", corpus, output)
            found[way, n_documents] = figures
            facts = {"command": command, "format": kind, "documents": n_documents, "way": way}
            rates = {"documents_per_second": round(n_documents / figures["seconds"])}
            print(
                json.dumps(facts | rates | {name: round(value, 1) for name, value in figures.items()}),
                flush=True,
            )
    for n_documents in corpora:
        if len(ways) == 2:
            streamed, whole = (found[way, n_documents] for way in ways)
            ratios = {name: round(streamed[name] / whole[name], 2) for name in streamed}
            print(
                json.dumps(
                    {
                        "command": command,
                        "format": kind,
                        "documents": n_documents,
                        "streamed / in memory": ratios,
                    }
                ),
                flush=True,
            )
    if len(corpora) > 1:
        least, most = min(corpora), max(corpora)
        grown = {
            way: round(
                (found[way, most]["anonymous"] - found[way, least]["anonymous"]) * 1e6 / (most - least), 1
            )
            for way in ways
        }
        print(
            json.dumps({"command": command, "format": kind, "MiB per million documents": grown}), flush=True
        )


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--documents", type=int, nargs="+", default=[200_000, 1_000_000])
    parser.add_argument("--commands", nargs="+", default=["encode", "label", "index"], choices=list(OUTPUTS))
    parser.add_argument("--formats", nargs="+", default=["parquet", "jsonl"], choices=["parquet", "jsonl"])
    parser.add_argument("--ways", nargs="+", default=["streamed", "in memory"])
    parser.add_argument("--child", nargs=5, help=argparse.SUPPRESS)
    given = parser.parse_args()
    if given.child:
        command, way, *paths = given.child
        child(command, way, *map(Path, paths))
        return
    with tempfile.TemporaryDirectory(prefix="kate-streaming-") as place:
        folder = Path(place)
        corpora = {n: make_corpora(folder, n, given.formats) for n in given.documents}
        fit(next(iter(corpora[min(corpora)].values())), folder / "model")
        for command in given.commands:
            for kind in given.formats:
                compare(folder, command, kind, {n: paths[kind] for n, paths in corpora.items()}, given.ways)


if __name__ == "__main__":
    main()
