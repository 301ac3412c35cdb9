"""Rows → Polars tables with the columns text, id, label, title, PLACE and the other fields.

PLACE is the file and the line: the id of a document that has none of its own. Behind these stand the columns as the
file has them, with SOURCE before their names; the text is not there twice, an empty column TEXT marks its place.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from itertools import chain

import polars as pl

from kate.errors import quoted
from kate.text.dataset_columns import DatasetColumns
from kate.text.fields import Fields, choose_fields, listed
from kate.text.file_rows import MalformedRows, Row
from kate.text.table_columns import as_strings

__all__ = ["PLACE", "READ_COLUMNS", "SOURCE", "TEXT", "other_columns", "tables_of_rows"]

# not a name that a field of a user may have
PLACE = "kate:place"
READ_COLUMNS = ("text", "id", "label", "title", PLACE)
SOURCE, TEXT = "kate:source:", "kate:text:"

# Characters, and rows, kept as Python objects before they become a Polars table.
_BATCH_SIZE = 8_000_000
_ROWS_AT_ONCE = 50_000


def tables_of_rows(
    rows: Iterable[Row],
    asked: Fields,
    shown: str,
    malformed: MalformedRows,
    keep_nested: bool = False,
    dataset: DatasetColumns | None = None,
) -> Iterator[pl.DataFrame]:
    """Tables of some thousand rows; the fields are chosen among those of the first table's rows."""
    batches = _batches(rows)
    first = next(batches, None)
    if first is None:
        return
    present = list(dict.fromkeys(name for row in first for name in row.values))
    if dataset is not None:
        dataset.require_same(shown, dict.fromkeys(present))
    fields = choose_fields(present, asked, shown)
    others = other_columns(present, fields)
    for batch in chain([first], batches):
        kept = []
        for row in batch:
            if problem := _problem(row, fields, asked):
                malformed.add(row.place, problem)
            else:
                kept.append(row)
        yield _table(kept, fields, others).with_columns(_source_columns(kept, fields, keep_nested))


def _batches(rows: Iterable[Row]) -> Iterator[list[Row]]:
    batch: list[Row] = []
    size = 0
    for row in rows:
        batch.append(row)
        size += sum(len(value) for value in row.values.values() if isinstance(value, str))
        if size > _BATCH_SIZE or len(batch) == _ROWS_AT_ONCE:
            yield batch
            batch, size = [], 0
    if batch:
        yield batch


def other_columns(present: Sequence[str], fields: Fields) -> list[str]:
    """The columns that are none of the four fields."""
    taken = {*READ_COLUMNS, *fields.given.values()}
    return [name for name in present if name not in taken]


def _problem(row: Row, fields: Fields, asked: Fields) -> str | None:
    text = row.values.get(fields.text or "")
    if fields.text not in row.values:
        return f"no field {quoted(fields.text)}; its fields are {listed(list(row.values))}"
    if not isinstance(text, str):
        return f"the field {quoted(fields.text)} holds {quoted(text, 40)}; expected a string"
    # nested values of a field that was only guessed are left out without an error
    for role in asked.given:
        value = row.values.get(fields.given[role])
        if not _is_scalar(value):
            return f"the field {quoted(fields.given[role])} holds {quoted(value, 40)}; expected one {role}"
    return None


def _is_scalar(value: object) -> bool:
    return value is None or isinstance(value, str | int | float)


def _table(rows: Sequence[Row], fields: Fields, others: Sequence[str]) -> pl.DataFrame:
    columns = {
        "text": pl.Series([row.values[fields.text or ""] for row in rows], dtype=pl.String),
        PLACE: pl.Series([row.id for row in rows], dtype=pl.String),
    }
    for role in ("id", "label", "title"):
        name = fields.given.get(role)
        values = [_string(row.values.get(name)) if name else None for row in rows]
        columns[role] = pl.Series(values, dtype=pl.String)
    for name in others:
        columns[name] = _series([row.values.get(name) for row in rows])
    return pl.DataFrame(columns)


def _source_columns(rows: Sequence[Row], fields: Fields, keep_nested: bool) -> list[pl.Series]:
    """The columns as the file has them: those of these rows, for a field may come late."""
    columns = []
    for name in dict.fromkeys(name for row in rows for name in row.values):
        values = [row.values.get(name) for row in rows]
        if name == fields.text:
            columns.append(pl.Series(f"{TEXT}{name}", [None] * len(rows), dtype=pl.Null))
        elif all(map(_is_scalar, values)):
            columns.append(_series(values).alias(f"{SOURCE}{name}"))
        elif keep_nested:
            columns.append(_nested(values).alias(f"{SOURCE}{name}"))
    return columns


def _nested(values: Sequence[object]) -> pl.Series:
    """Lists and objects as they are, if they are of one kind, or else as JSON."""
    try:
        column = pl.Series(values)
        if column.dtype != pl.Object and column.to_list() == values:
            return column
    except (TypeError, ValueError, OverflowError, pl.exceptions.PolarsError):
        pass
    return as_strings(values)


def _string(value: object) -> str | None:
    """A label, id or title as a string; None if it is empty or nested."""
    return str(value) or None if _is_scalar(value) and value is not None else None


def _series(values: Sequence[object]) -> pl.Series:
    """A column of the type that all values share, or else of strings; nested values are left out."""
    scalars = [value if _is_scalar(value) else None for value in values]
    kinds = {type(value) for value in scalars} - {type(None)}
    if len(kinds) <= 1 or kinds == {int, float}:
        try:
            return pl.Series(scalars, dtype=pl.Float64 if len(kinds) > 1 else None)
        # an integer of more than 64 bits
        except OverflowError:
            pass
    return as_strings(scalars)
