"""Folders that Kate 0.1 wrote (a model, an index, an estimator) are refused with a sentence that says what to do.

Their vectors were of another kind. Of each folder the file that is read first is kept here.
"""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

import kate
from kate.storage.folders import FolderError

FOLDER = Path(__file__).parent / "kate_0_1"


@pytest.mark.parametrize(
    ("read", "folder", "remedy"),
    [
        (kate.load, "model", r"make one with `kate fit CORPUS -o MODEL`"),
        (kate.Index.load, "index", r"make one with `kate index MODEL CORPUS -o INDEX`"),
        (kate.KATE.load, "estimator", "fit a model again and save it"),
    ],
)
def test_a_folder_of_0_1_is_refused_with_what_to_do(
    read: Callable[[Path], Any], folder: str, remedy: str
) -> None:
    message = rf"written by Kate 0\.1 \(format version 1\).*does not read: {remedy}.*, or use kate-text 0\.1 for it$"
    with pytest.raises(FolderError, match=message):
        read(FOLDER / folder)


def test_a_folder_of_0_1_may_be_written_over(tmp_path: Path) -> None:
    old = tmp_path / "model"
    old.mkdir()
    (old / "config.json").write_bytes((FOLDER / "model" / "config.json").read_bytes())
    kate.TextModel(2, max_epochs=1).fit(["gold and silver", "a treaty of peace"] * 5).save(old)
    assert kate.load(old).n_components == 2
