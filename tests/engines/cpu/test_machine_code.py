"""Where compiled code is kept: in a folder that may be shared, and nowhere if there is none."""

import errno
import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

import kate
from kate.engines.cpu import machine_code
from kate.engines.cpu.machine_code import compiled_once

SOURCE = Path(kate.__file__).parent
TRAIN = """
import numpy as np
from kate import KATE
model = KATE(4, max_epochs=1, random_state=0, device="cpu").fit(np.eye(6))
print(np.isfinite(model.word_vectors_).all())
"""


def test_without_a_folder_to_write_training_works_and_says_so(tmp_path):
    """No folder can be made below a file, whoever asks for it."""
    copy, file = tmp_path / "src" / "kate", tmp_path / "file"
    shutil.copytree(SOURCE, copy, ignore=shutil.ignore_patterns("__pycache__"))
    (copy / "engines" / "cpu" / "__pycache__").write_text("")
    file.write_text("")
    nowhere = dict.fromkeys(
        ("HOME", "XDG_CACHE_HOME", "LOCALAPPDATA", "NUMBA_CACHE_DIR"), str(file / "folder")
    )
    run = subprocess.run(
        [sys.executable, "-c", TRAIN],
        env=os.environ | nowhere | {"PYTHONPATH": str(copy.parent)},
        capture_output=True, text=True, check=False,
    )  # fmt: skip
    assert run.returncode == 0, run.stderr
    assert run.stdout.strip() == "True"
    assert run.stderr.count("Compiled code cannot be kept on disk") == 1
    assert "set the environment variable NUMBA_CACHE_DIR" in run.stderr


def add_one(x):
    return x + 1


@pytest.fixture
def folder(tmp_path, monkeypatch):
    """Compiled code of these tests goes to a folder of their own."""
    monkeypatch.setattr("numba.core.config.CACHE_DIR", str(tmp_path))
    return tmp_path


def test_code_is_kept_and_found_again(folder):
    assert compiled_once(add_one)(1) == 2
    again = compiled_once(add_one)
    assert again(1) == 2
    assert sum(again.stats.cache_hits.values()) == 1
    [index] = folder.rglob("*.nbi")
    assert machine_code._fingerprint() in index.name


def test_a_full_disk_is_no_reason_to_fail(folder, monkeypatch):
    def fail(self, *arguments):
        raise OSError(errno.ENOSPC, "No space left on device")

    monkeypatch.setattr("numba.core.caching.IndexDataCacheFile.save", fail)
    with pytest.warns(UserWarning, match="cannot be kept on disk .*No space left.*NUMBA_CACHE_DIR"):
        assert compiled_once(add_one)(1) == 2


@pytest.mark.parametrize("pattern", ["*.nbi", "*.nbc"])
def test_damaged_files_are_made_anew(folder, pattern):
    assert compiled_once(add_one)(1) == 2
    [file] = folder.rglob(pattern)
    file.write_bytes(file.read_bytes()[:50])
    assert compiled_once(add_one)(1) == 2
    mended = compiled_once(add_one)
    assert mended(1) == 2
    assert sum(mended.stats.cache_hits.values()) == 1
