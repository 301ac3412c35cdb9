"""Counting as a map-reduce: every piece is counted where it is read, and words are added up group by group.

Plain tasks of Ray and not Ray Data: a piece goes in and a matrix comes out, which is no table of rows; and Kate's own
readers name the line of a malformed row. Counts stay on the machines that made them until somebody asks for them; if a
machine is lost, Ray does again what it had done.
"""

from __future__ import annotations

import warnings
from dataclasses import dataclass
from itertools import accumulate
from typing import Any

import polars as pl
from scipy.sparse import csr_matrix, vstack

import kate
from kate.cluster.corpus_pieces import CorpusPieces
from kate.cluster.piece_counting import (
    columns_of_piece,
    count_piece,
    deal_piece,
    most_frequent_forms,
    some_of_piece,
    sum_words,
)
from kate.cluster.ray_cluster import ClusterError, RayCluster
from kate.text.compressed_files import CorpusError
from kate.text.language_checks import tokenizer_for
from kate.text.learning import nothing_left
from kate.text.vocabulary import Vocabulary
from kate.text.word_choice import least_documents, most_documents
from kate.text.word_parameters import WordParameters

__all__ = ["CountedCorpus", "count_on_cluster", "warn_of_skipped"]

# Groups of words that are added up apart from each other: as many tasks as that can share the work.
_MOST_GROUPS = 64
# Entries of counts that one machine takes: with what training makes of them, some ten gigabytes.
_ENTRIES_ON_ONE_MACHINE = 2**28


@dataclass(frozen=True)
class CountedCorpus:
    """A vocabulary, and the counts of the pieces on the machines of the cluster."""

    cluster: RayCluster
    vocabulary: Vocabulary
    counts: list[Any]  # references, one per piece
    n_documents: list[int]  # of each piece
    n_entries: int  # of the counts, those of words without a column too
    n_skipped: int = 0
    skipped: tuple[str, ...] = ()
    # references to what the counts were made with: Ray can make lost counts again only while somebody holds these
    made_with: tuple[Any, ...] = ()

    def every(self, most_entries: int = _ENTRIES_ON_ONE_MACHINE) -> int:
        """1 if the counts of all documents fit on one machine; else n, where those of one in n do."""
        return max(1, -(-self.n_entries // most_entries))

    def gathered(self, every: int = 1) -> csr_matrix:
        """The counts (n_docs, n_words) of all documents, or of one in so many, here."""
        counts = self.counts
        if every > 1:
            some = self.cluster.task(some_of_piece)
            counts = [some.remote(one, first, every) for one, first in self._with_firsts()]
        return csr_matrix(vstack(self.cluster.get(counts), format="csr"))

    def dealt(self, n_workers: int) -> list[list[Any]]:
        """For each worker references to the counts of its documents, a part of every piece."""
        deal = self.cluster.task(deal_piece, n_returns=n_workers)
        dealt = [deal.remote(counts, first, n_workers) for counts, first in self._with_firsts()]
        dealt = [[one] for one in dealt] if n_workers == 1 else dealt
        return [[of_piece[worker] for of_piece in dealt] for worker in range(n_workers)]

    def _with_firsts(self) -> list[tuple[Any, int]]:
        """The counts of each piece, and the number of its first document."""
        firsts = accumulate(self.n_documents[:-1], initial=0)
        return list(zip(self.counts, firsts, strict=True))


def count_on_cluster(cluster: RayCluster, pieces: CorpusPieces, parameters: WordParameters) -> CountedCorpus:
    """The vocabulary that :meth:`kate.Vocabulary.learn` finds in the same documents, and their counts."""
    if parameters.phrases:
        raise ValueError("phrases are found on one machine only; leave --phrases out, or --on ray")
    texts = (piece.read(pieces.rules).texts for piece in pieces)
    _, tokenizer = tokenizer_for(texts, parameters.make_tokenizer())
    n_groups = max(1, min(_MOST_GROUPS, len(pieces), cluster.n_cpus))
    count = cluster.task(count_piece, n_returns=2 + n_groups)
    shared = cluster.put(tokenizer)
    found = [count.remote(piece, pieces.rules, shared, n_groups) for piece in pieces]
    facts = cluster.get([of_piece[0] for of_piece in found])
    _require_versions({one.versions for one in facts})
    n_documents = sum(one.n_documents for one in facts)
    if not n_documents:
        raise CorpusError("no documents in the files; expected at least one")
    table, n_distinct, fewest, most = _summed(cluster, found, parameters, n_groups, n_documents)
    if len(table) == 0:
        raise ValueError(nothing_left(n_documents, n_distinct, fewest, most, tokenizer))
    columns = cluster.task(columns_of_piece, n_returns=2)
    stems = cluster.put(table["stem"])
    by_piece = [columns.remote(of_piece[1], stems) for of_piece in found]
    vocabulary = Vocabulary(
        table["stem"].to_list(),
        _readable(cluster, [forms for _, forms in by_piece]),
        table["documents"].to_numpy(),
        table["total"].to_numpy(),
        n_documents,
        tokenizer,
    )
    messages = tuple(message for one in facts for message in one.skipped)
    return CountedCorpus(
        cluster,
        vocabulary,
        [counts for counts, _ in by_piece],
        [one.n_documents for one in facts],
        sum(one.n_entries for one in facts),
        sum(one.n_skipped for one in facts),
        messages,
        (shared, stems),
    )


def _summed(
    cluster: RayCluster, found: list[Any], parameters: WordParameters, n_groups: int, n_documents: int
) -> tuple[pl.DataFrame, int, int, int]:
    """The words of the vocabulary (stem, total, documents), the number of all, and the limits of documents."""
    fewest = least_documents(parameters.min_df, n_documents)
    most = most_documents(parameters.max_df, n_documents)
    size = parameters.vocabulary_size
    add_up = cluster.task(sum_words)
    groups = cluster.get(
        [
            add_up.remote(fewest, most, size, *[of_piece[2 + group] for of_piece in found])
            for group in range(n_groups)
        ]
    )
    kept = pl.concat([group.kept for group in groups]).sort("total", "stem", descending=[True, False])
    return (
        kept if size is None else kept.head(size),
        sum(group.n_distinct for group in groups),
        fewest,
        most,
    )


def _readable(cluster: RayCluster, forms: list[Any]) -> list[str]:
    """For each word the form that occurs most often; some pieces at a time come here."""
    return most_frequent_forms(
        table for start in range(0, len(forms), 64) for table in cluster.get(forms[start : start + 64])
    )


def _require_versions(found: set[tuple[str, str]]) -> None:
    """Refuse workers with another Kate or Polars: they would count other words, or deal them otherwise."""
    ours = (kate.__version__, pl.__version__)
    if others := found - {ours}:
        shown = ", ".join(f"Kate {version} with Polars {polars}" for version, polars in sorted(others))
        raise ClusterError(
            f"machines of the cluster have {shown}, this one has Kate {ours[0]} with Polars {ours[1]}; install the "
            "same on all of them"
        )


def warn_of_skipped(counted: CountedCorpus) -> None:
    """Say how many malformed rows were left out."""
    if counted.n_skipped:
        warnings.warn(
            f"left out {counted.n_skipped:,} malformed rows, first {counted.skipped[0]}",
            UserWarning,
            stacklevel=3,
        )
