"""Every word of a text as search counts it: names, numbers and single letters too, no limit of a vocabulary.

A word is found by its stem, as the model's language has it; stop words are words as well, so that phrases hold them.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
import polars as pl

from kate.text.cleaning import LONGEST_WORD, Cleaning
from kate.text.counting import ChunkedTexts, chunk_word_order
from kate.text.own_tokenizer import OwnTokenizer
from kate.text.sequences import Sequences
from kate.text.tokenizer import APOSTROPHES, INVISIBLE, Tokenizer

__all__ = ["SearchTokenizer", "StemCache", "WordSequences", "as_words", "search_tokenizer"]

# 1,000 and 3.14 are one word; apart from that, letters, digits and marks, with apostrophes inside.
_CHUNK = (
    r"\p{Nd}+(?:[.,]\p{Nd}+)+"
    rf"|[\p{{L}}\p{{N}}][\p{{L}}\p{{N}}\p{{M}}·{INVISIBLE}{APOSTROPHES}]*"
)
# Fewer are looked at here, whether there is anything to clean: Polars would take longer to begin.
_FEW_TEXTS = 100
# Chunks of text whose stems are kept in memory: some megabytes.
_CHUNKS_KEPT = 50_000


@dataclass(frozen=True, eq=False)
class SearchTokenizer(Tokenizer):
    """A tokenizer that drops no word.

    >>> SearchTokenizer(stop_words=()).words("The company's 3 offices, 1,000 desks: F-16 in 1990")
    ['the', 'compani', '3', 'offic', '1000', 'desk', 'f', '16', 'in', '1990']
    """

    def cut(self, texts: pl.Series, breaks: bool = False) -> pl.Series:
        """The chunks of every text; what ends a phrase is not asked for here."""
        if isinstance(texts.dtype, pl.List) or self.is_unspaced:
            return super().cut(texts)
        if len(texts) > _FEW_TEXTS or any("<" in text or "&" in text for text in texts):
            texts = self.cleaning.clean_all(texts)
        return texts.str.extract_all(_CHUNK)

    def resolve(self, chunks: pl.Series) -> pl.DataFrame:
        """What chunks stand for: rows (chunk, word, stem); several rows for words joined by apostrophes."""
        table = pl.DataFrame({"word": self.fold(chunks)}).with_row_index("chunk")
        joined = pl.col("word").str.contains("['·]")
        parts = [(chunk, part) for chunk, word in table.filter(joined).rows() for part in self._split(word)]
        split = pl.DataFrame(parts, schema=table.schema, orient="row")
        table = pl.concat([table.filter(~joined), split])
        table = table.with_columns(pl.col("word").str.replace_all(r"(\p{Nd}),", "$1"))
        table = table.filter(
            pl.col("word").str.contains(r"[\p{L}\p{N}]"), pl.col("word").str.len_chars() <= LONGEST_WORD
        )
        return table.with_columns(self.stems(table["word"]).alias("stem"))


def search_tokenizer(tokenizer: Tokenizer) -> Tokenizer:
    """How the words of a model's documents are read for searching; words that the user makes stay as they are."""
    if isinstance(tokenizer, OwnTokenizer):
        return tokenizer
    cleaning = Cleaning(tokenizer.cleaning.strip_html, False, False, False, False)
    return SearchTokenizer(tokenizer.language, tokenizer.stem, (), cleaning)


