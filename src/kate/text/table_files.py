"""Tables: rows, or a Parquet file, as a Polars table of text, id, label, title, place and the other fields.

``place`` is the id of last resort, unique by its making: the file and the line.
"""

from __future__ import annotations

import io
from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import chain

import polars as pl

from kate.text.fields import Fields, choose_fields
from kate.text.rows import Complaints, Row
from kate.text.sources import Source

__all__ = ["OWN_COLUMNS", "gather", "read_parquet"]

OWN_COLUMNS = ("text", "id", "label", "title", "place")

# Characters to hold as Python strings before they move into a Polars table.
_BATCH_SIZE = 8_000_000


def gather(rows: Iterable[Row], asked: Fields, shown: str, complaints: Complaints) -> Iterator[pl.DataFrame]:
    """Rows in batches of tables; the fields are chosen among those that occur in the first batch."""
    batches = _batches(rows)
    first = next(batches, None)
    if first is None:
        return
    present = list(dict.fromkeys(name for row in first for name in row.values))
    fields = choose_fields(present, asked, shown)
    others = _others(present, fields)
    for batch in chain([first], batches):
        kept = []
        for row in batch:
            if problem := _problem(row, fields, asked):
                complaints.add(row.place, problem)
            else:
                kept.append(row)
        yield _table(kept, fields, others)


def _batches(rows: Iterable[Row]) -> Iterator[list[Row]]:
    batch: list[Row] = []
    size = 0
    for row in rows:
        batch.append(row)
        size += sum(len(value) for value in row.values.values() if isinstance(value, str))
        if size > _BATCH_SIZE:
            yield batch
            batch, size = [], 0
    if batch:
        yield batch


def _others(present: Sequence[str], fields: Fields) -> list[str]:
    taken = {*OWN_COLUMNS, *fields.given.values()}
    return [name for name in present if name not in taken]


def _problem(row: Row, fields: Fields, asked: Fields) -> str | None:
    text = row.values.get(fields.text or "")
    if fields.text not in row.values:
        return f"no field {fields.text!r}; its fields are {', '.join(map(repr, row.values)) or 'none'}"
    if not isinstance(text, str):
        return f"the field {fields.text!r} holds {repr(text)[:40]}; expected a string"
    for role in asked.given:  # not of a guess: nested values of a field that nobody asked for are passed over
        value = row.values.get(fields.given[role])
        if not _is_scalar(value):
            return f"the field {fields.given[role]!r} holds {repr(value)[:40]}; expected one {role}"
    return None


def _is_scalar(value: object) -> bool:
    return value is None or isinstance(value, str | int | float)


def _table(rows: Sequence[Row], fields: Fields, others: Sequence[str]) -> pl.DataFrame:
    columns = {
        "text": pl.Series([row.values[fields.text or ""] for row in rows], dtype=pl.String),
        "place": pl.Series([row.id for row in rows], dtype=pl.String),
    }
    for role in ("id", "label", "title"):
        name = fields.given.get(role)
        values = [_string(row.values.get(name)) if name else None for row in rows]
        columns[role] = pl.Series(values, dtype=pl.String)
    for name in others:
        columns[name] = _series([row.values.get(name) for row in rows])
    return pl.DataFrame(columns)


def _string(value: object) -> str | None:
    """A label, id or title as a string; an empty one is none."""
    return str(value) or None if _is_scalar(value) and value is not None else None


def _series(values: Sequence[object]) -> pl.Series:
    """A column of its own type where the values share one, else strings; nested values left out."""
    scalars = [value if _is_scalar(value) else None for value in values]
    kinds = {type(value) for value in scalars} - {type(None)}
    if len(kinds) <= 1:
        try:
            return pl.Series(scalars)
        except OverflowError:  # an integer of more than 64 bits
            pass
    return pl.Series([None if value is None else str(value) for value in scalars], dtype=pl.String)


def read_parquet(source: Source, asked: Fields, complaints: Complaints) -> pl.DataFrame:
    """The table of a Parquet file, columns that hold nested values left out."""
    data = source.path if source.compression is None else _unpacked(source)
    try:
        schema = pl.read_parquet_schema(data)
        fields = choose_fields(list(schema), asked, source.shown)
        _require_strings(schema, fields, asked, source.shown)
        others = [name for name in _others(list(schema), fields) if _is_flat(schema[name])]
        table = pl.read_parquet(data, columns=[*fields.given.values(), *others])
    except pl.exceptions.PolarsError as error:
        reason = str(error).splitlines()[0]
        raise ValueError(
            f"{source.shown} is not a Parquet file or is damaged ({reason}); check it, or copy it again"
        ) from None
    columns = [pl.col(fields.text or "").cast(pl.String).alias("text")]
    for role in ("id", "label", "title"):
        name = fields.given.get(role)
        usable = name is not None and _is_flat(schema[name])
        column = pl.col(name or "").cast(pl.String).replace("", None) if usable else pl.lit(None, pl.String)
        columns.append(column.alias(role))
    numbers = pl.int_range(1, pl.len() + 1).cast(pl.String)
    place = pl.concat_str(pl.lit(f"{source.name}:"), numbers).alias("place")
    table = table.select(*columns, place, *others)
    for row in table["text"].is_null().arg_true():
        complaints.add(
            f"{source.shown}, row {row + 1}", f"the field {fields.text!r} is null; expected a string"
        )
    return table.filter(pl.col("text").is_not_null())


def _unpacked(source: Source) -> io.BytesIO:
    with source.open() as stream:
        return io.BytesIO(stream.read())


def _require_strings(schema: Mapping[str, pl.DataType], fields: Fields, asked: Fields, shown: str) -> None:
    kind = schema[fields.text or ""]
    if kind not in {pl.String, pl.Categorical, pl.Enum}:
        raise ValueError(
            f"{shown}: the field {fields.text!r} holds {kind}; expected strings: choose another (text=)"
        )
    for role, name in fields.given.items():
        if role in asked.given and not _is_flat(schema[name]):
            raise ValueError(f"{shown}: the field {name!r} holds {schema[name]}; expected one {role} a row")


def _is_flat(kind: pl.DataType) -> bool:
    return not kind.is_nested() and kind not in {pl.Binary, pl.Object}
