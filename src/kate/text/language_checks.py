"""Whether texts are of the language that they are read as; those without spaces choose their own way of cutting."""

from __future__ import annotations

import logging
import warnings
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from itertools import chain
from typing import NamedTuple

import numpy as np
import numpy.typing as npt
import polars as pl

from kate.text.cleaning import Cleaning
from kate.text.languages import AUTO, guess_language, guess_unspaced, language_of
from kate.text.own_tokenizer import OwnTokenizer
from kate.text.segmenters import SEGMENTERS, require_segmenter
from kate.text.tokenizer import Tokenizer

__all__ = ["AnotherLanguage", "another_language", "tokenizer_for", "warn_of_another_language"]

_logger = logging.getLogger(__name__)

# Distinct words that are looked at: the most frequent are among them, whatever chunks they come from.
_MOST_FREQUENT = 200
# What a language is found from: so many of the first texts, so many characters of each (a page begins with scripts, a
# book with a licence), and so many characters together.
_TEXTS = 200
_OF_A_TEXT = 10_000
_ENOUGH = 500_000


def tokenizer_for(
    batches: Iterable[pl.Series], tokenizer: Tokenizer
) -> tuple[Iterator[pl.Series], Tokenizer]:
    """The batches of a corpus' texts, all of them still, and the tokenizer that their first texts ask for.

    That is one of their language where it was left open, or where they have no spaces; lists of words get one of their
    own. How the texts come in batches makes no difference.
    """
    batches = iter(batches)
    first = _first_batches(batches)
    return chain(first, batches), _tokenizer_for(first, tokenizer)


def _first_batches(batches: Iterator[pl.Series]) -> list[pl.Series]:
    """So many that they hold the texts that are looked at."""
    first: list[pl.Series] = []
    n_texts = n_characters = 0
    for batch in batches:
        first.append(batch)
        if isinstance(batch.dtype, pl.List):
            break
        n_texts += len(batch)
        n_characters += int(batch.str.len_chars().clip(upper_bound=_OF_A_TEXT).sum())
        if n_texts >= _TEXTS or n_characters >= _ENOUGH:
            break
    return first


def _tokenizer_for(first: Sequence[pl.Series], tokenizer: Tokenizer) -> Tokenizer:
    if isinstance(tokenizer, OwnTokenizer):
        return tokenizer
    if first and isinstance(first[0].dtype, pl.List):
        return OwnTokenizer()
    if tokenizer.language is None or tokenizer.is_unspaced:
        return tokenizer
    sample = _sample(first, tokenizer)
    found = guess_unspaced(sample)
    if tokenizer.language == AUTO:
        found = found or language_of(_word_counts(sample))
        if found != "english":
            _logger.info("the texts are read as %s", found.capitalize())
        return replace(tokenizer, language=found)
    if found is None:
        return tokenizer
    require_segmenter(found)
    warnings.warn(
        f"the texts are {found.capitalize()}, which has no spaces between words: {SEGMENTERS[found][0]} cuts them; "
        f"language={found!r} says so without this warning",
        stacklevel=5,
    )
    return replace(tokenizer, language=found)


def _sample(first: Sequence[pl.Series], tokenizer: Tokenizer) -> pl.Series:
    """The beginnings of the first texts, without the markup that a fit takes out too."""
    texts = pl.concat([pl.Series([], dtype=pl.String), *(batch for batch in first if len(batch))]).head(
        _TEXTS
    )
    texts = texts.str.slice(0, _OF_A_TEXT)
    before = texts.str.len_chars().cum_sum().shift(1, fill_value=0)
    return tokenizer.cleaning.clean_all(texts.filter(before < _ENOUGH))


def _word_counts(texts: pl.Series) -> dict[str, int]:
    plain = Tokenizer(None, cleaning=Cleaning.off())
    words = plain.resolve(plain.cut(texts).explode().drop_nulls())["word"]
    return dict(words.value_counts().iter_rows())


def warn_of_another_language(
    words: pl.Series, occurrences: npt.NDArray[np.int64], tokenizer: Tokenizer
) -> None:
    """Say so if the most frequent words are stop words of another language than that of the tokenizer.

    ``words`` are those of the chunks, ``occurrences`` how often each chunk occurs.
    """
    if tokenizer.stop_words is not None:
        return
    found = another_language(words, occurrences, tokenizer)
    if found is not None:
        warnings.warn(
            f"the most frequent words ({found.shown}) are stop words of {found.language.capitalize()}, but the texts "
            f"are read as {str(tokenizer.language).capitalize()}; set language={found.language!r}, or language=None "
            "for neither stems nor stop words",
            stacklevel=4,
        )


class AnotherLanguage(NamedTuple):
    """A language that texts seem to be in, and what speaks for it: their most frequent words."""

    language: str
    words: list[str]

    @property
    def shown(self) -> str:
        return ", ".join(self.words)


def another_language(
    words: pl.Series, occurrences: npt.NDArray[np.int64], tokenizer: Tokenizer
) -> AnotherLanguage | None:
    """The other language whose stop words the most frequent words are; None where nothing speaks for one."""
    if tokenizer.language is None:
        return None
    n = min(_MOST_FREQUENT, len(words))
    top = np.argpartition(-occurrences, n - 1)[:n] if n else np.zeros(0, np.int64)
    table = pl.DataFrame({"word": words.gather(top), "count": occurrences[top]})
    ranked = table.group_by("word").agg(pl.sum("count")).sort("count", "word", descending=[True, False])
    found = guess_language(ranked["word"].to_list(), tokenizer.language)
    return None if found is None else AnotherLanguage(found, ranked["word"].head(5).to_list())
