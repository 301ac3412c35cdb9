"""The store of lance: a table of LanceDB (extra ``lance``) whose documents are added, replaced and removed.

One program writes at a time; whoever has the index open goes on reading the version that he opened. Words are found by
LanceDB's own index over the stems that Kate makes, scored by the same BM25 as postings.py, and vectors exactly or by
LanceDB's own index, so that both stores give the same hits.
"""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
from numpy.typing import NDArray

from kate.errors import quoted
from kate.model.text_model import TextModel
from kate.search.building import TOPIC_COLUMNS, add_topic_columns, encoded, typed_columns, words_of
from kate.search.exact_search import Ranking
from kate.search.filters import Filter, FilterError
from kate.search.index_folder import TABLES, WRITER
from kate.search.lance_table import (
    TEXT_COLUMN,
    VECTOR_COLUMN,
    WORDS_COLUMN,
    aligned,
    answer_of,
    cannot_read,
    holds,
    is_in,
    match_query,
    open_table,
    places_of,
    require_lancedb,
    rows_table,
    write_lance_table,
)
from kate.search.lance_vectors import KeptVectors, VectorKeeper, vectors_in
from kate.search.store import ByMeaning, ByWords, Everything, Selection
from kate.spelling import close_names
from kate.storage.files import only_writer
from kate.storage.folders import FolderError
from kate.text.counting import factorize
from kate.text.documents import Documents
from kate.text.text_batches import is_encodable

__all__ = ["LanceStore", "require_lancedb", "write_lance_table"]

Floats = NDArray[np.float32]
Rows = NDArray[np.int64]

_IDS_AT_ONCE = 1_000
# Documents without an index are scanned; when more than so many, and a tenth of all, have none, they get one.
_UNINDEXED = 20_000
# Of LanceDB's index of vectors: parts that are looked at, and candidates that are scored again with whole vectors.
_PROBES, _REFINED = 32, 4


