"""The examples in the docstrings of kate.text give what they say."""

from __future__ import annotations

import doctest
import importlib

import pytest

MODULES = [
    "counts",
    "documents",
    "fields",
    "readers",
    "reading",
    "slices",
    "stopwords",
    "tokens",
    "vocabulary",
]


@pytest.mark.parametrize("name", MODULES)
def test_examples(name: str) -> None:
    result = doctest.testmod(importlib.import_module(f"kate.text.{name}"))
    assert result.attempted > 0
    assert result.failed == 0
