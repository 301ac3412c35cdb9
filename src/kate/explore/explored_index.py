"""The page of an index, for a service: a sample of its documents on the map, and all of them to be found and read.

The page holds the sample as any page holds its documents, but for the texts. What a search finds among all documents is
described to it as it comes (:meth:`ExploredIndex.describe`): where it stands on the map, and its topic at every stop.
"""

from __future__ import annotations

import secrets
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import polars as pl
from numpy.typing import NDArray

from kate.explore.column_parts import NO_DATE, ColumnParts, column_parts, shown_values
from kate.explore.explored_corpus import ExploredCorpus
from kate.explore.explorer import PageSettings, Progress, gather
from kate.explore.page_data import PageData, json_bytes
from kate.explore.topic_parts import TopicStops
from kate.search import Index
from kate.search.building import TOPIC_COLUMNS
from kate.search.store import LivingStore
from kate.text.dates import find_dates
from kate.text.documents import Documents

__all__ = ["ExploredIndex"]

_AT_ONCE = 50_000  # documents whose topics are looked for together
_NEIGHBOURS = 5  # in whose middle on the map a document is placed

Rows = NDArray[np.int64]


@dataclass(frozen=True, eq=False)
class ExploredIndex:
    """An index, the page of it, and what it takes to describe documents that the page does not hold.

    page : without texts; ``manifest["served"]["edition"]`` names it
    sample : the documents of the page
    places : (n_sample, 2), where they stand on the map
    """

    index: Index
    page: PageData
    sample: ExploredCorpus
    row_of_id: Mapping[str, int]
    places: NDArray[np.uint16]
    topics: TopicStops
    columns: ColumnParts

    @classmethod
    def of(cls, index: Index, title: str, most: int, told: Progress) -> ExploredIndex:
        """Choose the sample, lay it out, and count the topics of all documents; told what is done, and its share."""
        told("reading documents", 0.0)
        rows = _rows(index)
        chosen = (
            rows if len(rows) <= most else np.sort(np.random.default_rng(0).choice(rows, most, replace=False))
        )
        documents = _documents(index, chosen)
        columns = _dated(column_parts(documents), index, rows)
        sample = ExploredCorpus.of(index.model, documents)
        n_all = len(rows) if len(chosen) < len(rows) else None
        topics = TopicStops.of(sample)
        data = gather(sample, columns, PageSettings(title, texts="none", n_all=n_all), told, topics)
        positions = data.array("positions", np.uint16).reshape(2, -1)
        told("topics of all documents", 0.0)
        sizes = _sizes(index, topics, rows, told) if n_all is not None else {}
        return cls(
            index,
            _served(data, sizes),
            sample,
            {name: row for row, name in enumerate(documents.ids)},
            np.ascontiguousarray(positions.T),
            topics,
            columns,
        )

    @property
    def edition(self) -> str:
        """A name for this page: parts of another one do not fit to it."""
        return str(self.page.manifest["served"]["edition"])

    def describe(self, ids: Sequence[str]) -> list[dict[str, Any]]:
        """Documents by their ids; those that the index does not have are left out.

        Each has its id and its row in the page, or (where the page does not hold it) its place, its topic at every
        stop, its day and its columns.
        """
        strangers = [name for name in dict.fromkeys(ids) if name not in self.row_of_id]
        rows = self.index.store.rows_of(strangers) if strangers else {}
        met = (
            dict(zip(rows, self._described(np.array(list(rows.values()), np.int64)), strict=True))
            if rows
            else {}
        )
        return [
            {"id": name, "row": self.row_of_id[name]}
            if name in self.row_of_id
            else {"id": name, "row": None, **met[name]}
            for name in dict.fromkeys(ids)
            if name in self.row_of_id or name in met
        ]

    def _described(self, rows: Rows) -> Iterator[dict[str, Any]]:
        documents = _documents(self.index, rows)
        corpus = ExploredCorpus.of(self.index.model, documents)
        assigned = np.stack(self.topics.assigned(corpus), axis=1)
        none = np.iinfo(assigned.dtype).max
        values = shown_values(documents, [one["name"] for one in self.columns.columns])
        places = self._places(corpus)
        days = self._days(documents)
        for at in range(len(rows)):
            yield {
                "place": places[at].tolist() if corpus.known[at] else None,
                "topics": [None if topic == none else int(topic) for topic in assigned[at]],
                "day": None if days[at] == NO_DATE else int(days[at]),
                "columns": {name: column[at] for name, column in values.items()},
            }

    def _places(self, corpus: ExploredCorpus) -> NDArray[np.uint16]:
        """In the middle of its nearest neighbours in the sample."""
        known = np.flatnonzero(self.sample.known)
        cosines = corpus.vectors @ self.sample.vectors[known].T
        best = min(_NEIGHBOURS, len(known))
        nearest = known[np.argpartition(cosines, -best, axis=1)[:, -best:]]
        return np.asarray(np.median(self.places[nearest], axis=1), dtype=np.uint16)

    def _days(self, documents: Documents) -> NDArray[np.int32]:
        if self.columns.date is None:
            return np.full(len(documents), NO_DATE, np.int32)
        try:
            found = find_dates(documents.frame[self.columns.date["column"]], required=False)
        except ValueError:  # a value that is no date, in a document that the page did not read
            found = None
        if found is None:
            return np.full(len(documents), NO_DATE, np.int32)
        return found.days.cast(pl.Int32).fill_null(NO_DATE).to_numpy().astype(np.int32)


