"""benchmarks/rivals.py runs on few documents, and its lines have what docs/models.md shows."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest

SCRIPT = Path(__file__).resolve().parents[2] / "benchmarks" / "rivals.py"


def test_a_quick_run_prints_a_line_per_part() -> None:
    pytest.importorskip("gensim", exc_type=ImportError)
    done = subprocess.run(
        [sys.executable, str(SCRIPT), "--quick", "nmf", "doc2vec"],
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    lines = [json.loads(line) for line in done.stdout.splitlines()]
    assert [line["part"] for line in lines] == [
        "NMF, fit",
        "NMF, encoding",
        "Doc2Vec, inference, dm-concat",
        "Doc2Vec, inference, dbow",
    ]
    for line in lines:
        assert line["dimensions"] == 20
        assert line["times_as_fast"] == pytest.approx(line["library_s"] / line["ours_s"], rel=0.2)


def test_an_unknown_part_is_refused() -> None:
    done = subprocess.run([sys.executable, str(SCRIPT), "svd"], capture_output=True, text=True, check=False)
    assert done.returncode == 2
    assert "there is no part 'svd'; choose from lda, nmf, doc2vec" in done.stderr
