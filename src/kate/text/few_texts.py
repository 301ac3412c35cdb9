"""Counts of a few short texts, such as queries and requests to a service, without starting a machine made for millions.

Counting by columns of Polars has a price of some milliseconds, whatever the number of texts. Here chunks are looked up
in a dictionary, which remembers what each stands for; only new ones go through the tokenizer. The counts are the same.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Sequence
from typing import TypeGuard

import numpy as np
import polars as pl

from kate.sparse_arrays import sparse
from kate.text.text_batches import is_encodable
from kate.text.tokenizer import Tokenizer

__all__ = ["FewTexts"]

_MOST_TEXTS, _MOST_CHARACTERS = 512, 100_000
_MOST_REMEMBERED = 200_000  # chunks
# The tokenizer's chunks, where all characters are ASCII.
_ASCII_CHUNK = re.compile("[A-Za-z][A-Za-z0-9'`]+|[0-9][0-9'`]*[A-Za-z][A-Za-z0-9'`]*")
# What cleaning may change: a text with one of these is cut by the tokenizer itself.
_TO_BE_CLEANED = re.compile(r"[<&@]|://|www\.", re.IGNORECASE)


class FewTexts:
    """What chunks stand for in a vocabulary, as columns; it grows with use."""

    def __init__(self, tokenizer: Tokenizer, columns: dict[str, int]) -> None:
        self._tokenizer, self._columns = tokenizer, columns
        self._known: dict[str, tuple[int, ...]] = {}

    @staticmethod
    def are_few(texts: object) -> TypeGuard[list[str]]:
        """Whether texts are worth it: strings in a list, few and short. What is no text is left to others to refuse."""
        return (
            isinstance(texts, list)
            and len(texts) <= _MOST_TEXTS
            and all(type(text) is str for text in texts)
            and sum(map(len, texts)) <= _MOST_CHARACTERS
            and all(text.isascii() or is_encodable(text) for text in texts)
        )

    def count(self, texts: Sequence[str]) -> sparse.csr_array:
        """Counts (n_texts, n_words), int32, columns sorted."""
        columns: list[int] = []
        counts: list[int] = []
        ends = [0]
        for row in self.rows(texts):
            columns.extend(column for column, _ in row)
            counts.extend(count for _, count in row)
            ends.append(len(columns))
        arrays = (np.array(counts, np.int32), np.array(columns, np.int32), np.array(ends, np.int32))
        return sparse.csr_array(arrays, shape=(len(texts), len(self._columns)))

    def rows(self, texts: Sequence[str]) -> list[list[tuple[int, int]]]:
        """The same as pairs of a column and how often it is there: nothing of SciPy is needed."""
        cut = [self._cut(text) for text in texts]
        self._learn({chunk for chunks in cut for chunk in chunks})
        known = self._known
        return [
            sorted(Counter(column for chunk in chunks for column in known[chunk]).items()) for chunks in cut
        ]

    def _cut(self, text: str) -> list[str]:
        is_plain = type(self._tokenizer) is Tokenizer and not self._tokenizer.is_unspaced
        if is_plain and text.isascii() and not _TO_BE_CLEANED.search(text):
            return _ASCII_CHUNK.findall(text)
        [chunks] = self._tokenizer.cut(pl.Series([text], dtype=pl.String))
        return [] if chunks is None else list(chunks)

    def _learn(self, chunks: set[str]) -> None:
        new = sorted(chunk for chunk in chunks if chunk not in self._known)
        if not new:
            return
        if len(self._known) + len(new) > _MOST_REMEMBERED:
            # another dictionary, not an emptied one: other threads may be reading this one
            self._known = {}
            new = sorted(chunks)
        found: dict[str, list[int]] = {chunk: [] for chunk in new}
        column_of: Callable[[str], int | None] = self._columns.get
        resolved = self._tokenizer.resolve(pl.Series(new, dtype=pl.String))
        for chunk, stem in zip(resolved["chunk"].to_list(), resolved["stem"].to_list(), strict=True):
            if (column := column_of(stem)) is not None:
                found[new[chunk]].append(column)
        self._known = self._known | {chunk: tuple(columns) for chunk, columns in found.items()}
