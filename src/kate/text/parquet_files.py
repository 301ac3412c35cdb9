"""A Parquet file → tables of documents, some thousand rows at a time."""

from __future__ import annotations

import shutil
import tempfile
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import polars as pl

from kate.errors import quoted
from kate.text.compressed_files import COMPRESSED, CorpusError
from kate.text.document_tables import PLACE, SOURCE, TEXT, other_columns
from kate.text.fields import Fields, choose_fields
from kate.text.file_rows import MalformedRows
from kate.text.input_files import Source

__all__ = ["parquet_tables"]

# Rows that are read first, to see how large they are; bytes that are read at once, and the rows that these may be.
_FIRST_ROWS = 4_096
_BYTES_AT_ONCE = 1 << 25
_FEWEST_ROWS, _MOST_ROWS = 2_048, 65_536


def parquet_tables(
    source: Source, asked: Fields, malformed: MalformedRows, keep_nested: bool = False
) -> Iterator[pl.DataFrame]:
    """The tables of a Parquet file; columns of nested values are read only if they are asked for."""
    with _plain_file(source) as path:
        try:
            own = pl.read_parquet_schema(path)
            if source.dataset is not None:
                source.dataset.require_same(source.shown, own)
            # a column of the file goes before what its folder says
            partitions = [part for part in source.partitions if part.name not in own]
            schema = dict(own) | {part.name: part.kind for part in partitions}
            fields = choose_fields(list(schema), asked, source.shown)
            _require_strings(schema, fields, asked, source.shown)
            wanted = [
                name
                for name, kind in schema.items()
                if _is_flat(kind) or keep_nested or name in fields.given.values()
            ]
            n_read = 0 if source.rows is None else source.rows[0]
            for part in _parts(path, [name for name in wanted if name in own], source):
                rows = part.with_columns(partition.column for partition in partitions)
                yield _table(rows, schema, fields, source, malformed, n_read, wanted)
                n_read += len(part)
        except (
            pl.exceptions.PolarsError,
            pl.exceptions.PanicException,
        ) as error:  # Polars panics at odd schemas
            reason = " ".join(str(error).split("\n", 1)[0].split())[:200]
            raise CorpusError(
                f"{source.shown} is not a Parquet file or is damaged ({reason}); check it, or copy it again"
            ) from None


@contextmanager
def _plain_file(source: Source) -> Iterator[Path]:
    """The file on this machine and decompressed: Parquet is read from its end."""
    file = source.given_file
    if file.path.suffix.lower() not in COMPRESSED:
        with file.local() as path:
            yield path
        return
    with tempfile.NamedTemporaryFile(prefix="kate-", suffix=".parquet") as copy:
        with source.open() as stream:
            shutil.copyfileobj(stream, copy, 1 << 20)
        copy.flush()
        yield Path(copy.name)


def _parts(path: Path, columns: list[str], source: Source) -> Iterator[pl.DataFrame]:
    """The rows of a file, about so many bytes at a time; slices make Polars read no more than it needs."""
    scanned = pl.scan_parquet(path, glob=False, hive_partitioning=False).select(columns)
    n_rows = int(scanned.select(pl.len()).collect().item())
    first, end = (0, n_rows) if source.rows is None else (source.rows[0], sum(source.rows))
    # what is packed was counted when it was unpacked
    meter = None if source.given_file.path.suffix.lower() in COMPRESSED else source.meter
    size = source.given_file.size or 0
    count = _FIRST_ROWS
    while first < end:
        part = scanned.slice(first, min(count, end - first)).collect(engine="streaming")
        if meter is not None:
            meter.add(size * (first + len(part)) // n_rows - size * first // n_rows)
        first += len(part)
        bytes_per_row = max(1, int(part.estimated_size()) // max(1, len(part)))
        count = min(max(_BYTES_AT_ONCE // bytes_per_row, _FEWEST_ROWS), _MOST_ROWS)
        yield part


def _table(
    rows: pl.DataFrame,
    schema: Mapping[str, Any],
    fields: Fields,
    source: Source,
    malformed: MalformedRows,
    n_before: int,
    wanted: list[str],
) -> pl.DataFrame:
    columns = [pl.col(fields.text or "").cast(pl.String).alias("text")]
    for role in ("id", "label", "title"):
        name = fields.given.get(role)
        usable = name is not None and _has_names(schema[name])
        column = pl.col(name or "").cast(pl.String).replace("", None) if usable else pl.lit(None, pl.String)
        columns.append(column.alias(role))
    numbers = pl.int_range(n_before + 1, n_before + pl.len() + 1).cast(pl.String)
    place = pl.concat_str(pl.lit(f"{source.name}:"), numbers).alias(PLACE)
    others = [name for name in other_columns(list(schema), fields) if _is_flat(schema[name])]
    as_given = [
        pl.lit(None, pl.Null).alias(f"{TEXT}{name}")
        if name == fields.text
        else pl.col(name).alias(f"{SOURCE}{name}")
        for name in wanted
    ]
    table = rows.select(*columns, place, *others, *as_given)
    for row in table["text"].is_null().arg_true():
        malformed.add(
            f"{source.shown}, row {n_before + row + 1}",
            f"the field {quoted(fields.text)} is null; expected a string",
        )
    return table.filter(pl.col("text").is_not_null())


def _require_strings(schema: Mapping[str, pl.DataType], fields: Fields, asked: Fields, shown: str) -> None:
    kind = schema[fields.text or ""]
    if kind not in {pl.String, pl.Categorical, pl.Enum}:
        raise CorpusError(
            f"{shown}: the field {quoted(fields.text)} holds {kind}; expected strings: choose another (text=)"
        )
    for role, name in fields.given.items():
        if role in asked.given and not _has_names(schema[name]):
            raise CorpusError(
                f"{shown}: the field {quoted(name)} holds {schema[name]}; expected one {role} per row"
            )


def _has_names(kind: pl.DataType) -> bool:
    """Whether a column can be read as ids, labels or titles; Polars makes no strings of durations."""
    return _is_flat(kind) and kind != pl.Duration


def _is_flat(kind: pl.DataType) -> bool:
    return not kind.is_nested() and kind not in {pl.Binary, pl.Object}
