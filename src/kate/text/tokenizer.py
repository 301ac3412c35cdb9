"""Words: what counts as one, which are dropped, and what stem stands for them.

A text is read in two steps. :meth:`Tokenizer.cut` cuts it into chunks, runs of letters, digits and apostrophes
as they stand in the text. A corpus has millions of chunks but few *distinct* ones, so everything else (lower
case, Unicode forms, apostrophes, stop words, stems) is done once for each distinct chunk, by
:meth:`Tokenizer.resolve`.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import polars as pl
import Stemmer

from kate.text.stopwords import stop_words_of

__all__ = ["Tokenizer", "languages"]

# People write all of these for the apostrophe of "don't"; the first is the one we keep.
_APOSTROPHES = "'’‘‛ʼ＇`´"
# Invisible inside a word: soft hyphen, zero-width non-joiner (Persian) and joiner (Indic scripts).
_INVISIBLE = "\u00ad\u200c\u200d"
# What else is inside a word: digits, and marks, so that "é" is one letter whether it is stored as one code
# point or as two. Neither the underscore nor ½.
_INSIDE = rf"\p{{M}}\p{{Nd}}·{_INVISIBLE}{_APOSTROPHES}"
# At least one letter and two characters: what will be dropped anyway is best not cut out in the first place.
_CHUNK = rf"\p{{L}}[\p{{L}}{_INSIDE}]+|\p{{Nd}}[{_INSIDE}]*\p{{L}}[\p{{L}}{_INSIDE}]*"
# What English, German or Dutch hang on to a word by an apostrophe ("company's", "geht's", "foto's").
_ENDINGS = frozenset({"s", "d", "m", "ll", "ve", "re"})
# Characters that belong to the spelling of one language and separate words in the others.
_SPELLING = {"catalan": "·", "persian": "\u200c"}


def languages() -> list[str]:
    """The languages (stemming algorithms) to choose from.

    >>> {"english", "porter", "german", "turkish"} <= set(languages())
    True
    """
    return sorted(Stemmer.algorithms())


@dataclass(frozen=True)
class Tokenizer:
    """How a text becomes words: lower case, no digits-only or one-letter words, no stop words, stems.

    Parameters
    ----------
    language : the stemmer and the stop words (see :func:`languages`); "porter" is the original Porter
        algorithm with English stop words; None means neither stems nor stop words.
    stem : False keeps the words as they are.
    stop_words : takes the place of the language's list; ``()`` for none.

    Unicode forms are unified (NFKC: "ﬁ" is "fi", a letter and its accent are one), soft hyphens vanish,
    "company's" is "company", "l'homme" is "homme" ("l" has one letter), and a contraction such as "don't" is
    one word, in English a stop word. Scripts that put no spaces between words (Chinese, Japanese, Thai) need
    a segmenter beforehand.

    >>> Tokenizer().words("The company's 3 offices in 2024: don't panic!")
    ['compani', 'offic', 'panic']
    >>> Tokenizer("german").words("Die Straßen sind naß.")
    ['strass', 'nass']
    >>> Tokenizer(language=None).words("Don't panic!")
    ["don't", 'panic']
    """

    language: str | None = "english"
    stem: bool = True
    stop_words: Iterable[str] | None = None

    def __post_init__(self) -> None:
        if self.language is not None and self.language not in Stemmer.algorithms():
            raise ValueError(
                f"no stemmer for language {self.language!r}; choose one of {', '.join(languages())}, "
                "or None for neither stems nor stop words"
            )
        if isinstance(self.stop_words, str):
            raise ValueError(
                f"stop_words is the string {self.stop_words!r}; give a list of words, () for none, "
                "or None for the list of the language"
            )
        if self.stop_words is not None:
            object.__setattr__(self, "stop_words", tuple(sorted(set(self.stop_words))))

    def words(self, text: str) -> list[str]:
        """The words (stems) of one text in their order: what counting counts.

        >>> Tokenizer("french", stem=False).words("Aujourd’hui, l’école des élèves")
        ['école', 'élèves']
        """
        chunks = self.cut(pl.Series([text], dtype=pl.String)).explode().drop_nulls()
        return self.resolve(chunks).sort("chunk", maintain_order=True)["stem"].to_list()

    def cut(self, texts: pl.Series) -> pl.Series:
        """The chunks of every text: a series of lists."""
        return texts.str.extract_all(_CHUNK)

    def resolve(self, chunks: pl.Series) -> pl.DataFrame:
        """What chunks stand for: rows (chunk: its position, word: as people read it, stem).

        A chunk has no row when it is dropped, and several when apostrophes join several words.
        """
        table = pl.DataFrame({"word": self.fold(chunks)}).with_row_index("chunk")
        joined = pl.col("word").str.contains("['·]")
        parts = [(chunk, part) for chunk, word in table.filter(joined).rows() for part in self._split(word)]
        split = pl.DataFrame(parts, schema=table.schema, orient="row")
        table = pl.concat([table.filter(~joined), split])
        table = table.filter(
            pl.col("word").str.contains(r"\p{L}"),  # "1" of "1'er"
            pl.col("word").str.len_chars() > 1,
            ~pl.col("word").is_in(list(self.stop_list)),
        )
        return table.with_columns(self._stems(table["word"]).alias("stem"))

    def fold(self, words: pl.Series) -> pl.Series:
        """One spelling for the many of a word: lower case, one apostrophe, one Unicode form."""
        words = words.str.replace_all(f"[{_APOSTROPHES}]", "'").str.strip_chars_end("'·")
        beyond_ascii = (words.str.len_bytes() != words.str.len_chars()).arg_true()
        if len(beyond_ascii):
            words = words.scatter(beyond_ascii, self._unify(words.gather(beyond_ascii)))
        if self.language == "turkish":  # where I is the capital of the dotless ı
            words = words.str.replace_all("I", "ı", literal=True)
        return words.str.to_lowercase()

    def _unify(self, words: pl.Series) -> pl.Series:
        """One Unicode form, nothing invisible; the capital that lower-casing spoils made small."""
        invisible = "".join(set(_INVISIBLE) - set(_SPELLING.get(self.language or "", "")))
        return (
            words.str.replace_all(f"[{invisible}]", "")
            .str.normalize("NFKC")
            .str.replace_all(r"\s", "")  # an Arabic ligature may stand for a phrase: one word stays one
            # to_lowercase would give "İ" an i with a second dot, which nobody types
            .str.replace_all("İ|i\u0307", "i")
        )

    @cached_property
    def stop_list(self) -> frozenset[str]:
        """The stop words in force, folded as the words of a text are."""
        if self.stop_words is not None:
            given: Iterable[str] = self.stop_words
        else:
            given = stop_words_of(self.language) if self.language is not None else ()
        return frozenset(self.fold(pl.Series(sorted(given), dtype=pl.String)))

    def config(self) -> dict[str, Any]:
        """The settings as JSON can hold them.

        >>> Tokenizer.from_config(Tokenizer("porter").config()) == Tokenizer("porter")
        True
        """
        stop_words = None if self.stop_words is None else list(self.stop_words)
        return {"language": self.language, "stem": self.stem, "stop_words": stop_words}

    @classmethod
    def from_config(cls, config: Mapping[str, Any]) -> Tokenizer:
        return cls(config["language"], config["stem"], config["stop_words"])

    def _split(self, word: str) -> list[str]:
        """The words of a folded chunk with an apostrophe or a middle dot inside."""
        if "·" in word and self.language != "catalan":
            return [part for piece in word.split("·") for part in self._split(piece)]
        head, apostrophe, ending = word.rpartition("'")
        if not apostrophe:
            return [word]
        if word in self.stop_list or (head in self.stop_list and ending in {"t", *_ENDINGS}):
            return []
        if ending in _ENDINGS:
            return self._split(head)
        if ending == "t":  # "don't" where it is no stop word: one word, not the name Don
            return [word]
        return [part for part in word.split("'") if part]

    def _stems(self, words: pl.Series) -> pl.Series:
        if self.language is None or not self.stem:
            return words
        # A new stemmer each time: it must not be shared between threads; its cache is slower than stemming.
        return pl.Series(Stemmer.Stemmer(self.language, 0).stemWords(words.to_list()), dtype=pl.String)
