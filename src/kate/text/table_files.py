"""Tables → one file: CSV, Parquet or JSON lines; a table at a time."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Iterator, Mapping
from itertools import chain
from pathlib import Path
from typing import Any

import polars as pl
from polars.io.plugins import register_io_source

__all__ = ["TABLE_SUFFIXES", "write_arrow", "write_table", "write_tables"]

# The writer holds some groups of rows.
_ROWS_OF_A_GROUP = 50_000
TABLE_SUFFIXES = (".csv", ".parquet", ".jsonl")


def write_table(frame: pl.DataFrame, path: Path) -> None:
    """By the suffix of the path; in CSV, lists and objects are JSON."""
    suffix = path.suffix.lower()
    if suffix == ".parquet":
        frame.write_parquet(path)
    elif suffix == ".jsonl":
        frame.with_columns(map(_as_text, frame)).write_ndjson(path)
    else:
        frame.with_columns(map(_in_csv, map(_as_text, frame))).write_csv(path)


def write_tables(tables: Iterable[pl.DataFrame], path: Path, most_rows: int) -> None:
    """The same of tables with one set of columns, which need not be in memory together.

    most_rows : of any of them; so many are a group of rows of Parquet

    >>> import tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     path = Path(folder, "numbers.csv")
    ...     write_tables((pl.DataFrame({"n": [number]}) for number in (1, 2)), path, 1)
    ...     path.read_text()
    'n\\n1\\n2\\n'
    """
    suffix = path.suffix.lower()
    if suffix == ".parquet":
        _sink(
            tables,
            lambda lazy: lazy.sink_parquet(path, row_group_size=min(max(1, most_rows), _ROWS_OF_A_GROUP)),
        )
        return
    with path.open("wb") as file:
        for number, table in enumerate(tables):
            if suffix == ".jsonl":
                table.with_columns(map(_as_text, table)).write_ndjson(file)
            else:
                plain = table.with_columns(map(_in_csv, map(_as_text, table)))
                plain.write_csv(file, include_header=number == 0)


def write_arrow(tables: Iterable[pl.DataFrame], path: Path) -> None:
    """Tables with one set of columns as one file of Arrow, uncompressed: it is read in a moment."""
    _sink(tables, lambda lazy: lazy.sink_ipc(path, compression="uncompressed"))


def _sink(tables: Iterable[pl.DataFrame], sink: Callable[[pl.LazyFrame], Any]) -> None:
    """Let Polars draw the tables one after the other."""
    remaining = iter(tables)
    first = next(remaining)
    drawn = chain([first], remaining)
    failed: list[BaseException] = []

    def source(
        with_columns: list[str] | None, predicate: pl.Expr | None, n_rows: int | None, batch_size: int | None
    ) -> Iterator[pl.DataFrame]:
        try:
            for table in drawn:
                yield table if with_columns is None else table.select(with_columns)
        except BaseException as error:
            failed.append(error)
            raise

    schema: Mapping[str, pl.DataType] = first.schema
    try:
        sink(register_io_source(source, schema=pl.Schema(schema)))
    except pl.exceptions.PolarsError:
        # an error of ours, which Polars has wrapped
        if failed:
            raise failed[0] from None
        raise


def _in_csv(column: pl.Series) -> pl.Series:
    if not column.dtype.is_nested():
        return column
    return pl.Series(column.name, map(_as_json, column.to_list()), dtype=pl.String)


def _as_text(column: pl.Series) -> pl.Series:
    """What has no form in text files: bytes become hexadecimal digits, lengths of time "P2D"."""
    if column.dtype == pl.Binary:
        return column.bin.encode("hex")
    return column.dt.to_string("iso") if column.dtype == pl.Duration else column


def _as_json(value: Any) -> str | None:
    return None if value is None else json.dumps(value, ensure_ascii=False, default=str)
