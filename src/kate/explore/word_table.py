"""The words of a page: those that the model knows, all others of the documents, and the forms of each.

A form is a word as it stands in the texts, in lower case. The page looks forms up in this table, so that every word of
the documents has exactly the stem that Python gave it; only a form that no document has is stemmed in the page.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from html import unescape
from typing import Any

import numpy as np
import polars as pl
from numpy.typing import NDArray
from scipy import sparse

from kate.search.search_words import WordSequences
from kate.text.cleaning import ENTITY
from kate.text.own_tokenizer import OwnTokenizer
from kate.text.tokenizer import Tokenizer
from kate.text.vocabulary import Vocabulary

__all__ = ["PAGE_STEMMERS", "WordTable", "entities_of", "reading_notes", "token_settings"]

Numbers = NDArray[np.int64]

# Languages that Snowball's JavaScript stems in a page (page/stemming.js). Those that it lacks are looked up alone.
_STEMMED = """
arabic armenian basque catalan danish dutch dutch_porter english esperanto estonian finnish french german greek hindi
hungarian indonesian irish italian lithuanian nepali norwegian porter portuguese romanian russian serbian spanish
swedish tamil turkish yiddish
"""
PAGE_STEMMERS = frozenset(_STEMMED.split())


@dataclass(frozen=True, eq=False)
class WordTable:
    """Words by number: the columns of the model first, then all other words of the documents, by the alphabet.

    stems : (n_words,)
    forms : for each word its forms, the most frequent first; that of a phrase or of a word that no document has is the
        model's
    of_search : (n_search_words,), the number of each word of the documents
    n_columns : words that the model knows
    """

    stems: list[str]
    forms: list[list[str]]
    of_search: Numbers
    n_columns: int

    @classmethod
    def of(cls, vocabulary: Vocabulary, words: WordSequences) -> WordTable:
        """The words of a model and of documents together.

        >>> vocabulary, _ = Vocabulary.learn(["gold coins", "gold"])
        >>> words = WordSequences.of(pl.Series(["A gold coin of 1792", "Coins"]), Tokenizer(stop_words=()))
        >>> table = WordTable.of(vocabulary, words)
        >>> table.stems, table.forms[1], table.of_search.tolist()
        (['gold', 'coin', 'of'], ['coin', 'coins'], [1, 0, 2])
        """
        columns = vocabulary.columns
        found = words.stems.to_list()
        new = {
            stem: number for number, stem in enumerate((s for s in found if s not in columns), len(columns))
        }
        of_search = np.array([columns[s] if s in columns else new[s] for s in found], dtype=np.int64)
        stems = [*vocabulary.words, *new]
        assert words.forms is not None
        grouped = words.forms.group_by("stem", maintain_order=True).agg("word")
        forms: list[list[str]] = [[readable] for readable in vocabulary.readable] + [[] for _ in new]
        by_stem = dict(zip(grouped["stem"].to_list(), grouped["word"].to_list(), strict=True))
        for number, stem in zip(of_search.tolist(), found, strict=True):
            forms[number] = by_stem[stem]
        return cls(stems, forms, of_search, len(columns))

    def __len__(self) -> int:
        return len(self.stems)

    def counts(self, words: WordSequences) -> sparse.csc_array:
        """How often each document holds each word (n_docs, n_words)."""
        found = sparse.coo_array(words.sequences.counts())
        columns = self.of_search[found.col] if len(self.of_search) else found.col
        shape = (found.shape[0], len(self))
        return sparse.csc_array(sparse.coo_array((found.data, (found.row, columns)), shape=shape))

    def to_text(self) -> str:
        """A line for each word: its stem, or nothing if that is its first form; then its forms, between tabs."""
        return "\n".join(
            "\t".join(["" if forms and forms[0] == stem else stem, *forms])
            for stem, forms in zip(self.stems, self.forms, strict=True)
        )


def token_settings(tokenizer: Tokenizer) -> dict[str, Any]:
    """How the page is to find words: all that the tokenizer of the model is set to.

    kind : "letters" as Kate reads texts, "spaces" where words stand between spaces, "forms" where only a program that
        is not in the page can find them, and those of the table are looked for in texts
    """
    if isinstance(tokenizer, OwnTokenizer):
        kind = "spaces" if tokenizer.function is None and tokenizer.name is None else "forms"
    else:
        kind = "forms" if tokenizer.is_unspaced else "letters"
    stems = tokenizer.language if kind == "letters" and tokenizer.has_stems else None
    return {
        "kind": kind,
        "language": tokenizer.language,
        "stemmer": stems if stems in PAGE_STEMMERS else None,
        "unspaced": tokenizer.is_unspaced,
        "stop_words": sorted(tokenizer.stop_list),
        "cleaning": tokenizer.cleaning.config(),
    }


def reading_notes(tokenizer: Tokenizer) -> list[str]:
    """What users of the page should know of the way it reads words."""
    settings, notes = token_settings(tokenizer), []
    language = str(tokenizer.language).capitalize()
    if settings["kind"] == "forms":
        reader = (
            f"{language} has no spaces between words, and the program that finds them"
            if tokenizer.is_unspaced
            else "The function that makes words of these texts"
        )
        notes.append(
            f"{reader} is not in this page: the words of a query are looked for among those of the documents, the "
            "longest first."
        )
    elif settings["stemmer"] is None and tokenizer.has_stems:
        notes.append(
            f"This page has no stemmer for {language}: it knows every form of a word that stands in a document, and no "
            "others."
        )
    return notes


def entities_of(texts: Sequence[pl.Series]) -> Mapping[str, str]:
    """The entities that stand in texts, such as &eacute;, and what they stand for.

    >>> entities_of([pl.Series(["caf&eacute; &amp; bar", "plain"])])
    {'&amp;': '&', '&eacute;': 'é'}
    """
    found: set[str] = set()
    for series in texts:
        with_mark = series.filter(series.str.contains("&", literal=True))
        found.update(with_mark.str.extract_all(ENTITY).explode().drop_nulls().unique().to_list())
    return {entity: unescape(entity) for entity in sorted(found)}