def _rows(index: Index) -> Rows:
    """All rows of the store; a store that lives does not count them from 0."""
    if isinstance(index.store, LivingStore):
        return np.asarray(index.store.everything().rows, dtype=np.int64)
    return np.arange(len(index))


def _documents(index: Index, rows: Rows) -> Documents:
    found = index.store.documents(rows)
    if set(TOPIC_COLUMNS) <= set(found.columns):
        names = {topic.name for topic in index.model.topics()}
        if set(found["topic_name"].drop_nulls().cast(pl.String)) <= names:
            found = found.drop(TOPIC_COLUMNS)  # the page has topics of its own, at every stop of its slider
    order = ["text", "id", "label", "title"]
    return Documents(found.select(*order, *(name for name in found.columns if name not in order)))


def _dated(columns: ColumnParts, index: Index, rows: Rows) -> ColumnParts:
    """The first and the last day are those of all documents, as far as their dates can be read."""
    if columns.date is None:
        return columns
    try:
        found = find_dates(index.store.values(rows, columns.date["column"]), required=False)
    except ValueError:
        return columns
    if found is None:
        return columns
    days = found.days.cast(pl.Int32).drop_nulls()
    return replace(columns, date=columns.date | {"first": int(days.min()), "last": int(days.max())})  # type: ignore[arg-type]


def _sizes(index: Index, topics: TopicStops, rows: Rows, told: Progress) -> dict[int, dict[int, int]]:
    """For every stop the number of documents of each topic, of all documents; nothing where vectors cannot tell."""
    if index.model.encoder_.output != "projection":
        return {}  # the vectors of an index are compared in another way than those of the topics
    counts: dict[int, dict[int, int]] = {stop: {} for stop in topics.stops}
    for first in range(0, len(rows), _AT_ONCE):
        vectors = index.store.vectors_of(rows[first : first + _AT_ONCE])
        vectors = vectors[vectors.any(axis=1)]
        for stop, of_stop in zip(topics.stops, topics.topics, strict=True):
            numbers, sizes = np.unique(of_stop.cut.topics[of_stop.cut.nearest(vectors)], return_counts=True)
            for number, size in zip(numbers.tolist(), sizes.tolist(), strict=True):
                counts[stop][number] = counts[stop].get(number, 0) + size
        told("topics of all documents", min((first + _AT_ONCE) / len(rows), 1.0))
    return counts


def _served(data: PageData, sizes: Mapping[int, Mapping[int, int]]) -> PageData:
    """The page with the sizes of its topics among all documents, and with a name of its own."""
    facts = dict(data.manifest) | {"texts": "service", "served": {"edition": secrets.token_hex(8)}}
    if not sizes:
        return PageData.of(facts, data.parts)
    found = data.json("topics")
    for cut in found["cuts"]:
        for topic in cut["topics"]:
            topic["size_of_all"] = sizes[cut["n"]].get(topic["number"], 0)
    return PageData.of(facts, dict(data.parts) | {"topics": json_bytes(found)})
