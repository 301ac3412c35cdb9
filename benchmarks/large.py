"""Ten million documents on two cores in 4 GiB: time and memory of counting, fitting, encoding, topics and the index.

    python benchmarks/large.py [--documents 10000000] [--memory 4GB] [--only count,fit,encode,topics,index]
    python benchmarks/large.py --documents 1000000 --in-memory   # kate fit without --memory, in the same run
    python benchmarks/large.py --documents 200000 --only epochs  # an epoch over shards beside one in memory

Documents have 30 words: three pieces of a paragraph of the State of the Union addresses (extra ``demo``), drawn by a
fixed seed. They are written to a temporary file, which is removed. Every phase is a process of its own with two
threads; its JSON line says seconds, documents a second and the most memory that it had (ru_maxrss), in MiB.
"""

from __future__ import annotations

import argparse
import json
import os
import re
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np

from kate.demo.speeches import paragraphs

WORDS, PIECES = 30, 3
PHASES = ("count", "fit", "encode", "topics", "index")
ROUNDS = 6
# a line of `kate -v fit`: "kate: 4.42 s streaming.phase_log: counting: 21,125 documents in 2.2 s, 9,516/s"
_PHASE = re.compile(r"phase_log: (\w+): ([\d,]+) documents in ([\d.]+) s")

COUNT = """
import sys
from kate.streaming.memory_limit import MemoryLimit
from kate.streaming.sharded_corpus import count_stream
from kate.streaming.work_folder import WorkFolder
from kate.text.readers import iter_corpus
from kate.text.text_stream import stream_of
from kate.text.word_parameters import WordParameters
corpus, memory, folder = sys.argv[1:]
with WorkFolder(folder) as work:
    work.begin({})
    stream, limit = stream_of(iter_corpus(corpus)), MemoryLimit.of(memory)
    count_stream(stream, WordParameters(), limit, work, lambda *told: None)
"""


def documents(n: int) -> Iterator[str]:
    """Texts of 30 words that are about something: pieces of one paragraph."""
    words = [paragraph.text.split() for paragraph in paragraphs()]
    long = [found for found in words if len(found) > WORDS]
    random, size = np.random.default_rng(0), WORDS // PIECES
    for start in range(0, n, 10_000):
        chosen = random.integers(0, len(long), 10_000)
        places = random.random((10_000, PIECES))
        for number, at in list(zip(chosen, places, strict=True))[: n - start]:
            found = long[number]
            firsts = (at * (len(found) - size)).astype(int)
            yield " ".join(word for first in firsts for word in found[first : first + size])


def measured(*command: object) -> tuple[float, float, str]:
    """Seconds and MiB of a process, and what it says on standard error."""
    environment = os.environ | {"OMP_NUM_THREADS": "2", "POLARS_MAX_THREADS": "2"}
    start = time.perf_counter()
    with tempfile.TemporaryFile("w+") as said:
        process = subprocess.Popen(
            [sys.executable, *map(str, command)], env=environment, stdout=subprocess.DEVNULL, stderr=said
        )
        _, status, usage = os.wait4(process.pid, 0)
        seconds = time.perf_counter() - start
        said.seek(0)
        text = said.read()
    if status:
        raise RuntimeError(f"{command} ended with {os.waitstatus_to_exitcode(status)}: {text[-2000:]}")
    return seconds, usage.ru_maxrss / 1024, text


def show(phase: str, n: int, seconds: float, mebibytes: float, **more: Any) -> None:
    row = {"benchmark": "large", "phase": phase, "documents": n, "seconds": round(seconds, 1)}
    row |= {"documents_per_second": round(n / seconds), "most_mebibytes": round(mebibytes)} | more
    print(json.dumps(row), flush=True)


def phases_of(log: str) -> dict[str, float]:
    """The seconds of each phase of a fit."""
    return {name: float(seconds) for name, _, seconds in _PHASE.findall(log)}


