"""Where the real data sets are: the folder that KATE_DATA names, or shared/data beside the checkout."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

__all__ = ["real_data_folder"]

# read now: fixtures hide KATE_DATA from the code under test
_FOLDERS = (os.environ.get("KATE_DATA"), Path(__file__).resolve().parents[2] / "shared" / "data")


def real_data_folder(*files: str) -> Path:
    """The folder that holds these files; where there is none the test skips and says why."""
    for folder in _FOLDERS:
        if folder and Path(folder).is_dir() and all((Path(folder) / file).is_file() for file in files):
            return Path(folder)
    pytest.skip(f"no real data ({', '.join(files) or 'archives'}): point KATE_DATA at the folder that has it")
