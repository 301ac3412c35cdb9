"""The table of the store of lance: its columns and its indexes."""

from __future__ import annotations

import os
import re
import stat
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
from numpy.typing import NDArray

from kate.errors import quoted
from kate.extras import install_command
from kate.search.files_store import FilesStore
from kate.search.index_folder import TABLES, all_texts
from kate.search.search_words import WordSequences
from kate.storage.folders import FolderError

__all__ = [
    "TEXT_COLUMN",
    "VECTOR_COLUMN",
    "WORDS_COLUMN",
    "aligned",
    "answer_of",
    "cannot_read",
    "create_indexes",
    "holds",
    "is_in",
    "match_query",
    "open_table",
    "places_of",
    "require_lancedb",
    "rows_table",
    "stored_names",
    "write_lance_table",
    "write_rows",
]

TEXT_COLUMN, WORDS_COLUMN, VECTOR_COLUMN = "kate_text", "kate_words", "kate_vector"
_PLAIN = re.compile(r"[A-Za-z]\w*")
# Fewer vectors need no index, and are too few to train one.
_VECTORS_FOR_ANN = 5_000
_DOCUMENTS_AT_ONCE = 50_000
# A file of so many bytes takes a share of them on any disk, one that compresses too.
_LARGE, _MOST_SHRUNK = 1 << 30, 200


def require_lancedb() -> Any:
    """The package lancedb; ImportError if the extra is missing."""
    # it would warn about a later release of its own
    os.environ.setdefault("LANCE_INCLUDE_VECTOR_CENTROIDS", "false")
    try:
        import lancedb
    except ImportError as error:
        raise ImportError(f"the store lance needs the package lancedb: {install_command('lance')}") from error
    return lancedb


def open_table(folder: Path) -> Any:
    """The table that was written into a folder."""
    lancedb = require_lancedb()
    _require_plain_files(folder)
    try:
        return lancedb.connect(str(folder)).open_table("documents")
    except (RuntimeError, ValueError, OSError) as error:
        reason = str(error).splitlines()[0][:200]
        raise FolderError(
            f"{folder} holds no table that LanceDB can read ({reason}): it is damaged; copy the index again"
        ) from None


def cannot_read(error: Exception) -> FolderError:
    """What LanceDB says of files that it cannot read, in our words."""
    reason = str(error).splitlines()[0][:200]
    return FolderError(
        f"LanceDB cannot read the index ({reason}): it was replaced, or is damaged; open it again"
    )


def answer_of(query: Any) -> Any:
    """What LanceDB finds, as a table of Arrow; a damaged file may make it panic, which is no error of its own."""
    try:
        return query.to_arrow()
    except Exception as error:
        if type(error).__name__ != "RustPanic":  # it has no name that could be imported
            raise
        raise FolderError(
            "LanceDB came to no end over a file of the table: it is damaged; copy the index again"
        ) from None


def places_of(rows: NDArray[np.int64], found: Sequence[int]) -> list[int]:
    """Where each row stands among those that were found; a damaged index names rows that the table does not have."""
    place = {row: number for number, row in enumerate(found)}
    if unknown := set(rows.tolist()) - set(place):
        raise FolderError(
            f"the index names row {min(unknown)}, which is not there: it is damaged; index anew"
        )
    return [place[row] for row in rows.tolist()]


