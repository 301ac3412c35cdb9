"""Shards of a vocabulary's columns: samples of their documents, and windows of shuffled ones.

Nothing here depends on time or threads: a window is what its number and the seed of its epoch say, so that any window
can be made again, here or on another machine.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from functools import cached_property
from math import ceil
from pathlib import Path
from typing import Any, BinaryIO, TypeVar

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_matrix

from kate.streaming.shard_files import Piece, Shard, write_shard
from kate.streaming.word_totals import columns_of
from kate.text.vocabulary import Vocabulary

__all__ = ["CountShards", "Window", "read_ahead", "translate_shard"]

_HELD_OUT, _PIECES, _ROWS = range(3)  # kinds of random numbers
Item = TypeVar("Item")


def translate_shard(shard: Shard, vocabulary: Vocabulary, path: Path) -> Shard:
    """The same documents with the columns of a vocabulary, written to ``path``; other words are gone.

    >>> import tempfile
    >>> import polars as pl
    >>> from kate.streaming.shard_counting import count_texts
    >>> from kate.text.tokenizer import Tokenizer
    >>> counted = count_texts(pl.Series(["gold and silver", "gold, gold"]), Tokenizer())
    >>> vocabulary, _ = Vocabulary.learn(["silver", "gold gold"])
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     shard = counted.write(Path(folder, "words.shard"), 0)
    ...     counts = translate_shard(shard, vocabulary, Path(folder, "counts.shard"))
    ...     sorted(counts.read(counts.pieces[0]).toarray().tolist())
    [[1, 1], [2, 0]]
    """
    column_of = columns_of(shard, vocabulary)
    parts = []
    with shard.path.open("rb") as file:
        for piece in shard.pieces:
            rows = shard.read(piece, file)
            columns = column_of[rows.indices]
            known = columns >= 0
            # how many entries of the vocabulary come before each row
            before = np.concatenate([[0], np.cumsum(known)])
            arrays = rows.data[known], columns[known], before[rows.indptr].astype(np.int32)
            found = csr_matrix(arrays, (rows.shape[0], len(vocabulary)))
            found.sort_indices()
            parts.append(found)
    # documents are in random order already: seed None keeps it
    return write_shard(path, stacked(parts, len(vocabulary)), facts=shard.facts, seed=None)


def stacked(parts: Sequence[csr_matrix], n_words: int) -> csr_matrix:
    """Rows of counts as one matrix, float32 as models read them; SciPy would copy more on the way."""
    n_rows, n_entries = sum(part.shape[0] for part in parts), sum(part.indices.size for part in parts)
    kind: Any = np.int64 if n_entries > np.iinfo(np.int32).max else np.int32
    starts = np.zeros(n_rows + 1, kind)
    words, data = np.empty(n_entries, kind), np.empty(n_entries, np.float32)
    row = entry = 0
    for part in parts:
        n, m = part.shape[0], part.indices.size
        starts[row + 1 : row + n + 1] = part.indptr[1:] + kind(entry)
        words[entry : entry + m], data[entry : entry + m] = part.indices, part.data
        row, entry = row + n, entry + m
    return csr_matrix((data, words, starts), (n_rows, n_words))


@dataclass(frozen=True, eq=False)
class Window:
    """Some documents of an epoch, all in memory, and its steps on them.

    counts : (n_docs, n_words)
    batches : rows of ``counts``, one array for each step
    seeds : a random number for each step
    """

    number: int
    counts: csr_matrix
    batches: list[NDArray[np.int64]]
    seeds: NDArray[np.int64]


@dataclass(frozen=True, eq=False)
class CountShards:
    """Shards whose columns are those of one vocabulary, as one corpus.

    shards : in the order of their documents
    held_out : this share of the documents is kept from training, drawn by ``seed``
    """

    shards: Sequence[Shard]
    n_words: int
    held_out: float = 0.0
    seed: int = 0

    @cached_property
    def places(self) -> list[tuple[int, int]]:
        """Every piece, as the number of its shard and its number there."""
        return [(i, j) for i, shard in enumerate(self.shards) for j in range(len(shard.pieces))]

    @cached_property
    def sizes(self) -> NDArray[np.int64]:
        """Documents of every piece to train on."""
        if not self.held_out:
            return np.array([self._piece(place).n_documents for place in self.places], dtype=np.int64)
        kept = (~self._is_held_out(place) for place in self.places)
        return np.array([np.count_nonzero(rows) for rows in kept], dtype=np.int64)

    @cached_property
    def n_documents(self) -> int:
        """To train on."""
        return int(self.sizes.sum())

    @property
    def mean_words(self) -> float:
        """Words of a document that have a column, on average; 1 at least."""
        n_documents = sum(shard.n_documents for shard in self.shards)
        return max(1.0, sum(shard.n_entries for shard in self.shards) / max(1, n_documents))

    def sample(self, n_documents: int) -> csr_matrix:
        """The counts of about so many documents to train on, the same share of every shard; all if there are fewer."""
        share = min(1.0, n_documents / max(1, self.n_documents))
        parts = []
        for number, shard in enumerate(self.shards):
            # pieces are in random order, and so are the rows in them
            wanted = ceil(shard.n_documents * share)
            with shard.path.open("rb") as file:
                for j, piece in enumerate(shard.pieces):
                    if wanted <= 0:
                        break
                    rows = self._rows((number, j), file)
                    parts.append(rows if rows.shape[0] <= wanted else rows[:wanted])
                    wanted -= piece.n_documents
        return stacked(parts, self.n_words)

    def held_out_sample(self, most: int) -> csr_matrix:
        """The counts of the documents that are held out, ``most`` at the most: then the same share of every shard."""
        n_held_out = sum(shard.n_documents for shard in self.shards) - self.n_documents
        share = min(1.0, most / max(1, n_held_out))
        parts = []
        for number, shard in enumerate(self.shards):
            with shard.path.open("rb") as file:
                for j in range(ceil(len(shard.pieces) * share)):
                    held = np.flatnonzero(self._is_held_out((number, j)))
                    parts.append(csr_matrix(shard.read(shard.pieces[j], file)[held]))
        return stacked(parts, self.n_words)

    def n_steps(self, batch_size: int) -> int:
        """Steps of an epoch."""
        return -(-self.n_documents // batch_size)

    def windows(
        self, epoch_seed: int, batch_size: int, steps_at_once: int, *, first: int = 0
    ) -> Iterator[Window]:
        """The documents of an epoch, every one once, in random order.

        Pieces are shuffled, and the documents of ``steps_at_once`` steps are shuffled among each other.

        first : the number of the window to begin with
        """
        order = np.random.default_rng([_PIECES, epoch_seed]).permutation(len(self.places))
        ends = np.cumsum(self.sizes[order])
        width = batch_size * steps_at_once
        for number in range(first, -(-self.n_documents // width)):
            start, stop = number * width, min((number + 1) * width, self.n_documents)
            counts = self._between(start, stop, order, ends)
            random = np.random.default_rng([_ROWS, epoch_seed, number])
            rows = random.permutation(stop - start)
            batches = [rows[i : i + batch_size] for i in range(0, len(rows), batch_size)]
            yield Window(number, counts, batches, random.integers(0, 2**62, len(batches)))

    def _between(
        self, start: int, stop: int, order: NDArray[np.int64], ends: NDArray[np.int64]
    ) -> csr_matrix:
        """The documents from one number to another of the shuffled pieces."""
        parts = []
        at = int(np.searchsorted(ends, start, side="right"))
        while start < stop:
            size = int(self.sizes[order[at]])
            offset = start - (int(ends[at]) - size)
            rows = self._rows(self.places[order[at]])
            taken = min(stop - start, size - offset)
            parts.append(rows if taken == size else rows[offset : offset + taken])
            start, at = start + taken, at + 1
        return stacked(parts, self.n_words)

    def _piece(self, place: tuple[int, int]) -> Piece:
        return self.shards[place[0]].pieces[place[1]]

    def _rows(self, place: tuple[int, int], file: BinaryIO | None = None) -> csr_matrix:
        """The documents of a piece to train on."""
        rows = self.shards[place[0]].read(self._piece(place), file)
        return rows if not self.held_out else csr_matrix(rows[np.flatnonzero(~self._is_held_out(place))])

    def _is_held_out(self, place: tuple[int, int]) -> NDArray[np.bool_]:
        random = np.random.default_rng([_HELD_OUT, self.seed, *place])
        drawn: NDArray[np.bool_] = random.random(self._piece(place).n_documents) < self.held_out
        return drawn


def read_ahead(items: Iterator[Item]) -> Iterator[Item]:
    """The same items; while one of them is used, a thread makes the next one ready.

    >>> list(read_ahead(iter([1, 2, 3])))
    [1, 2, 3]
    """
    end: Any = object()
    with ThreadPoolExecutor(1, thread_name_prefix="kate-reader") as pool:
        ahead = pool.submit(next, items, end)
        while (item := ahead.result()) is not end:
            ahead = pool.submit(next, items, end)
            yield item
