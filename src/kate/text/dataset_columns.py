"""A dataset of several files: the columns that all of them have, and those that the names of its folders add."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple
from urllib.parse import unquote

import polars as pl

from kate.errors import quoted
from kate.text.compressed_files import CorpusError

__all__ = ["DatasetColumns", "Partition", "partitions_of"]

# How Hive, Spark and their kin write that nothing is there.
_NULL = "__HIVE_DEFAULT_PARTITION__"


class Partition(NamedTuple):
    """A column whose value stands in the name of a folder, such as ``year=1999``."""

    name: str
    value: str | int | None
    kind: Any  # the type of Polars

    @property
    def column(self) -> pl.Expr:
        return pl.lit(self.value, self.kind).alias(self.name)


class DatasetColumns:
    """What is known of the columns of a dataset; the first file says what the others must have."""

    def __init__(self) -> None:
        self._first: tuple[str, dict[str, Any]] | None = None

    def require_same(self, shown: str, columns: Mapping[str, Any]) -> None:
        """Refuse a file with other columns, or with a column of another kind than the first file had.

        >>> dataset = DatasetColumns()
        >>> dataset.require_same("a.parquet", {"text": pl.String, "year": pl.Int64})
        >>> dataset.require_same("b.parquet", {"text": pl.String})  # doctest: +ELLIPSIS
        Traceback (most recent call last):
        ...
        kate.text.compressed_files.CorpusError: b.parquet has no column 'year', which a.parquet of the same ...
        """
        if self._first is None:
            self._first = shown, dict(columns)
            return
        first, known = self._first
        remedy = "write the files with the same columns, or name them one by one instead of the folder"
        for has, lacks, one, other in ((known, columns, first, shown), (columns, known, shown, first)):
            missing = next((name for name in has if name not in lacks), None)
            if missing is not None:
                raise CorpusError(
                    f"{other} has no column {quoted(missing)}, which {one} of the same dataset has; {remedy}"
                )
        for name, kind in columns.items():
            before = known[name]
            if not _go_together(before, kind):
                raise CorpusError(
                    f"{shown} has {kind} in the column {quoted(name)}, and {first} of the same dataset has {before}; "
                    f"{remedy}"
                )
            if before == pl.Null:
                known[name] = kind


def _go_together(one: Any, other: Any) -> bool:
    """Whether columns of two kinds can stand under each other without becoming strings."""
    strings = (pl.String, pl.Categorical, pl.Enum)
    if one == other or pl.Null in (one, other) or None in (one, other):
        return True
    return (one.is_numeric() and other.is_numeric()) or (one in strings and other in strings)


def partitions_of(paths: Sequence[Sequence[str]]) -> list[tuple[Partition, ...]]:
    """The partitions in the folders of some files; numbers where all values of a name are whole numbers.

    >>> partitions_of([["year=1999", "a.parquet"], ["year=2000", "b.parquet"]])[1]
    (Partition(name='year', value=2000, kind=Int64),)
    """
    found = [
        [
            (unquote(name), unquote(value))
            for name, sign, value in (part.partition("=") for part in path)
            if sign
        ]
        for path in (path[:-1] for path in paths)
    ]
    strange = {name for pairs in found for name, value in pairs if value != _NULL and not _is_whole(value)}
    made: list[tuple[Partition, ...]] = []
    for pairs in found:
        partitions = []
        for name, text in dict(pairs).items():
            is_number = name not in strange
            value = None if text == _NULL else int(text) if is_number else text
            partitions.append(Partition(name, value, pl.Int64 if is_number else pl.String))
        made.append(tuple(partitions))
    return made


def _is_whole(text: str) -> bool:
    digits = text.removeprefix("-")
    # 007 is a name, not a number
    return (
        digits.isdecimal() and digits.isascii() and len(digits) < 19 and (digits == "0" or digits[0] != "0")
    )
