"""Whether texts are of the language that they are read as; those without spaces choose their own way of cutting."""

from __future__ import annotations

import logging
import warnings
from dataclasses import replace
from typing import NamedTuple

import numpy as np
import numpy.typing as npt
import polars as pl

from kate.text.languages import AUTO, guess_language, guess_unspaced, language_of
from kate.text.own_tokenizer import OwnTokenizer
from kate.text.segmenters import SEGMENTERS, require_segmenter
from kate.text.tokenizer import Tokenizer

__all__ = ["AnotherLanguage", "another_language", "tokenizer_for", "warn_of_another_language"]

_logger = logging.getLogger(__name__)

# Distinct words that are looked at: the most frequent are among them, whatever chunks they come from.
_MOST_FREQUENT = 200


def tokenizer_for(texts: pl.Series, tokenizer: Tokenizer) -> Tokenizer:
    """The tokenizer for the first texts of a corpus: of their language where it was left open (or without spaces).

    Lists of words get one of their own.
    """
    if isinstance(tokenizer, OwnTokenizer):
        return tokenizer
    if isinstance(texts.dtype, pl.List):
        return OwnTokenizer()
    if tokenizer.language is None or tokenizer.is_unspaced:
        return tokenizer
    found = guess_unspaced(texts.head(1_000))
    if tokenizer.language == AUTO:
        found = found or language_of(texts.head(1_000))
        if found != "english":
            _logger.info("the texts are read as %s", found.capitalize())
        return replace(tokenizer, language=found)
    if found is None:
        return tokenizer
    require_segmenter(found)
    warnings.warn(
        f"the texts are {found.capitalize()}, which has no spaces between words: {SEGMENTERS[found][0]} cuts them; "
        f"language={found!r} says so without this warning",
        stacklevel=4,
    )
    return replace(tokenizer, language=found)


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
