"""The words of all shards → a Vocabulary, with the same words, counts and order as if all texts had been in memory.

Every shard says how often each of its words occurs and in how many documents. Words are dealt to groups by a hash, so
that one group of all shards fits into memory. Within a group sums are exact; of each, only those words are kept
that can still enter the vocabulary. No word is dropped before its exact count is known.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass

import numpy as np
import polars as pl
from numpy.typing import NDArray

from kate.streaming.shard_files import Shard
from kate.text.learning import nothing_left
from kate.text.tokenizer import Tokenizer
from kate.text.vocabulary import Vocabulary
from kate.text.word_choice import DocumentLimit, least_documents, most_documents

__all__ = ["MergedWords", "columns_of", "merge_words"]

_ROWS_AT_ONCE = 2_000_000
_SEED = 0


@dataclass(frozen=True)
class MergedWords:
    """A vocabulary, and how it was found."""

    vocabulary: Vocabulary
    n_distinct: int  # words of the texts, of which the vocabulary has the most frequent
    n_groups: int  # that they were dealt to


def merge_words(
    shards: Sequence[Shard],
    tokenizer: Tokenizer,
    vocabulary_size: int | None = 20_000,
    min_df: DocumentLimit = "auto",
    max_df: int | float = 1.0,
    *,
    rows_at_once: int = _ROWS_AT_ONCE,
    report: Callable[[float], None] | None = None,
) -> MergedWords:
    """The vocabulary of all texts of the shards, see :meth:`kate.text.vocabulary.Vocabulary.learn`.

    rows_at_once : of the shards' tables of words, in memory
    report : is told the share of the work that is done
    """
    n_documents = sum(shard.n_documents for shard in shards)
    fewest, most = least_documents(min_df, n_documents), most_documents(max_df, n_documents)
    n_groups = max(1, -(-sum(shard.n_words for shard in shards) // rows_at_once))
    kept, n_distinct = pl.DataFrame(schema={"stem": pl.String, "total": pl.Int64, "documents": pl.Int64}), 0
    for group in range(n_groups):
        table = _summed(_stems_of(shards, group, n_groups), rows_at_once)
        n_distinct += len(table)
        table = table.filter(pl.col("documents").is_between(fewest, most))
        kept = pl.concat([kept, table]).sort("total", "stem", descending=[True, False])
        kept = kept if vocabulary_size is None else kept.head(vocabulary_size)
        if report is not None:
            report((group + 1) / (n_groups + 1))
    if len(kept) == 0:
        raise ValueError(nothing_left(n_documents, n_distinct, fewest, most, tokenizer))
    vocabulary = Vocabulary(
        kept["stem"].to_list(),
        _readable(shards, kept["stem"], rows_at_once),
        kept["documents"].to_numpy(),
        kept["total"].to_numpy(),
        n_documents,
        tokenizer,
    )
    return MergedWords(vocabulary, n_distinct, n_groups)


def columns_of(shard: Shard, vocabulary: Vocabulary) -> NDArray[np.int32]:
    """The column of each word of a shard, -1 where it has none."""
    column_of = vocabulary.columns.get
    return np.array([column_of(stem, -1) for stem in shard.table("stems")["stem"].to_list()], dtype=np.int32)


def _stems_of(shards: Sequence[Shard], group: int, n_groups: int) -> Iterator[pl.DataFrame]:
    for shard in shards:
        table = shard.table("stems")
        yield table if n_groups == 1 else table.filter(pl.col("stem").hash(_SEED) % n_groups == group)


def _summed(tables: Iterator[pl.DataFrame], rows_at_once: int) -> pl.DataFrame:
    """One row per stem; tables are put together as soon as there are many rows."""
    held: list[pl.DataFrame] = []
    n_rows, known = 0, 0
    for table in tables:
        held.append(table)
        n_rows += len(table)
        if n_rows > max(rows_at_once, 2 * known):
            held = [_sums(held)]
            n_rows = known = len(held[0])
    return _sums(held)


def _sums(tables: list[pl.DataFrame]) -> pl.DataFrame:
    return pl.concat(tables).group_by("stem").agg(pl.sum("total"), pl.sum("documents"))


def _readable(shards: Sequence[Shard], stems: pl.Series, rows_at_once: int) -> list[str]:
    """For each stem the form that occurs most often."""
    columns = pl.DataFrame({"stem": stems, "column": np.arange(len(stems))})
    held: list[pl.DataFrame] = []
    n_rows = 0

    def together() -> pl.DataFrame:
        return pl.concat(held).group_by("column", "word").agg(pl.sum("occurrences"))

    for shard in shards:
        known = shard.table("stems").with_row_index("code").join(columns, on="stem").select("code", "column")
        forms = shard.table("forms").with_columns(pl.col("code").cast(pl.UInt32)).join(known, on="code")
        held.append(forms.select("column", "word", "occurrences"))
        n_rows += len(held[-1])
        if n_rows > rows_at_once:
            held = [together()]
            n_rows = len(held[0])
    ranked = together().sort("column", "occurrences", "word", descending=[False, True, False])
    return ranked.unique("column", keep="first", maintain_order=True)["word"].to_list()
