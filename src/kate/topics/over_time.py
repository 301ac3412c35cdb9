"""Topics through time, or by group: how many documents each topic has in every period, and the words that changed."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

import numpy as np
import polars as pl
from numpy.typing import NDArray

from kate.sparse_arrays import sparse
from kate.topics.periods import Every, Periods
from kate.topics.topic import Topic

__all__ = ["OverTime", "changed_words", "topics_over"]

_N_CHANGED = 5
_LEAST_LIFT = 1.2  # of a word of a topic, against all documents
_SURE = 10.8  # G² of a difference that chance makes once in a thousand times
_FEWEST, _RAREST = 3, 0.1  # documents of the period, and their share, that hold such a word

Numbers = NDArray[np.int64]


@dataclass(frozen=True, eq=False)
class OverTime:
    """One row per period and topic, and how long a period is (None: they are groups)."""

    frame: pl.DataFrame
    every: Every | None


def topics_over(
    periods: Periods,
    topics: Sequence[Topic],
    places: Numbers,
    counts: sparse.csr_matrix | Iterable[sparse.csr_matrix],
    readable: Sequence[str],
) -> OverTime:
    """Count the documents of every period and topic.

    places : (n_docs,), the place of each document's topic in ``topics``; -1 where it has none
    counts : (n_docs, n_words), the words of the documents, or blocks of such rows; ``readable`` are their forms

    Shares are of the period's documents that have a topic, and sum to 1; null where there is no such document.
    """
    n_periods, n_topics = len(periods.values), len(topics)
    used = (periods.places >= 0) & (places >= 0)
    cells = periods.places[used] * n_topics + places[used]
    documents = np.bincount(cells, minlength=n_periods * n_topics).reshape(n_periods, n_topics)
    totals = np.repeat(documents.sum(axis=1), n_topics)
    changed = changed_words(counts, periods.places, places, n_periods, n_topics)
    words = [[readable[word] for word in changed.get(cell, ())] for cell in range(n_periods * n_topics)]
    shares = pl.Series("share", documents.reshape(-1) / np.maximum(totals, 1), dtype=pl.Float64)
    frame = pl.DataFrame(
        [
            periods.values.gather(np.repeat(np.arange(n_periods), n_topics)),
            pl.Series("topic", [topic.number for topic in topics] * n_periods, dtype=pl.Int64),
            pl.Series("topic_name", [topic.name for topic in topics] * n_periods, dtype=pl.String),
            pl.Series("documents", documents.reshape(-1), dtype=pl.Int64),
            shares.set(pl.Series(totals == 0), None),
            pl.Series("words", words, dtype=pl.List(pl.String)),
        ]
    )
    return OverTime(frame, periods.every)


def changed_words(
    present: sparse.csr_matrix | Iterable[sparse.csr_matrix],
    periods: Numbers,
    topics: Numbers,
    n_periods: int,
    n_topics: int,
) -> dict[int, list[int]]:
    """For period p and topic t, at p · n_topics + t: words that their documents hold more often than the whole topic's.

    present : which words each document holds, all rows or blocks of them, one after the other

    They are words of the topic, more frequent in it than in all documents; the surest difference comes first. No entry
    where nothing changed.
    """
    used = np.flatnonzero((periods >= 0) & (topics >= 0))
    cells = periods[used] * n_topics + topics[used]
    by_cell, in_topic = _sums(present, used, (cells, n_periods * n_topics), (topics[used], n_topics))
    holds = by_cell.tocoo()
    in_all = in_topic.sum(axis=0)
    cell_sizes = np.bincount(cells, minlength=n_periods * n_topics)
    topic_sizes = np.bincount(topics[used], minlength=n_topics)
    cell, word, count = holds.coords[0], holds.coords[1], holds.data
    topic = cell % n_topics
    share, usual = count / cell_sizes[cell], in_topic[topic, word] / topic_sizes[topic]
    lift = usual * max(len(used), 1) / in_all[word]
    score = _surprise(cell_sizes[cell], share, usual)
    score[(count < _FEWEST) | (share < _RAREST) | (share <= usual) | (lift < _LEAST_LIFT)] = 0
    kept = np.flatnonzero(score >= _SURE)
    order = kept[np.lexsort((word[kept], -score[kept], cell[kept]))]
    found: dict[int, list[int]] = {}
    for number, column in zip(cell[order].tolist(), word[order].tolist(), strict=True):
        listed = found.setdefault(number, [])
        if len(listed) < _N_CHANGED:
            listed.append(column)
    return found


def _sums(
    present: sparse.csr_matrix | Iterable[sparse.csr_matrix],
    used: Numbers,
    cells: tuple[Numbers, int],
    topics: tuple[Numbers, int],
) -> tuple[sparse.csr_array, NDArray[np.float64]]:
    """In how many of the used documents of each cell, and of each topic, a word is; from all rows or block by block."""
    by_cell: sparse.csr_array | None = None
    by_topic: NDArray[np.float64] | None = None
    first = 0
    for block in [present] if sparse.issparse(present) else present:
        low, high = np.searchsorted(used, [first, first + block.shape[0]]).tolist()
        rows = used[low:high] - first
        held = _grouped(block, rows, cells[0][low:high], cells[1])
        some = _grouped(block, rows, topics[0][low:high], topics[1]).toarray()
        by_cell = held if by_cell is None else sparse.csr_array(by_cell + held)
        by_topic = some if by_topic is None else by_topic + some
        first += block.shape[0]
    if by_cell is None or by_topic is None:
        raise ValueError("no documents to compare")
    return by_cell, by_topic


def _grouped(present: sparse.csr_matrix, rows: Numbers, groups: Numbers, n_groups: int) -> sparse.csr_array:
    """In how many documents of each group a word is, (n_groups, n_words)."""
    ones = np.ones(len(rows), dtype=np.float64)
    members = sparse.csr_array((ones, (groups, rows)), shape=(n_groups, present.shape[0]))
    held = sparse.csr_array((np.ones(present.nnz), present.indices, present.indptr), shape=present.shape)
    return sparse.csr_array(members @ held)


def _surprise(
    n: NDArray[np.int64], share: NDArray[np.float64], usual: NDArray[np.float64]
) -> NDArray[np.float64]:
    """G²: how unlikely a share among n documents is where another one is usual."""
    with np.errstate(divide="ignore", invalid="ignore"):
        with_word = share * np.log(share / usual)
        without = np.where(share < 1, (1 - share) * np.log((1 - share) / (1 - usual)), 0)
    return np.asarray(2 * n * (with_word + without))
