"""Which words get a column: not too rare, not too frequent, the most frequent first."""

from __future__ import annotations

from math import ceil, floor
from typing import Literal, TypeAlias

import numpy as np
import numpy.typing as npt
import polars as pl

from kate.errors import quoted

__all__ = [
    "DocumentLimit",
    "frequent_first",
    "least_documents",
    "most_documents",
    "positions",
    "readable_forms",
]

DocumentLimit: TypeAlias = int | float | Literal["auto"]

# A word of one document tells nothing about another one, and topics of such words look perfectly coherent. In a small
# corpus they are most of what there is to know, and queries ask for them.
_FEW_DOCUMENTS = 500
_MANY_DOCUMENTS = 20_000


def least_documents(min_df: DocumentLimit, n_documents: int) -> int:
    """In how many documents a word must be; "auto" is 1 below 500 documents, 2 up to 20,000, then grows slowly.

    >>> [least_documents("auto", n) for n in (100, 1_000, 20_000, 100_000, 1_000_000)]
    [1, 2, 2, 3, 7]
    >>> least_documents(0.01, 1_000), least_documents(5, 1_000)
    (10, 5)
    """
    if isinstance(min_df, str) and min_df == "auto":
        if n_documents < _FEW_DOCUMENTS:
            return 1
        return max(2, round(2 * float(np.cbrt(n_documents / _MANY_DOCUMENTS))))
    if isinstance(min_df, float) and 0 <= min_df <= 1:
        # 0.07 * 100 is 7.000000000000001: a share that is whole must not be rounded up
        return max(1, ceil(round(min_df * n_documents, 9)))
    if isinstance(min_df, int | np.integer) and not isinstance(min_df, bool) and min_df >= 1:
        return int(min_df)
    raise ValueError(
        f"min_df is {quoted(min_df)}; give a number of documents (int from 1 on), a share (float, 0 to 1), or 'auto'"
    )


def most_documents(max_df: int | float, n_documents: int) -> int:
    """In how many documents a word may be.

    >>> most_documents(0.5, 1_000), most_documents(30, 1_000), most_documents(1.0, 1_000)
    (500, 30, 1000)
    """
    if isinstance(max_df, float) and 0 < max_df <= 1:
        return floor(round(max_df * n_documents, 9))
    if isinstance(max_df, int | np.integer) and not isinstance(max_df, bool) and max_df >= 1:
        return int(max_df)
    raise ValueError(
        f"max_df is {quoted(max_df)}; give a number of documents (int from 1 on) or a share (float, above 0, up to 1)"
    )


def frequent_first(
    stems: pl.Series, totals: npt.NDArray[np.int64], most: int | None, fewest: int = 1
) -> npt.NDArray[np.int64]:
    """The codes of the stems in the order of their columns, at most so many.

    A stem that occurs less often than ``fewest`` times cannot be in as many documents, and is left out.
    """
    codes = np.flatnonzero(totals >= fewest)
    if most is not None and most < len(codes):
        codes = np.flatnonzero(totals >= max(fewest, np.partition(totals, -most)[-most]))
    ranking = pl.DataFrame({"code": codes, "total": totals[codes], "stem": stems.gather(codes)})
    ranking = ranking.sort("total", "stem", descending=[True, False])
    return ranking["code"].head(len(codes) if most is None else min(most, len(codes))).to_numpy()


def positions(order: npt.NDArray[np.int64], n_codes: int) -> npt.NDArray[np.int32]:
    """The column of each code, -1 where it has none."""
    found = np.full(n_codes, -1, dtype=np.int32)
    found[order] = np.arange(len(order), dtype=np.int32)
    return found


def readable_forms(
    words: pl.Series, columns: npt.NDArray[np.int32], occurrences: npt.NDArray[np.int64]
) -> list[str]:
    """For each column the word that occurs most often in it."""
    return (
        pl.DataFrame({"column": columns, "word": words, "count": occurrences})
        .filter(pl.col("column") >= 0)
        .group_by("column", "word")
        .agg(pl.sum("count"))
        .sort("column", "count", "word", descending=[False, True, False])
        .unique("column", keep="first", maintain_order=True)["word"]
        .to_list()
    )
