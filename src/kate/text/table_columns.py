"""Tables that shall stand under each other: the columns of all of them, each of one type."""

from __future__ import annotations

import json
from collections.abc import Iterable, Sequence

import polars as pl

__all__ = ["ColumnKinds", "as_strings", "join_tables"]


class ColumnKinds:
    """The columns of several tables and the types that they have there.

    A column with different types becomes strings, unless all are numbers.
    """

    def __init__(self) -> None:
        self._kinds: dict[str, dict[pl.DataType, None]] = {}

    def note(self, table: pl.DataFrame) -> None:
        """Another table that shall stand under those before."""
        for name, kind in table.schema.items():
            self._kinds.setdefault(name, {})[kind] = None

    @property
    def schema(self) -> dict[str, pl.DataType]:
        """The columns of all tables, in the order in which they came first."""
        return {name: self._one_kind(list(kinds)) for name, kinds in self._kinds.items()}

    def align(self, table: pl.DataFrame, schema: dict[str, pl.DataType] | None = None) -> pl.DataFrame:
        """One of the tables with all columns; those that it does not have are null.

        >>> kinds, tables = ColumnKinds(), [pl.DataFrame({"n": [1]}), pl.DataFrame({"n": [True], "m": ["x"]})]
        >>> for table in tables:
        ...     kinds.note(table)
        >>> [kinds.align(table).rows() for table in tables]
        [[('1', None)], [('True', 'x')]]
        """
        columns = []
        for name, kind in (schema or self.schema).items():
            if name not in table.columns:
                columns.append(pl.Series(name, [None], dtype=kind).new_from_index(0, len(table)))
                continue
            column = table[name]
            if self._is_mixed(list(self._kinds[name])):
                column = as_strings(column).alias(name)
            columns.append(column if column.dtype == kind else column.cast(kind))
        return pl.DataFrame(columns)

    def _one_kind(self, kinds: Sequence[pl.DataType]) -> pl.DataType:
        if self._is_mixed(kinds):
            return pl.String()
        empty = [pl.DataFrame({"": pl.Series([], dtype=kind)}) for kind in kinds]
        return pl.concat(empty, how="vertical_relaxed").schema[""]

    @staticmethod
    def _is_mixed(kinds: Sequence[pl.DataType]) -> bool:
        known = [kind for kind in kinds if kind != pl.Null]
        return len(known) > 1 and not all(kind.is_numeric() for kind in known)


def join_tables(tables: Sequence[pl.DataFrame]) -> pl.DataFrame:
    """One table of several; a field with different types in them becomes strings, unless all are numbers.

    >>> join_tables([pl.DataFrame({"n": [1]}), pl.DataFrame({"n": [True]})])["n"].to_list()
    ['1', 'True']
    """
    kinds = ColumnKinds()
    for table in tables:
        kinds.note(table)
    schema = kinds.schema
    return pl.concat([kinds.align(table, schema) for table in tables])


def as_strings(values: Iterable[object]) -> pl.Series:
    """Values of any kind as strings; lists and objects are JSON."""
    listed = values.to_list() if isinstance(values, pl.Series) else values
    return pl.Series(map(_as_text, listed), dtype=pl.String)


def _as_text(value: object) -> str | None:
    if isinstance(value, list | dict):
        return json.dumps(value, ensure_ascii=False, default=str)
    return None if value is None else str(value)
