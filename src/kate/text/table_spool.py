"""Tables that wait on disk until the columns of all of them are known."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import polars as pl

from kate.text.table_columns import ColumnKinds

__all__ = ["TableSpool"]


class TableSpool:
    """Tables in a folder of their own, which belongs to who made it; they are given back with the same columns.

    >>> import tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     spool = TableSpool(Path(folder))
    ...     spool.add(pl.DataFrame({"n": [1]}))
    ...     spool.add(pl.DataFrame({"n": [2.5], "late": ["x"]}))
    ...     [table.rows() for table in spool.tables()]
    [[(1.0, None)], [(2.5, 'x')]]
    """

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._kinds = ColumnKinds()
        self._with_values: set[str] = set()
        self.n_tables = 0
        self.n_rows = 0
        self.most_rows = 0

    def add(self, table: pl.DataFrame) -> None:
        """Put a table behind those before."""
        self._kinds.note(table)
        table.write_ipc(self._part(self.n_tables))
        self._with_values |= {one.name for one in table if one.null_count() < len(one)}
        self.n_tables += 1
        self.n_rows += len(table)
        self.most_rows = max(self.most_rows, len(table))

    @property
    def schema(self) -> dict[str, pl.DataType]:
        """The columns of all tables so far."""
        return self._kinds.schema

    def has_values(self, name: str) -> bool:
        """Whether a column is not null everywhere."""
        return name in self._with_values

    def tables(self) -> Iterator[pl.DataFrame]:
        """The tables in their order, each with all columns."""
        schema = self.schema
        for number in range(self.n_tables):
            yield self._kinds.align(pl.read_ipc(self._part(number)), schema)

    def _part(self, number: int) -> Path:
        return self._folder / f"{number:06d}.arrow"
