"""Words that were seen and have no column: too rare so far, or not frequent enough. An update may let them in.

Their number is bounded. Where there are more, the rarest are forgotten, and counted from nothing if they come again.
"""

from __future__ import annotations

import io
from collections.abc import Iterable
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
import polars as pl
from numpy.typing import NDArray

__all__ = ["MOST_WAITING", "WaitingWords", "word_rows"]

MOST_WAITING = 50_000

Numbers = NDArray[np.int64]

_SCHEMA: Any = {"stem": pl.String, "word": pl.String, "documents": pl.Int64, "occurrences": pl.Int64}


def word_rows(
    stems: Iterable[str], words: Iterable[str], documents: Iterable[int], occurrences: Iterable[int]
) -> pl.DataFrame:
    """A table of words: stem, most frequent form, in how many documents, how often."""
    return pl.DataFrame([stems, words, documents, occurrences], schema=_SCHEMA)


@dataclass(frozen=True, eq=False)
class WaitingWords:
    """The words as the lines of a file, which are read when they are asked for: a model that answers needs none.

    >>> waiting = WaitingWords.of(word_rows(["coin", "gold"], ["coins", "gold"], [1, 2], [3, 2]))
    >>> waiting.lines
    b'coin\\tcoins\\t1\\t3\\ngold\\tgold\\t2\\t2\\n'
    >>> WaitingWords(waiting.lines).rows["stem"].to_list()
    ['coin', 'gold']
    """

    lines: bytes = b""

    @classmethod
    def of(cls, rows: pl.DataFrame) -> WaitingWords:
        """The most frequent of some words, as many as may wait."""
        return cls.ranked(rows)[0]

    @classmethod
    def ranked(cls, rows: pl.DataFrame) -> tuple[WaitingWords, Numbers]:
        """The same, and for each of them its row."""
        ranked = rows.with_row_index("row").sort("occurrences", "stem", descending=[True, False])
        ranked = ranked.head(MOST_WAITING)
        lines = ranked.drop("row").write_csv(separator="\t", include_header=False, quote_style="never")
        return cls(lines.encode()), ranked["row"].to_numpy().astype(np.int64)

    @cached_property
    def rows(self) -> pl.DataFrame:
        """The words as a table, see :func:`word_rows`."""
        if not self.lines:
            return pl.DataFrame(schema=_SCHEMA)
        try:
            found = pl.read_csv(
                io.BytesIO(self.lines), separator="\t", has_header=False, schema=_SCHEMA, quote_char=None
            )
        except pl.exceptions.PolarsError as error:
            raise ValueError(f"the words that wait for a column cannot be read: {error}") from None
        if found.null_count().sum_horizontal().item():
            raise ValueError(
                "the words that wait for a column cannot be read: a line does not hold four fields"
            )
        return found

    @property
    def stems(self) -> list[str]:
        return self.rows["stem"].to_list()

    def __len__(self) -> int:
        return self.lines.count(b"\n")
