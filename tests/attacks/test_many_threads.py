"""Many threads on one model and one index while a writer replaces both; fewer cores than threads."""

from __future__ import annotations

import os
import subprocess
import sys
import threading
import time
from pathlib import Path

import numpy as np
import pytest

import kate
from attacks.attacked_folders import corpus, small_model


def test_eight_threads_and_a_writer_get_answers_of_one_version_or_the_other(place: Path) -> None:
    versions = []
    for seed in (0, 1):
        model = small_model(seed)
        index = kate.Index.build(model, corpus(60, seed), n_jobs=1)
        versions.append((model, index, model.encode("gold coin"), index.search("gold peace", top=5)))
    folders = place / "model", place / "index"
    versions[0][0].save(folders[0])
    versions[0][1].save(folders[1])
    stop, wrong, n_answers = threading.Event(), list[str](), [0] * 8

    def ask(number: int) -> None:
        model, index = kate.load(folders[0]), kate.Index.load(folders[1])
        try:
            while not stop.is_set():
                if n_answers[number] % 5 == 0:
                    model, index = kate.load(folders[0]), kate.Index.load(folders[1])
                vectors, hits = model.encode("gold coin"), index.search("gold peace", top=5)
                if not any(np.array_equal(vectors, version[2]) for version in versions):
                    wrong.append(f"vectors {vectors}")
                if not any(list(hits) == list(version[3]) for version in versions):
                    wrong.append(f"hits {hits}")
                n_answers[number] += 1
        except BaseException as error:
            wrong.append(repr(error))

    threads = [threading.Thread(target=ask, args=(number,)) for number in range(8)]
    for thread in threads:
        thread.start()
    for turn in range(1, 13):
        versions[turn % 2][0].save(folders[0])
        versions[turn % 2][1].save(folders[1])
    end = time.monotonic() + 180
    while min(n_answers) < 2 and not wrong and time.monotonic() < end:
        time.sleep(0.01)
    stop.set()
    for thread in threads:
        thread.join(180)
    assert not any(thread.is_alive() for thread in threads)
    assert not wrong
    assert min(n_answers) >= 2


FIT = """
import os, sys, time, numpy as np, kate
if sys.argv[1] == "one core":
    os.sched_setaffinity(0, {min(os.sched_getaffinity(0))})
os.nice(int(sys.argv[3]))
random = np.random.default_rng(0)
words = [f"w{number}" for number in range(800)]
texts = [" ".join(random.choice(words, 40)) for _ in range(600)]
fit = lambda n_jobs: kate.TextModel(16, max_epochs=3, n_jobs=n_jobs, verbose=False, device="cpu", min_df=1).fit(texts)
fit(1)
start = time.process_time()
alone = fit(1)
one = time.process_time() - start
start = time.process_time()
many = fit(int(sys.argv[2]))
print(one, time.process_time() - start, np.array_equal(alone.encode(texts[:9]), many.encode(texts[:9])))
"""


@pytest.mark.skipif(not hasattr(os, "sched_setaffinity"), reason="no affinity on this system")
def test_eight_threads_on_one_core_finish_soon_with_the_same_bits() -> None:
    """The work of processors is compared, not the time on the wall, which depends on what else the machine does."""
    done = subprocess.run(
        [sys.executable, "-W", "ignore", "-c", FIT, "one core", "8", "10"],
        capture_output=True,
        text=True,
        check=False,
        timeout=300,
    )
    assert done.returncode == 0, done.stderr
    alone, together, same = done.stdout.split()
    assert same == "True"
    assert float(together) < 5 * float(alone) + 1
