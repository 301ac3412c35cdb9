"""A limit of memory is kept, measured from outside: by the most that a process ever had."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

import kate
from zipf_texts import zipf_texts

LIMIT = 640
COPIES = 40
MEASURE = """
import resource, subprocess, sys
subprocess.run(sys.argv[1:], check=True, stdout=subprocess.DEVNULL)
print(resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss)
"""


@pytest.mark.skipif(sys.platform == "win32", reason="Windows does not tell what a child had")
def test_a_fit_keeps_to_its_memory(tmp_path):
    texts = zipf_texts(10_000)
    corpus = tmp_path / "corpus.txt"
    with corpus.open("w") as file:
        for number in range(COPIES):
            file.writelines(f"{text} name{number}\n" for text in texts)
    # in memory these texts take about 800 MiB
    assert 40e6 < corpus.stat().st_size < 120e6
    options = ["--dimensions", "16", "--epochs", "1", "--jobs", "1", "--device", "cpu"]
    command = [
        sys.executable,
        "-m",
        "kate",
        "fit",
        str(corpus),
        "--memory",
        f"{LIMIT}MB",
        "-o",
        str(tmp_path / "m"),
        *options,
    ]
    # from a small process: what a child had begins with what its parent has when it starts it
    measured = subprocess.run(
        [sys.executable, "-c", MEASURE, *command],
        env=os.environ | {"PYTHONPATH": str(Path(kate.__file__).parents[1]), "POLARS_MAX_THREADS": "1"},
        capture_output=True, text=True, check=True,
    )  # fmt: skip
    most = int(measured.stdout) / (2**20 if sys.platform == "darwin" else 2**10)
    assert 200 < most < LIMIT
