"""Rows, or a Parquet file → a Polars table with the columns text, id, label, title, PLACE and the other fields.

PLACE is the file and the line: the id of a document that has none of its own. Behind these stand the columns as the
file has them, with SOURCE before their names; the text is not there twice, an empty column TEXT marks its place.
"""

from __future__ import annotations

import io
import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import chain

import polars as pl

from kate.text.fields import Fields, choose_fields
from kate.text.file_rows import MalformedRows, Row
from kate.text.input_files import Source

__all__ = ["OWN_COLUMNS", "PLACE", "SOURCE", "TEXT", "join_tables", "read_parquet", "tables_of_rows"]

# not a name that a field of a user may have
PLACE = "kate:place"
OWN_COLUMNS = ("text", "id", "label", "title", PLACE)
SOURCE, TEXT = "kate:source:", "kate:text:"

# Characters kept as Python strings before they become a Polars table.
_BATCH_SIZE = 8_000_000


def tables_of_rows(
    rows: Iterable[Row], asked: Fields, shown: str, malformed: MalformedRows, keep_nested: bool = False
) -> Iterator[pl.DataFrame]:
    """Tables of some thousand rows; the fields are chosen among those of the first table's rows."""
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
    # nested values of a field that was only guessed are left out without an error
    for role in asked.given:
        value = row.values.get(fields.given[role])
        if not _is_scalar(value):
            return f"the field {fields.given[role]!r} holds {repr(value)[:40]}; expected one {role}"
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
    return _strings(values)


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
    return _strings(scalars)


def _strings(values: Iterable[object]) -> pl.Series:
    listed = values.to_list() if isinstance(values, pl.Series) else values
    return pl.Series(map(_as_text, listed), dtype=pl.String)


def _as_text(value: object) -> str | None:
    if isinstance(value, list | dict):
        return json.dumps(value, ensure_ascii=False, default=str)
    return None if value is None else str(value)


def join_tables(tables: Sequence[pl.DataFrame]) -> pl.DataFrame:
    """One table of several; a field with different types in them becomes strings, unless all are numbers.

    >>> join_tables([pl.DataFrame({"n": [1]}), pl.DataFrame({"n": [True]})])["n"].to_list()
    ['1', 'True']
    """
    kinds: dict[str, set[pl.DataType]] = {}
    for table in tables:
        for name, kind in table.schema.items():
            kinds.setdefault(name, set()).add(kind)
    mixed = {
        name
        for name, of_name in kinds.items()
        if len(of_name - {pl.Null()}) > 1
        and not all(kind.is_numeric() or kind == pl.Null for kind in of_name)
    }
    return pl.concat(
        [
            table.with_columns(_strings(table[name]).alias(name) for name in table.columns if name in mixed)
            for table in tables
        ],
        how="diagonal_relaxed",
    )


def read_parquet(
    source: Source, asked: Fields, malformed: MalformedRows, keep_nested: bool = False
) -> pl.DataFrame:
    """The table of a Parquet file; columns of nested values are read only if they are asked for."""
    data = source.path if source.compression is None else _unpacked(source)
    try:
        schema = pl.read_parquet_schema(data)
        fields = choose_fields(list(schema), asked, source.shown)
        _require_strings(schema, fields, asked, source.shown)
        others = [name for name in _others(list(schema), fields) if _is_flat(schema[name])]
        wanted = [
            name
            for name, kind in schema.items()
            if _is_flat(kind) or keep_nested or name in fields.given.values()
        ]
        table = pl.read_parquet(data, columns=wanted)
    except pl.exceptions.PolarsError as error:
        reason = str(error).splitlines()[0]
        raise ValueError(
            f"{source.shown} is not a Parquet file or is damaged ({reason}); check it, or copy it again"
        ) from None
    columns = [pl.col(fields.text or "").cast(pl.String).alias("text")]
    for role in ("id", "label", "title"):
        name = fields.given.get(role)
        usable = name is not None and _has_names(schema[name])
        column = pl.col(name or "").cast(pl.String).replace("", None) if usable else pl.lit(None, pl.String)
        columns.append(column.alias(role))
    numbers = pl.int_range(1, pl.len() + 1).cast(pl.String)
    place = pl.concat_str(pl.lit(f"{source.name}:"), numbers).alias(PLACE)
    as_given = [
        pl.lit(None, pl.Null).alias(f"{TEXT}{name}")
        if name == fields.text
        else pl.col(name).alias(f"{SOURCE}{name}")
        for name in wanted
    ]
    table = table.select(*columns, place, *others, *as_given)
    for row in table["text"].is_null().arg_true():
        malformed.add(
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
        if role in asked.given and not _has_names(schema[name]):
            raise ValueError(f"{shown}: the field {name!r} holds {schema[name]}; expected one {role} per row")


def _has_names(kind: pl.DataType) -> bool:
    """Whether a column can be read as ids, labels or titles; Polars makes no strings of durations."""
    return _is_flat(kind) and kind != pl.Duration


def _is_flat(kind: pl.DataType) -> bool:
    return not kind.is_nested() and kind not in {pl.Binary, pl.Object}
