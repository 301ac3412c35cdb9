"""benchmarks/gpu.py runs where there is nothing but PyTorch, NumPy, SciPy, scikit-learn and numba, and no GPU."""

import json
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

import kate

pytest.importorskip("torch", reason="the GPU engine needs the extra gpu")

SCRIPT = Path(__file__).resolve().parents[2] / "benchmarks" / "gpu.py"
ABSENT = (
    "polars",
    "pyarrow",
    "gensim",
    "safetensors",
    "Stemmer",
    "stop_words",
    "zstandard",
    "typer",
    "rich",
    "matplotlib",
)


def run(*arguments):
    """The script in a Python that has none of the packages that it must not need."""
    program = f"""
import runpy, sys
for name in {ABSENT!r}:
    sys.modules[name] = None
sys.path.insert(0, {str(Path(kate.__file__).parents[1])!r})
sys.argv = ["gpu.py", *{list(map(str, arguments))!r}]
runpy.run_path({str(SCRIPT)!r}, run_name="__main__")
"""
    return subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=False)


@pytest.fixture
def counts(tmp_path):
    rng = np.random.default_rng(0)
    labels = np.repeat(np.arange(2), 30)
    arrays = {"labels": labels.astype(np.int16)}
    for n_words in (2_000, 20_000):
        # each label has 20 words of its own
        indices = np.sort(rng.permuted(np.tile(np.arange(20), (60, 1)), axis=1)[:, :8], axis=1)
        indices += 20 * labels[:, np.newaxis]
        arrays |= {
            f"data_{n_words}": np.ones(480, np.uint16),
            f"indices_{n_words}": indices.ravel().astype(np.uint16),
        }
        arrays |= {f"indptr_{n_words}": np.arange(0, 481, 8), f"shape_{n_words}": np.array([60, n_words])}
    order = rng.permutation(60)
    parts = {"fitting": order[:30], "validation": order[30:45], "train": order[:45], "test": order[45:]}
    np.savez(tmp_path / "counts.npz", **arrays, **{name: np.sort(rows) for name, rows in parts.items()})
    return tmp_path / "counts.npz"


def test_it_runs_without_a_gpu_on_request(counts):
    done = run("--counts", counts, "--device", "cpu", "--epochs", 1, "--rcv1-documents", 200)
    assert done.returncode == 0, done.stderr
    rows = {row["benchmark"]: row for row in map(json.loads, done.stdout.splitlines())}
    assert list(rows) == ["limits", "paper", "defaults", "rcv1 shape"]
    for name in ("paper", "defaults"):
        assert rows[name]["precision@1%"] > 0.9  # the nearest document has the same label
        assert rows[name]["epochs"] == 1
    assert rows["paper"]["accuracy"] > 0.8
    assert rows["rcv1 shape"]["words"] == 5_000
    assert rows["rcv1 shape"]["documents_per_s"] > 0
    assert rows["rcv1 shape"]["share_of_limit"] > 0


def test_it_says_that_there_is_no_gpu():
    import torch

    if torch.cuda.is_available():
        pytest.skip("there is a GPU here")
    done = run()
    assert done.returncode != 0
    assert "finds no CUDA GPU" in done.stderr