class WordSequences(NamedTuple):
    """The words of documents in their order, and what the numbers mean."""

    sequences: Sequences
    stems: pl.Series  # in the order of the alphabet: the stem of each number
    readable: pl.Series  # for each stem the form that occurs most often
    # stem, word, n: all forms, the most frequent first; an index keeps none
    forms: pl.DataFrame | None = None

    @classmethod
    def of(cls, texts: pl.Series, tokenizer: Tokenizer, n_jobs: int | None = None) -> WordSequences:
        """All words of all texts.

        >>> words = WordSequences.of(pl.Series(["Gold coins", "a coin"]), SearchTokenizer(stop_words=()))
        >>> words.stems.to_list(), [row.tolist() for row in words.sequences]
        (['a', 'coin', 'gold'], [[2, 1], [0, 1]])
        """
        numbers: dict[str, int] = {}
        parts, forms = [], []
        for part in ChunkedTexts.parts(texts, tokenizer, n_jobs):
            resolved = tokenizer.resolve(part.chunks)
            columns = np.array(
                [numbers.setdefault(stem, len(numbers)) for stem in resolved["stem"].to_list()], np.int32
            )
            shape = (len(part.chunks), len(numbers))
            parts.append(part.sequences(chunk_word_order(resolved["chunk"].to_numpy(), columns, shape)))
            occurrences = pl.Series("n", part.occurrences())
            forms.append(
                resolved.with_columns(occurrences.gather(resolved["chunk"]))
                .group_by("stem", "word")
                .agg(pl.col("n").sum())
            )
        return cls._sorted(Sequences.concatenate(parts, len(numbers)), numbers, forms)

    @classmethod
    def joined(cls, parts: Sequence[WordSequences]) -> WordSequences:
        """The words of all parts of a corpus, in the order of the parts, as if they had been read together.

        >>> tokenizer = SearchTokenizer(stop_words=())
        >>> words = WordSequences.joined([WordSequences.of(pl.Series([text]), tokenizer) for text in ("b a", "c b")])
        >>> words.stems.to_list(), [row.tolist() for row in words.sequences]
        (['a', 'b', 'c'], [[1, 0], [2, 1]])
        """
        numbers: dict[str, int] = {}
        sequences, forms = [], []
        for part in parts:
            of_part = [numbers.setdefault(stem, len(numbers)) for stem in part.stems.to_list()]
            codes = np.array(of_part, np.int32)[part.sequences.codes]
            sequences.append(Sequences(codes, part.sequences.starts, len(numbers)))
            assert part.forms is not None
            forms.append(part.forms)
        return cls._sorted(Sequences.concatenate(sequences, len(numbers)), numbers, forms)

    @classmethod
    def _sorted(
        cls, sequences: Sequences, numbers: dict[str, int], forms: list[pl.DataFrame]
    ) -> WordSequences:
        stems = pl.Series("stem", list(numbers), dtype=pl.String)
        order = stems.arg_sort().to_numpy()
        places = np.empty(len(order), np.int32)
        places[order] = np.arange(len(order), dtype=np.int32)
        stems = stems.gather(order)
        schema = {"stem": pl.String, "word": pl.String, "n": pl.Int64}
        all_forms = (
            pl.concat([pl.DataFrame(schema=schema), *(one.cast(schema) for one in forms)])  # type: ignore[arg-type]
            .group_by("stem", "word")
            .agg(pl.col("n").sum())
            .sort("stem", pl.col("n"), "word", descending=[False, True, False])
        )
        codes = places[sequences.codes] if len(sequences.codes) else sequences.codes
        frequent = all_forms.group_by("stem", maintain_order=True).first()
        readable = frequent["word"].alias("readable")
        return cls(Sequences(codes, sequences.starts, len(stems)), stems, readable, all_forms)

    def lines(self) -> Iterator[str]:
        """The stems of each document with spaces between them, for an index that cuts at white space.

        >>> list(WordSequences.of(pl.Series(["Gold coins"]), SearchTokenizer(stop_words=())).lines())
        ['gold coin']
        """
        stems: list[str] = self.stems.str.replace_all(r"\s", "␣").to_list()
        for row in self.sequences:
            yield " ".join([stems[code] for code in row.tolist()])


def as_words(texts: Sequence[str], tokenizer: Tokenizer) -> list[list[tuple[str, str]]]:
    """The words of some short texts in their order: (as written, in lower case; its stem).

    >>> as_words(["Gold coins", "silver"], SearchTokenizer(stop_words=()))
    [[('gold', 'gold'), ('coins', 'coin')], [('silver', 'silver')]]
    """
    chunks = tokenizer.cut(pl.Series(texts, dtype=pl.String))
    ends = np.cumsum([len(held) for held in chunks])
    resolved = tokenizer.resolve(chunks.explode().drop_nulls()).sort("chunk", maintain_order=True)
    words: list[list[tuple[str, str]]] = [[] for _ in texts]
    for chunk, word, stem in resolved.select("chunk", "word", "stem").iter_rows():
        words[int(np.searchsorted(ends, chunk, side="right"))].append((word, stem))
    return words


class StemCache:
    """The stems of chunks of text, worked out once for each: passages of many hits have the same words."""

    def __init__(self, tokenizer: Tokenizer) -> None:
        self.tokenizer = tokenizer
        self._known: dict[str, tuple[str, ...]] = {}

    def stems_of(self, chunks: Iterable[str]) -> dict[str, tuple[str, ...]]:
        """The stems of each chunk, of which most have one."""
        distinct = set(chunks)
        if new := [chunk for chunk in distinct if chunk not in self._known]:
            if len(self._known) > _CHUNKS_KEPT:
                self._known = {}
                new = list(distinct)
            found: dict[str, list[str]] = {chunk: [] for chunk in new}
            resolved = self.tokenizer.resolve(pl.Series(new, dtype=pl.String))
            for chunk, stem in resolved.select("chunk", "stem").iter_rows():
                found[new[chunk]].append(stem)
            self._known |= {chunk: tuple(stems) for chunk, stems in found.items()}
        return self._known