class LanceStore:
    """Documents in a table that changes; a row is LanceDB's own number of it."""

    def __init__(self, folder: Path, table: Any, stored: dict[str, str], *, ann: bool) -> None:
        self.folder = folder
        self.table = table
        self.ann = ann
        self._stored = stored
        self._keeper = VectorKeeper(table)

    @classmethod
    def open(cls, folder: Path, config: dict[str, Any]) -> LanceStore:
        """The table of an index folder, in its newest version."""
        stored, ann = _stored_columns(folder, config.get("columns")), config.get("ann")
        table = open_table(folder / TABLES)
        missing = {*stored.values(), TEXT_COLUMN, WORDS_COLUMN, VECTOR_COLUMN} - set(table.schema.names)
        width = config.get("n_components")
        if missing or type(ann) is not bool or table.schema.field(VECTOR_COLUMN).type.list_size != width:
            raise FolderError(
                f"the table in {folder / TABLES} is not that of this index; copy the index again"
            )
        return cls(folder, table, stored, ann=ann)

    @property
    def columns(self) -> dict[str, pl.DataType]:
        empty = pl.DataFrame(
            pl.from_arrow(self.table.schema.empty_table().select(list(self._stored.values())))
        )
        return dict(zip(self._stored, empty.dtypes, strict=True))

    def __len__(self) -> int:
        return int(self.table.count_rows())

    def by_words(self, stems: Sequence[str], top: int, selection: Selection) -> ByWords:
        condition = self._condition(selection)
        found = self._match(stems, top, condition)
        rows, scores = _column(found, "_rowid", np.int64), _column(found, "_score", np.float32)

        def score(asked: Rows) -> Floats:
            known = dict(zip(rows.tolist(), scores.tolist(), strict=True))
            others = [row for row in asked.tolist() if row not in known]
            if others and len(rows) >= top:
                more = self._match(stems, len(others), f"_rowid in ({','.join(map(str, others))})")
                known |= dict(zip(more["_rowid"].to_pylist(), more["_score"].to_pylist(), strict=True))
            return np.array([known.get(row, 0.0) for row in asked.tolist()], np.float32)

        return ByWords(Ranking(rows, scores), score)

    def by_meaning(
        self, vector: Floats, top: int, least: int, selection: Selection, exact: bool
    ) -> ByMeaning:
        if (in_memory := self._kept(exact)) is not None:
            [ranking] = in_memory.nearest(vector[np.newaxis], top, self._rows_that(selection))
            return ByMeaning(ranking, vector, lambda rows: in_memory.of(rows, self.vectors_of))
        query = self.table.search(vector, vector_column_name=VECTOR_COLUMN).distance_type("dot").limit(top)
        if self.ann and not exact:
            query = query.nprobes(_PROBES).refine_factor(_REFINED)
        elif self.ann:
            query = query.bypass_vector_index()
        if (condition := self._condition(selection)) is not None:
            query = query.where(condition, prefilter=True)
        found = _asked(query.with_row_id(True).select([VECTOR_COLUMN, "_distance"]), condition)
        rows, vectors = _column(found, "_rowid", np.int64), _vectors(found)
        cosines = _cosines(vectors, vector)
        kept = vectors.any(axis=1)
        order = np.lexsort((rows[kept], -cosines[kept]))

        def vectors_of(asked: Rows) -> Floats:
            place = {row: number for number, row in enumerate(rows.tolist())}
            others = np.array([row for row in asked.tolist() if row not in place], np.int64)
            place |= {row: len(rows) + number for number, row in enumerate(others.tolist())}
            return np.concatenate([vectors, self.vectors_of(others)])[[place[row] for row in asked.tolist()]]

        return ByMeaning(Ranking(rows[kept][order], cosines[kept][order]), vector, vectors_of)

    def nearest(self, vectors: Floats, top: int, selection: Selection, exact: bool) -> list[Ranking]:
        if (in_memory := self._kept(exact, len(vectors))) is not None:
            return in_memory.nearest(vectors, top, self._rows_that(selection))
        return [self.by_meaning(vector, top, top, selection, exact).ranking for vector in vectors]

    def known_stems(self, stems: Sequence[str]) -> set[str]:
        return {stem for stem in stems if self._match([stem], 1, None, ["_score"]).num_rows}

    def suggest(self, word: str) -> list[str]:
        query = match_query(word, fuzziness=2, max_expansions=20)
        found = _asked(self.table.search(query, query_type="fts").limit(20).select([TEXT_COLUMN, "_score"]))
        texts = pl.Series(found[TEXT_COLUMN].to_pylist(), dtype=pl.String).str.to_lowercase()
        words = texts.str.extract_all(r"[\p{L}\p{M}]+").explode().drop_nulls().unique(maintain_order=True)
        return close_names(word, words.to_list(), 3, cutoff=0.7)

    def documents(self, rows: Rows) -> pl.DataFrame:
        names = {stored: name for name, stored in self._stored.items()} | {TEXT_COLUMN: "text"}
        return self._take(rows, list(names)).rename(names)

    def values(self, rows: Rows, column: str) -> pl.Series:
        return self._take(rows, [self._stored[column]]).to_series().alias(column)

    def row_of(self, id: str) -> int | None:  # noqa: A002 - the name of the column
        rows = self.rows_of([id])
        return next(iter(rows.values()), None)

    def some_ids(self) -> list[str]:
        found: list[str] = _asked(self.table.search().select(["id"]).limit(3))["id"].to_pylist()
        return found

    def vectors_of(self, rows: Rows) -> Floats:
        if not len(rows):
            return np.zeros((0, self.table.schema.field(VECTOR_COLUMN).type.list_size), np.float32)
        found = _asked(self.table.take_row_ids(rows.tolist()).with_row_id().select([VECTOR_COLUMN]))
        return _vectors(found)[places_of(rows, found["_rowid"].to_pylist())]

    def everything(self) -> Everything:
        from scipy import sparse

        found = _asked(
            self.table.search().with_row_id(True).select([WORDS_COLUMN, VECTOR_COLUMN]).limit(len(self))
        )
        split = pl.Series(found[WORDS_COLUMN].to_pylist(), dtype=pl.String).str.split(" ").list.unique()
        codes, distinct = factorize(split.explode().fill_null(""))
        starts = np.concatenate([[0], np.cumsum(split.list.len().to_numpy().clip(1))])
        words = sparse.csr_array(
            (np.ones(len(codes), np.int8), codes, starts), shape=(len(split), len(distinct))
        )
        return Everything(_column(found, "_rowid", np.int64), _vectors(found), words)

    def add(self, model: TextModel, documents: Documents) -> int:
        """Add documents whose ids are new."""
        with only_writer(self.folder / WRITER):
            self.table.checkout_latest()
            if known := self.rows_of(documents.ids):
                raise ValueError(
                    f"the index has a document with the id {quoted(next(iter(known)))} already; give new ids, or "
                    "replace documents with `kate index update` or index.update"
                )
            self.table.add(self._table_of(model, documents))
            self._index_if_many()
        return len(documents)

    def update(self, model: TextModel, documents: Documents) -> tuple[int, int]:
        """Replace documents by their ids, and add those that are new."""
        with only_writer(self.folder / WRITER):
            self.table.checkout_latest()
            merge = self.table.merge_insert("id").when_matched_update_all().when_not_matched_insert_all()
            done = merge.execute(self._table_of(model, documents))
            self._index_if_many()
        return int(done.num_updated_rows), int(done.num_inserted_rows)

    def remove(self, ids: Sequence[str], where: Filter | None) -> int:
        """Remove documents by their ids, or those that meet a condition."""
        with only_writer(self.folder / WRITER):
            self.table.checkout_latest()
            known = self.rows_of(ids)
            if unknown := [one for one in ids if one not in known]:
                raise ValueError(f"no document has the id {quoted(unknown[0])}; nothing was removed")
            before = len(self)
            if where is not None:
                self.table.delete(self._condition(Selection(where)))
            for start in range(0, len(ids), _IDS_AT_ONCE):
                self.table.delete(is_in("id", ids[start : start + _IDS_AT_ONCE]))
            return before - len(self)

    def compact(self) -> None:
        """Put small files together and bring the indexes up to date; old versions stay a week for their readers."""
        with only_writer(self.folder / WRITER):
            self.table.checkout_latest()
            self.table.optimize()

    def _index_if_many(self) -> None:
        stats = self.table.index_stats(f"{WORDS_COLUMN}_idx")
        if stats is not None and stats.num_unindexed_rows > max(_UNINDEXED, stats.num_indexed_rows // 10):
            self.table.optimize()

    def _table_of(self, model: TextModel, documents: Documents) -> Any:
        """New documents as rows of the table."""
        vectors = encoded(model, documents, model.n_jobs)
        given = typed_columns(documents)
        if set(TOPIC_COLUMNS) <= set(self._stored):
            given = add_topic_columns(model, given, vectors)
        for name in set(given.columns) - set(self._stored):
            warnings.warn(f"the index has no column {quoted(name)}; it is left out", stacklevel=4)
        frame = aligned(given, self.columns).rename(self._stored)
        words = words_of(model, documents, model.n_jobs)
        return rows_table(frame, documents.texts, list(words.lines()), vectors)

    def _match(
        self, stems: Sequence[str], top: int, condition: str | None, columns: list[str] | None = None
    ) -> Any:
        words = " ".join(stem.replace(" ", "␣") for stem in stems)
        query = self.table.search(match_query(words), query_type="fts").limit(top)
        if condition is not None:
            query = query.where(condition, prefilter=True)
        return _asked(query.with_row_id(True).select(columns or ["_score"]), condition)

    def _kept(self, exact: bool, n_queries: int = 1) -> KeptVectors | None:
        """All vectors in memory, where they are worth it; None: ask LanceDB."""
        return None if self.ann and not exact else self._keeper.vectors(n_queries)

    def _rows_that(self, selection: Selection) -> Rows | None:
        """The rows that may be found; None for all."""
        if (condition := self._condition(selection)) is None:
            return None
        query = self.table.search().where(condition).with_row_id(True).select(["id"])
        return _column(_asked(query, condition), "_rowid", np.int64)

    def _condition(self, selection: Selection) -> str | None:
        """A selection as LanceDB reads it."""
        if selection.is_everything:
            return None
        parts = [] if selection.where is None else [f"({selection.where.lance_sql(self._stored)})"]
        parts += [holds(stems) for stems in selection.phrases]
        parts += [f"not {holds(stems)}" for stems in selection.without]
        return " and ".join(parts)

    def rows_of(self, ids: Sequence[str]) -> dict[str, int]:
        """The rows of those ids that there are."""
        rows: dict[str, int] = {}
        known = list(filter(is_encodable, ids))  # LanceDB cannot look for others
        for start in range(0, len(known), _IDS_AT_ONCE):
            some = known[start : start + _IDS_AT_ONCE]
            query = self.table.search().where(is_in("id", some)).with_row_id(True).select(["id"])
            found = _asked(query.limit(len(some)))
            rows |= dict(zip(found["id"].to_pylist(), found["_rowid"].to_pylist(), strict=True))
        return rows

    def _take(self, rows: Rows, columns: list[str]) -> pl.DataFrame:
        """Some columns of some rows, in this order."""
        if not len(rows):
            return pl.DataFrame(pl.from_arrow(self.table.schema.empty_table().select(columns)))
        found = pl.DataFrame(
            pl.from_arrow(_asked(self.table.take_row_ids(rows.tolist()).with_row_id().select(columns)))
        )
        return found[places_of(rows, found["_rowid"].to_list())].select(columns)


def _asked(query: Any, condition: str | None = None) -> Any:
    """The answer of LanceDB; its errors about a condition, or about files that it cannot read, in our words."""
    try:
        return answer_of(query)
    except FolderError:
        raise
    except (RuntimeError, ValueError, OSError) as error:
        if condition is None or "Not found: " in str(error):
            raise cannot_read(error) from None
        raise FilterError(f"LanceDB cannot answer ({str(error).splitlines()[0][:200]})") from None


def _stored_columns(folder: Path, found: Any) -> dict[str, str]:
    """Under which name each column is in the table, as index.json says; anything else is refused."""
    columns = found if isinstance(found, dict) else {}
    names = columns.values()
    is_whole = all(isinstance(name, str) for name in names) and len(set(names)) == len(names)
    if not is_whole or not {"id", "label", "title"} <= set(columns):
        raise FolderError(f"{folder} does not say which columns its table has; copy the index again")
    return dict(columns)


def _column(found: Any, name: str, kind: Any) -> NDArray[Any]:
    return np.asarray(found[name].to_numpy(), dtype=kind)


def _vectors(found: Any) -> Floats:
    return vectors_in(found[VECTOR_COLUMN].combine_chunks())


def _cosines(vectors: Floats, vector: Floats) -> Floats:
    cosines: Floats = np.einsum("ij,j->i", vectors, vector, dtype=np.float64).astype(np.float32)
    return cosines
