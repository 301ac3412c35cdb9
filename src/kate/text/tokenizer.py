"""Text → words: what is a word, which words are dropped, and which stem stands for them.

A text is read in two steps. :meth:`Tokenizer.cut` cuts it into chunks: runs of letters, digits and apostrophes, as the
text has them. A corpus has millions of chunks but few *distinct* ones, so everything else (lower case, Unicode forms,
apostrophes, stop words, stems) is done once for each distinct chunk, by :meth:`Tokenizer.resolve`.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

import polars as pl
import Stemmer

from kate.errors import quoted
from kate.text.cleaning import Cleaning
from kate.text.languages import AUTO, UNSPACED, UNSTEMMED, language_name
from kate.text.segmenters import require_segmenter, segmenter
from kate.text.stopwords import stop_words_of

__all__ = ["APOSTROPHES", "INVISIBLE", "Tokenizer"]

# People write all of these for the apostrophe of "don't"; the first is the one we keep.
APOSTROPHES = "'’‘‛ʼ＇`´"
# Invisible inside a word: soft hyphen, zero-width non-joiner (Persian) and joiner (Indic scripts).
INVISIBLE = "\u00ad\u200c\u200d"
# Also inside a word: digits, and marks, so that "é" is one letter whether it is stored as one code point or two.
# Not the underscore and not ½.
_INSIDE = rf"\p{{M}}\p{{Nd}}·{INVISIBLE}{APOSTROPHES}"
# At least one letter and two characters: the rest would be dropped anyway.
_CHUNK = rf"\p{{L}}[\p{{L}}{_INSIDE}]+|\p{{Nd}}[{_INSIDE}]*\p{{L}}[\p{{L}}{_INSIDE}]*"
# What stands between words but spaces and hyphens, an empty line too: it ends a phrase.
_BREAK = r"[^\s\p{L}\p{Nd}\p{M}'’-]+|\p{Nd}+|\p{L}|\n\s*\n"
# Endings after an apostrophe in English, German and Dutch ("company's", "geht's", "foto's").
_ENDINGS = frozenset({"s", "d", "m", "ll", "ve", "re"})
# Characters that belong to the spelling of one language and separate words in the others.
_SPELLING = {"catalan": "·", "persian": "\u200c"}


@dataclass(frozen=True, eq=False)
class Tokenizer:
    """How a text becomes words: lower case, no digits-only or one-letter words, no stop words, stems.

    Parameters
    ----------
    language : the stemmer and the stop words, by name or ISO code (see :func:`kate.languages`); "porter" is the
        original Porter algorithm with English stop words; None means neither stems nor stop words. "auto" is left to
        the texts that a vocabulary is learned from; alone it reads English.
    stem : False keeps the words as they are.
    stop_words : used instead of the language's list; ``()`` for none.
    cleaning : what is taken out before: markup, addresses, handles, endless words; ``Cleaning.off()`` takes nothing.

    Unicode forms are unified (NFKC: "ﬁ" is "fi", a letter and its accent are one), soft hyphens are removed,
    "company's" is "company", "l'homme" is "homme" ("l" has one letter only), and a contraction such as "don't" is
    one word, in English a stop word. Languages without spaces between words (Chinese, Japanese, Thai) are cut by the
    packages of the extra ``cjk``; they have no stems, and words of a single character count.

    >>> Tokenizer().words("The company's 3 offices in 2024: don't panic!")
    ['compani', 'offic', 'panic']
    >>> Tokenizer().words("<b>Gold</b> prices: https://example.org/gold")
    ['gold', 'price']
    >>> Tokenizer("german").words("Die Straßen sind naß.")
    ['strass', 'nass']
    >>> Tokenizer("zh").words("北京大学的学生")
    ['北京大学', '学生']
    >>> Tokenizer(language=None).words("Don't panic!")
    ["don't", 'panic']
    """

    language: str | None = "english"
    stem: bool = True
    stop_words: Iterable[str] | None = None
    cleaning: Cleaning = field(default_factory=Cleaning)

    def __post_init__(self) -> None:
        if self.language is not None:
            object.__setattr__(self, "language", language_name(str(self.language)))
        if self.is_unspaced:
            require_segmenter(str(self.language))
        if isinstance(self.stop_words, str):
            raise ValueError(
                f"stop_words is the string {quoted(self.stop_words)}; give a list of words, () for none, "
                "or None for the list of the language"
            )
        if self.stop_words is not None:
            given = list(self.stop_words)
            if strange := [word for word in given if not isinstance(word, str)]:
                raise ValueError(
                    f"stop_words holds {quoted(strange[0], 40)} ({type(strange[0]).__name__}); "
                    "every stop word must be a str"
                )
            object.__setattr__(self, "stop_words", tuple(sorted(set(given))))

    @property
    def is_unspaced(self) -> bool:
        """Whether the language is written without spaces between words."""
        return self.language in UNSPACED

    @property
    def has_stems(self) -> bool:
        """Whether words of one stem are counted as one word."""
        return self.stem and self.language is not None and self.language not in UNSPACED | UNSTEMMED

    def words(self, text: str) -> list[str]:
        """The words (stems) of one text in their order, as they are counted.

        >>> Tokenizer("french", stem=False).words("Aujourd’hui, l’école des élèves")
        ['école', 'élèves']
        """
        chunks = self.cut(pl.Series([text], dtype=pl.String)).explode().drop_nulls()
        return self.resolve(chunks).sort("chunk", maintain_order=True)["stem"].to_list()

    def cut(self, texts: pl.Series, breaks: bool = False) -> pl.Series:
        """The chunks of every text, which is cleaned first: a series of lists. A list of words is cut already.

        breaks : also what ends a phrase, such as punctuation; such a chunk holds no word
        """
        if isinstance(texts.dtype, pl.List):
            return texts
        texts = self.cleaning.clean_all(texts)
        if self.is_unspaced:
            words_of = segmenter(str(self.language))
            return pl.Series([words_of(text) for text in texts], dtype=pl.List(pl.String))
        return texts.str.extract_all(f"{_CHUNK}|{_BREAK}" if breaks else _CHUNK)

    def resolve(self, chunks: pl.Series) -> pl.DataFrame:
        """What chunks stand for: rows (chunk: its position, word: as people read it, stem).

        A chunk that is dropped has no row; one of several words joined by apostrophes has several.
        """
        table = pl.DataFrame({"word": self.fold(chunks)}).with_row_index("chunk")
        joined = pl.col("word").str.contains("['·]")
        parts = [(chunk, part) for chunk, word in table.filter(joined).rows() for part in self._split(word)]
        split = pl.DataFrame(parts, schema=table.schema, orient="row")
        table = pl.concat([table.filter(~joined), split])
        table = table.with_columns(self.cleaning.clean_words(table["word"]).alias("word"))
        table = table.filter(
            pl.col("word").str.contains(r"\p{L}"),  # "1" of "1'er"
            # one letter is no word, but one character of a language without spaces is
            (pl.col("word").str.len_bytes() if self.is_unspaced else pl.col("word").str.len_chars()) > 1,
            ~pl.col("word").is_in(list(self.stop_list)),
        )
        return table.with_columns(self.stems(table["word"]).alias("stem"))

    def fold(self, words: pl.Series) -> pl.Series:
        """The same spelling for all forms of a word: lower case, one kind of apostrophe, one Unicode form."""
        words = words.str.replace_all(f"[{APOSTROPHES}]", "'").str.strip_chars_end("'·")
        beyond_ascii = (words.str.len_bytes() != words.str.len_chars()).arg_true()
        if len(beyond_ascii):
            words = words.scatter(beyond_ascii, self._unify(words.gather(beyond_ascii)))
        if self.language == "turkish":  # where I is the capital of the dotless ı
            words = words.str.replace_all("I", "ı", literal=True)
        return words.str.to_lowercase()

    def _unify(self, words: pl.Series) -> pl.Series:
        """One Unicode form, nothing invisible, and no "İ", which lower-casing would spoil."""
        invisible = "".join(set(INVISIBLE) - set(_SPELLING.get(self.language or "", "")))
        return (
            words.str.replace_all(f"[{invisible}]", "")
            .str.normalize("NFKC")
            # an Arabic ligature may stand for a phrase: it stays one word
            .str.replace_all(r"\s", "")
            # to_lowercase would make an i with a second dot of "İ", which nobody types
            .str.replace_all("İ|i\u0307", "i")
        )

    def stems(self, words: pl.Series) -> pl.Series:
        """The stem of each word; the word itself if there are no stems."""
        if not self.has_stems:
            return words
        # A new stemmer each time: threads must not share one, and its cache is slower than stemming.
        return pl.Series(Stemmer.Stemmer(self._read_as, 0).stemWords(words.to_list()), dtype=pl.String)

    @cached_property
    def stop_list(self) -> frozenset[str]:
        """The stop words in force, folded as the words of a text are."""
        return frozenset(self.fold(pl.Series(self._stop_words_in_force, dtype=pl.String)))

    @property
    def _stop_words_in_force(self) -> list[str]:
        if self.stop_words is not None:
            return list(self.stop_words)
        return sorted(stop_words_of(self._read_as)) if self.language is not None else []

    @property
    def _read_as(self) -> str:
        return "english" if self.language == AUTO else str(self.language)

    def __eq__(self, other: object) -> bool:
        """Equal tokenizers make the same words of every text."""
        return isinstance(other, Tokenizer) and self._identity == other._identity

    def __hash__(self) -> int:
        return hash(self._identity)

    @property
    def _identity(self) -> tuple[object, ...]:
        return self.language, self.stem, self.stop_list, self.cleaning

    def config(self) -> dict[str, Any]:
        """What is in force, as JSON can hold it: a saved model must not follow a newer list of stop words.

        >>> Tokenizer.from_config(Tokenizer("porter").config()) == Tokenizer("porter")
        True
        """
        return {
            "language": self.language,
            "stem": self.stem,
            "stop_words": self._stop_words_in_force,
            "cleaning": self.cleaning.config(),
            "stemmer": f"PyStemmer {Stemmer.version()}",
        }

    @classmethod
    def from_config(cls, config: Mapping[str, Any]) -> Tokenizer:
        """The tokenizer that ``config`` came from; Kate 0.1 wrote null for the stop words of the language."""
        cleaning = Cleaning.from_config(config.get("cleaning"))
        return cls(config["language"], config["stem"], config["stop_words"], cleaning)

    def _split(self, word: str) -> list[str]:
        """The words of a folded chunk with an apostrophe or a middle dot inside."""
        pieces = [word] if self.language == "catalan" else word.split("·")
        return [part for piece in pieces for part in self._split_at_apostrophes(piece)]

    def _split_at_apostrophes(self, word: str) -> list[str]:
        """Take endings such as 's off, one after the other, in linear time: a chunk may have a million of them."""
        parts, length = word.split("'"), len(word)
        while len(parts) > 1:
            if self._is_stop_word(parts, length):
                return []
            ending = parts.pop()
            length -= len(ending) + 1
            is_ending = ending in _ENDINGS
            if (is_ending or ending == "t") and self._is_stop_word(parts, length):
                return []
            if ending == "t":  # "don't" where it is no stop word: one word, not the name Don
                return ["'".join([*parts, ending])]
            if not is_ending:
                return [part for part in [*parts, ending] if part]
        return parts

    def _is_stop_word(self, parts: list[str], length: int) -> bool:
        """Whether the parts make a stop word; what is longer than all of them is not put together."""
        return length <= self._longest_stop_word and "'".join(parts) in self.stop_list

    @cached_property
    def _longest_stop_word(self) -> int:
        return max(map(len, self.stop_list), default=0)
