"""Words of a query that hardly a document holds, and what may be meant."""

from __future__ import annotations

from kate.errors import quoted
from kate.model.text_answers import UnknownWordError, unknown_word
from kate.search.query import Query
from kate.search.store import DocumentStore, Selection
from kate.spelling import close_names
from kate.text.vocabulary import Vocabulary

__all__ = ["nothing_known", "suggestions_for"]

# Words of a query that get a suggestion, at the most, and words that are looked at.
_SUGGESTED_FOR = 5
_LOOKED_AT = 50
# A rare word is taken for a misspelled one only if it looks much like one of so many frequent words.
_FREQUENT = 20_000
_SURELY_MISSPELLED = 0.88
_RARE = 3


def suggestions_for(
    asked: Query, known: set[str], store: DocumentStore, vocabulary: Vocabulary
) -> dict[str, list[str]]:
    """Words that no document holds, and words of one or two documents that look like a frequent one."""
    close: dict[str, list[str]] = {}
    for stem, word in list(asked.words.items())[:_LOOKED_AT]:
        if len(close) == _SUGGESTED_FOR:
            break
        if stem not in known:
            close[word] = store.suggest(word)
        elif stem not in vocabulary.columns and word.isalpha():
            frequent = _frequent_words_like(word, vocabulary)
            if frequent and len(store.by_words([stem], _RARE, Selection()).ranking.rows) < _RARE:
                close[word] = frequent
    return close


def _frequent_words_like(word: str, vocabulary: Vocabulary) -> list[str]:
    # most of them differ in the first letter or in length: those need not be compared letter by letter
    alike = [
        other
        for other in vocabulary.readable[:_FREQUENT]
        if other[0] == word[0] and abs(len(other) - len(word)) <= 1
    ]
    return close_names(word, alike, cutoff=_SURELY_MISSPELLED)


def nothing_known(
    query: str, suggestions: dict[str, list[str]], vocabulary: Vocabulary, *, by_meaning: bool
) -> UnknownWordError:
    """The error for a query of which no document, or the model, knows a word."""
    if by_meaning:
        return unknown_word(query, vocabulary)
    shown = quoted(query)
    close = list(dict.fromkeys(word for words in suggestions.values() for word in words))
    found = (
        f"{shown} is in no document" if len(query.split()) == 1 else f"no word of {shown} is in a document"
    )
    hint = f"did you mean {', '.join(close[:5])}?" if close else "try another word"
    return UnknownWordError(f"{found}; {hint}")
