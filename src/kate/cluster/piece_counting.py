"""What workers do to count a corpus: functions of what they are given, so that any of them can be run again."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, NamedTuple

import numpy as np
import polars as pl
from scipy.sparse import csr_matrix

import kate
from kate.cluster.corpus_pieces import CorpusPiece
from kate.model.local_worker import dealt_rows
from kate.streaming.shard_counting import CountedTexts, count_texts
from kate.text.corpus_batches import ReadingRules
from kate.text.tokenizer import Tokenizer

__all__ = [
    "PieceFacts",
    "SummedWords",
    "columns_of_piece",
    "count_piece",
    "deal_piece",
    "most_frequent_forms",
    "some_of_piece",
    "sum_words",
]

_SEED = 0
_TABLES_AT_ONCE = 64


class PieceFacts(NamedTuple):
    """What the driver has to know of a piece that was counted."""

    n_documents: int
    n_entries: int
    n_skipped: int
    skipped: list[str]
    versions: tuple[str, str]  # of Kate and of Polars, whose hashes deal the words


class SummedWords(NamedTuple):
    """Those words of a group that can enter the vocabulary."""

    kept: pl.DataFrame  # stem, total, documents
    n_distinct: int


def count_piece(piece: CorpusPiece, rules: ReadingRules, tokenizer: Tokenizer, n_groups: int) -> list[Any]:
    """Read and count: the facts, the counts, and the words (stem, total, documents) of each group."""
    read = piece.read(rules)
    counted = count_texts(read.texts, tokenizer)
    facts = PieceFacts(
        counted.counts.shape[0],
        counted.counts.nnz,
        read.malformed.count,
        read.malformed.messages,
        (kate.__version__, pl.__version__),
    )
    groups = counted.stems.with_columns((pl.col("stem").hash(_SEED) % n_groups).alias("group"))
    words = [groups.filter(pl.col("group") == number).drop("group") for number in range(n_groups)]
    return [facts, counted, *words]


def sum_words(fewest: int, most: int, size: int | None, *tables: pl.DataFrame) -> SummedWords:
    """The words of one group of all pieces, added up; of these the most frequent that are in enough documents.

    >>> table = pl.DataFrame({"stem": ["gold", "coin"], "total": [3, 1], "documents": [2, 1]})
    >>> sum_words(2, 100, None, table, table.head(1)).kept.rows()
    [('gold', 6, 4)]
    """
    table = pl.concat(tables).group_by("stem").agg(pl.sum("total"), pl.sum("documents"))
    kept = table.filter(pl.col("documents").is_between(fewest, most))
    kept = kept.sort("total", "stem", descending=[True, False])
    return SummedWords(kept if size is None else kept.head(size), len(table))


def columns_of_piece(counted: CountedTexts, stems: pl.Series) -> list[Any]:
    """The counts (n_docs, n_words) in the columns of a vocabulary, and how often its words have each form."""
    columns = pl.DataFrame({"stem": stems, "column": np.arange(len(stems), dtype=np.int32)})
    known = counted.stems.select("stem").join(columns, on="stem", how="left", maintain_order="left")
    column_of = known["column"].fill_null(-1).to_numpy()
    counts = counted.counts
    found = column_of[counts.indices]
    is_kept = found >= 0
    starts = np.concatenate([[0], np.cumsum(is_kept)])[counts.indptr]
    kept = csr_matrix(
        (counts.data[is_kept].astype(np.float32), found[is_kept], starts.astype(np.int32)),
        shape=(counts.shape[0], len(stems)),
    )
    kept.sort_indices()
    codes = counted.forms["code"].to_numpy()
    forms = counted.forms.with_columns(pl.Series("column", column_of[codes])).filter(pl.col("column") >= 0)
    return [kept, forms.select("column", "word", "occurrences")]


def most_frequent_forms(tables: Iterable[pl.DataFrame]) -> list[str]:
    """For each column the form that occurs most often; of equals the first in the alphabet.

    >>> table = pl.DataFrame({"column": [0, 0], "word": ["coin", "coins"], "occurrences": [2, 3]})
    >>> most_frequent_forms([table, table])
    ['coins']
    """
    known: list[pl.DataFrame] = []
    for table in tables:
        known.append(table)
        if len(known) > _TABLES_AT_ONCE:
            known = [_added_up(known)]
    ranked = _added_up(known).sort("column", "occurrences", "word", descending=[False, True, False])
    return ranked.unique("column", keep="first", maintain_order=True)["word"].to_list()


def _added_up(tables: list[pl.DataFrame]) -> pl.DataFrame:
    return pl.concat(tables).group_by("column", "word").agg(pl.sum("occurrences"))


def some_of_piece(counts: csr_matrix, first: int, every: int) -> csr_matrix:
    """One of so many documents, as :func:`deal_piece` gives them to the first worker."""
    return counts[dealt_rows(counts.shape[0], every, 0, first)]


def deal_piece(counts: csr_matrix, first: int, n_workers: int) -> list[csr_matrix] | csr_matrix:
    """The documents of each worker, of a piece whose first document has the number ``first`` in the corpus."""
    dealt = [counts[dealt_rows(counts.shape[0], n_workers, worker, first)] for worker in range(n_workers)]
    return dealt if n_workers > 1 else dealt[0]