def _require_plain_files(folder: Path) -> None:
    """Refuse pipes, devices and links, which LanceDB would wait for or follow anywhere, and giants that are a hole.

    LanceDB asks for as much memory as some files have bytes, and ends the process where there is not so much.
    """
    for place, folders, names in os.walk(folder):
        for name in (*folders, *names):
            found = Path(place, name).lstat()
            is_plain = stat.S_ISREG(found.st_mode) or stat.S_ISDIR(found.st_mode)
            on_disk = 512 * getattr(found, "st_blocks", found.st_size)  # Windows does not tell
            if not is_plain or (found.st_size > _LARGE and on_disk < found.st_size // _MOST_SHRUNK):
                what = "mostly a hole" if is_plain else "not a plain file"
                raise FolderError(f"{Path(place, name)} is {what}: the index is damaged; copy it again")


def stored_names(columns: Sequence[str]) -> dict[str, str]:
    """The name in the table for each column: the same, unless LanceDB cannot have it.

    >>> stored_names(["id", "year", "a.b", "kate_text"])
    {'id': 'id', 'year': 'year', 'a.b': 'column_2', 'kate_text': 'column_3'}
    """
    names: dict[str, str] = {}
    taken = {TEXT_COLUMN, WORDS_COLUMN, VECTOR_COLUMN}  # in lower case: a and A would be one column
    for number, name in enumerate(columns):
        is_plain = _PLAIN.fullmatch(name) and name.lower() not in taken
        names[name] = name if is_plain else f"column_{number}"
        taken.add(names[name].lower())
    return names


def write_lance_table(part: Path, store: FilesStore, *, ann: bool = False) -> dict[str, Any]:
    """Write the table of an index with the documents of another store; what index.json says about it."""
    texts = store.texts if isinstance(store.texts, pl.Series) else all_texts(store.texts)
    words = WordSequences(store.postings.sequences(), store.words["stem"], store.words["readable"])
    lines = words.lines()

    def batches() -> Iterator[tuple[pl.DataFrame, pl.Series, list[str], NDArray[np.float32]]]:
        for start in range(0, len(store), _DOCUMENTS_AT_ONCE):
            some = slice(start, min(start + _DOCUMENTS_AT_ONCE, len(store)))
            count = some.stop - some.start
            yield (
                store.frame[some],
                texts.slice(start, count),
                [next(lines) for _ in range(count)],
                np.asarray(store.vectors[some], np.float32),
            )

    return write_rows(part, batches(), ann=ann)


def write_rows(
    part: Path,
    batches: Iterable[tuple[pl.DataFrame, pl.Series, Sequence[str], NDArray[np.float32]]],
    *,
    ann: bool = False,
) -> dict[str, Any]:
    """Write the table of an index from batches of columns, texts, stems and vectors; what index.json says about it."""
    lancedb = require_lancedb()
    table: Any = None
    stored: dict[str, str] = {}
    for frame, texts, words, vectors in batches:
        stored = stored_names(frame.columns)
        rows = rows_table(frame.rename(stored), texts, words, vectors)
        if table is None:
            table = lancedb.connect(str(part / TABLES)).create_table("documents", data=rows)
        else:
            table.add(rows)
    create_indexes(table, ann=ann)
    return {"columns": stored, "ann": ann}


def rows_table(
    frame: pl.DataFrame, texts: pl.Series, words: Sequence[str], vectors: NDArray[np.float32]
) -> Any:
    """Documents as a table of Arrow: their columns, text, stems and vector."""
    import pyarrow as pa

    table = frame.to_arrow(compat_level=pl.CompatLevel.oldest())
    # the index of ids takes no large strings
    small = [
        field.with_type(pa.string()) if pa.types.is_large_string(field.type) else field
        for field in table.schema
    ]
    table = table.cast(pa.schema(small))
    flat = pa.array(np.ascontiguousarray(vectors).ravel())
    return (
        table.append_column(TEXT_COLUMN, pa.array(texts.to_list(), pa.large_string()))
        .append_column(WORDS_COLUMN, pa.array(words, pa.large_string()))
        .append_column(VECTOR_COLUMN, pa.FixedSizeListArray.from_arrays(flat, vectors.shape[1]))
    )


def aligned(frame: pl.DataFrame, columns: Mapping[str, pl.DataType]) -> pl.DataFrame:
    """A table with exactly these columns and types; what it does not have is null."""
    made = []
    for name, kind in columns.items():
        if name not in frame.columns:
            made.append(pl.lit(None, kind).alias(name))
            continue
        try:
            made.append(pl.lit(frame[name].cast(kind)).alias(name))
        except pl.exceptions.PolarsError as error:
            raise ValueError(
                f"the column {quoted(name)} of the index holds {kind}, and the new documents have other values "
                f"({str(error).splitlines()[0][:100]})"
            ) from None
    return frame.select(made)


def match_query(words: str, **options: Any) -> Any:
    """A query for words, of which one must occur."""
    from lancedb import query

    make: Any = query.MatchQuery  # its stubs ask for every argument
    return make(words, WORDS_COLUMN, **options)


def create_indexes(table: Any, *, ann: bool) -> None:
    """The indexes of words, of ids and, if it is asked for, of vectors."""
    from lancedb.index import FTS, BTree, HnswSq

    words = FTS(
        with_position=True,
        base_tokenizer="whitespace",
        stem=False,
        remove_stop_words=False,
        ascii_folding=False,
        lower_case=False,
        max_token_length=None,
    )
    table.create_index(WORDS_COLUMN, config=words)
    table.create_index("id", config=BTree())
    if ann and table.count_rows() >= _VECTORS_FOR_ANN:
        table.create_index(VECTOR_COLUMN, config=HnswSq(distance_type="dot"))


def holds(stems: Sequence[str]) -> str:
    """The condition that stems stand side by side."""
    phrase = " ".join(stem.replace(" ", "␣") for stem in stems)
    return f"contains(concat(' ', {WORDS_COLUMN}, ' '), {_text(f' {phrase} ')})"


def is_in(column: str, values: Sequence[str]) -> str:
    """The condition that a column has one of some values."""
    return f"{column} in ({', '.join(map(_text, values))})"


def _text(value: str) -> str:
    return "'" + value.replace("'", "''") + "'"