def run(folder: Path, n: int, memory: str, only: list[str], in_memory: bool) -> None:
    corpus, model = folder / "documents.txt", folder / "model"
    with corpus.open("w", encoding="utf-8") as file:
        file.writelines(f"{text}\n" for text in documents(n))
    size = {"megabytes_of_text": round(corpus.stat().st_size / 1e6)}
    if "count" in only:
        seconds, mebibytes, _ = measured("-c", COUNT, corpus, memory, folder / "work")
        show("count", n, seconds, mebibytes, memory=memory, **size)
    fit = ("-m", "kate", "-v", "fit", corpus, "-o", model)
    if in_memory:
        seconds, mebibytes, log = measured(*fit)
        ratio = round(mebibytes * 2**20 / corpus.stat().st_size, 1)
        show("fit in memory", n, seconds, mebibytes, memory_of_text=ratio, **size)
    if "fit" in only:
        seconds, mebibytes, log = measured(*fit, "--memory", memory)
        show("fit", n, seconds, mebibytes, memory=memory, seconds_of=phases_of(log), **size)
    commands = {
        "encode": ("encode", model, corpus, "-o", folder / "vectors.parquet"),
        "topics": ("topics", model, "-n", "50"),
        "index": ("index", model, corpus, "-o", folder / "index"),
    }
    for phase in (phase for phase in commands if phase in only):
        seconds, mebibytes, _ = measured("-m", "kate", *commands[phase])
        show(phase, n, seconds, mebibytes)


def compare_epochs(folder: Path, n: int, memory: str) -> None:
    """Epochs over shards and in memory, in turns: both train the same network on the same documents."""
    from kate import TextModel
    from kate.model.fitting import Machine
    from kate.model.settings import settings_for
    from kate.model.streamed_training import StreamedTraining
    from kate.model.training import KATETraining, idf_weights
    from kate.streaming.count_shards import CountShards
    from kate.streaming.memory_limit import MemoryLimit
    from kate.streaming.sharded_corpus import count_stream
    from kate.streaming.work_folder import WorkFolder
    from kate.text.text_stream import GivenTexts
    from kate.text.word_parameters import WordParameters

    limit, machine = MemoryLimit.of(memory), Machine(n_jobs=2, device="cpu")
    with WorkFolder(folder / "epochs.work") as work:
        work.begin({})
        stream = GivenTexts(documents(n))
        vocabulary, found = count_stream(stream, WordParameters(), limit, work, lambda *told: None)
        shards = CountShards(found, len(vocabulary))
        counts = shards.sample(n)
        model = TextModel(start="random", max_epochs=ROUNDS + 1, max_steps=10**9)
        settings = settings_for(model, n)
        entries = limit.window_entries(len(vocabulary), settings["n_neurons"])
        # the start is not measured: a random one costs nothing
        given = settings, np.random.RandomState(0), settings["max_epochs"], machine
        whole = KATETraining.start(settings, counts, None, *given[1:])
        streamed = StreamedTraining.begin(
            settings,
            shards,
            counts[:1000],
            None,
            np.random.RandomState(0),
            machine,
            idf_weights(counts),
            entries,
        )
        times: dict[str, list[float]] = {"in memory": [], "shards": []}
        for epoch in range(ROUNDS + 1):
            for name, learner in (("in memory", whole), ("shards", streamed)):
                start = time.perf_counter()
                learner.train_epoch(epoch)
                times[name].append(time.perf_counter() - start)
    # the first ones load compiled code
    ratios = [over / within for over, within in zip(times["shards"][1:], times["in memory"][1:], strict=True)]
    row = {"benchmark": "large", "phase": "epoch", "documents": n, "words": len(vocabulary), "memory": memory}
    row |= {f"seconds {name}": round(float(np.median(seconds[1:])), 2) for name, seconds in times.items()}
    row |= {"ratio": round(float(np.median(ratios)), 3), "ratios": [round(ratio, 2) for ratio in ratios]}
    print(json.dumps(row), flush=True)


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--documents", type=int, default=10_000_000)
    parser.add_argument("--memory", default="4GB")
    parser.add_argument("--only", default=",".join(PHASES), help=f"of {', '.join(PHASES)}, epochs")
    parser.add_argument("--in-memory", action="store_true")
    parser.add_argument("--folder", help="where temporary files are written")
    arguments = parser.parse_args()
    only = arguments.only.split(",")
    with tempfile.TemporaryDirectory(prefix="kate-large-", dir=arguments.folder) as folder:
        if only == ["epochs"]:
            compare_epochs(Path(folder), arguments.documents, arguments.memory)
        else:
            run(Path(folder), arguments.documents, arguments.memory, only, arguments.in_memory)


if __name__ == "__main__":
    main()
