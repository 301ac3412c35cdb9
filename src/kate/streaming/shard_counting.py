"""Texts → shards, in memory that does not grow with the corpus.

A shard numbers its words by itself. Its tables say what the numbers mean: ``stems`` (stem, total, documents), one row
for each number, and ``forms`` (code, word, occurrences), the words as people write them.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import polars as pl
from scipy.sparse import csr_matrix

from kate.streaming.shard_files import Shard, write_shard
from kate.text.counting import ChunkedTexts, chunk_word_counts, factorize
from kate.text.language_checks import warn_of_another_language
from kate.text.text_batches import text_batches
from kate.text.tokenizer import Tokenizer

__all__ = ["CountedTexts", "count_into_shards", "count_texts", "cut_into_parts", "shard_name"]


class CountedTexts(NamedTuple):
    """The counts of some texts (n_docs, n_stems), and their words."""

    counts: csr_matrix
    stems: pl.DataFrame  # stem, total, documents: one row per column
    forms: pl.DataFrame  # code, word, occurrences

    def write(self, path: Path, first_document: int, facts: Mapping[str, Any] | None = None) -> Shard:
        """As a shard; ``facts`` are what else is to be known of it."""
        tables = {"stems": self.stems, "forms": self.forms}
        facts = {"first_document": first_document, **(facts or {})}
        return write_shard(path, self.counts, tables, facts, seed=(first_document,))


def count_texts(texts: pl.Series, tokenizer: Tokenizer, n_jobs: int | None = None) -> CountedTexts:
    """Count the words of texts, all of them.

    >>> counted = count_texts(pl.Series(["Two companies", "the company"]), Tokenizer())
    >>> counted.stems.sort("stem").rows()
    [('compani', 2, 2), ('two', 1, 1)]
    """
    read = ChunkedTexts.of_batches(text_batches(texts), tokenizer, n_jobs)
    resolved = tokenizer.resolve(read.chunks)
    chunks = resolved["chunk"].to_numpy()
    occurrences = read.occurrences()[chunks]
    codes, stems = factorize(resolved["stem"])
    counts = read.count(chunk_word_counts(chunks, codes, (len(read.chunks), len(stems))), n_jobs)
    table = pl.DataFrame(
        {
            "stem": stems,
            "total": np.bincount(codes, occurrences, len(stems)).astype(np.int64),
            "documents": np.bincount(counts.indices, minlength=len(stems)).astype(np.int64),
        }
    )
    forms = (
        pl.DataFrame({"code": codes, "word": resolved["word"], "occurrences": occurrences})
        .group_by("code", "word")
        .agg(pl.sum("occurrences"))
    )
    return CountedTexts(csr_matrix(counts), table, forms)


def cut_into_parts(texts: Iterable[pl.Series], n_characters: int) -> Iterator[pl.Series]:
    """Series of texts, put together or cut to so many characters each at most; one document may be longer.

    Where a part ends follows from the documents since the last end alone: whoever begins again there gets the same
    parts.

    >>> [part.to_list() for part in cut_into_parts([pl.Series(["one", "two"]), pl.Series(["three"] * 3)], 8)]
    [['one', 'two'], ['three'], ['three'], ['three']]
    """
    held: list[pl.Series] = []
    size = 0
    for some in texts:
        for batch in text_batches(some, n_characters):
            ends = _lengths(batch).cum_sum().to_numpy()
            first = 0
            while first < len(batch):
                before = int(ends[first - 1]) if first else 0
                stop = int(np.searchsorted(ends, before + n_characters - size, side="right"))
                if stop <= first and not held:
                    stop = first + 1
                if stop > first:
                    held.append(batch.slice(first, stop - first))
                    size += int(ends[stop - 1]) - before
                    first = stop
                if first < len(batch):
                    yield pl.concat(held)
                    held, size = [], 0
    if held:
        yield pl.concat(held)


def _lengths(batch: pl.Series) -> pl.Series:
    """Characters of each document; a word of a list is taken for eight."""
    return batch.list.len() * 8 if isinstance(batch.dtype, pl.List) else batch.str.len_bytes()


def count_into_shards(
    parts: Iterable[pl.Series],
    folder: Path,
    tokenizer: Tokenizer,
    *,
    n_jobs: int | None = None,
    first: tuple[int, int] = (0, 0),
    facts: Callable[[int], Mapping[str, Any]] = lambda n_documents: {},
) -> Iterator[Shard]:
    """A shard for each part of the texts, written before it is given.

    first : the number of the first shard, and of its first document, where others are there already
    facts : what else is to be known of a shard, by how many documents there are with those of the shard
    """
    number, n_documents = first
    for part in parts:
        counted = count_texts(part, tokenizer, n_jobs)
        if number == 0:
            by_form = counted.forms
            warn_of_another_language(by_form["word"], by_form["occurrences"].to_numpy(), tokenizer)
        first_document, n_documents = n_documents, n_documents + len(part)
        yield counted.write(folder / shard_name(number), first_document, facts(n_documents))
        number += 1


def shard_name(number: int) -> str:
    return f"{number:06d}.shard"
