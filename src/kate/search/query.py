"""What a query asks for: words, "phrases" that must occur, and -words and -"phrases" that must not."""

from __future__ import annotations

import re
from dataclasses import dataclass

from kate.errors import KateError, quoted
from kate.search.search_words import as_words
from kate.text.tokenizer import Tokenizer

__all__ = ["Query", "QueryError"]

_QUOTES = str.maketrans("“”„‟«»＂", '"""""""')
# a phrase or a word, with a minus before it that stands at the start or after a space
_PART = re.compile(r'(?P<minus>(?:(?<=\s)|^)-(?=\S))?(?:"(?P<phrase>[^"]*)"|(?P<word>[^\s"]+))')

Stems = tuple[str, ...]


class QueryError(KateError, ValueError):
    """A query that asks for nothing, or that cannot be read.

    >>> import kate
    >>> index = kate.Index.build(kate.TextModel(2, max_epochs=1).fit(["a treaty", "gold"] * 5), ["a treaty", "gold"])
    >>> try:
    ...     index.search("-gold")
    ... except kate.QueryError as error:
    ...     print(error)
    '-gold' says only what to leave out; give some words to look for as well
    """


@dataclass(frozen=True)
class Query:
    """A query that was read.

    Attributes
    ----------
    text : what is asked for, without the rest: what the meaning is made of
    words : stem → the word as it was written, of words and phrases; stop words only where there is nothing else
    phrases : stems that must stand side by side
    without : stems, or phrases of them, that must not occur
    joined : words that were written as one, such as F-16: a phrase, if any document has it

    Examples
    --------
    >>> from kate.search.search_words import SearchTokenizer
    >>> query = Query.read('gold "prime minister" -silver', SearchTokenizer(stop_words=()), frozenset())
    >>> query.words, query.phrases, query.without
    ({'gold': 'gold', 'prime': 'prime', 'minist': 'minister'}, (('prime', 'minist'),), (('silver',),))
    """

    text: str
    words: dict[str, str]
    phrases: tuple[Stems, ...] = ()
    without: tuple[Stems, ...] = ()
    joined: tuple[Stems, ...] = ()

    @classmethod
    def read(cls, query: str, tokenizer: Tokenizer, stop_words: frozenset[str]) -> Query:
        """Read a query; ``tokenizer`` as the documents were read with."""
        # an argument of the shell may hold bytes that are not UTF-8
        given = query.encode("utf-8", "replace").decode("utf-8").translate(_QUOTES)
        if not given.strip():
            raise QueryError("the query is empty; give some words to look for")
        if given.count('"') % 2:
            raise QueryError(
                f'{quoted(query)} has a " without its partner; close the phrase, or leave it out'
            )
        parts = list(_PART.finditer(given))
        contents = [part["word"] if part["phrase"] is None else part["phrase"] for part in parts]
        asked: list[str] = []
        words: list[tuple[str, str]] = []
        phrases: list[Stems] = []
        joined: list[Stems] = []
        without: list[Stems] = []
        for part, content, found in zip(parts, contents, as_words(contents, tokenizer), strict=True):
            stems = tuple(stem for _, stem in found)
            if part["minus"]:
                without += [stems] if stems else []
                continue
            asked.append(content)
            words += found
            if part["phrase"] is not None:
                phrases += [stems] if stems else []
            elif len(stems) > 1:
                joined.append(stems)
        if not words:
            raise QueryError(
                f"{quoted(query)} says only what to leave out; give some words to look for as well"
                if without
                else f"{quoted(query)} has no word; give letters or numbers to look for"
            )
        told = {stem: word for word, stem in reversed(words) if word not in stop_words}
        told = told or {stem: word for word, stem in reversed(words)}
        return cls(
            " ".join(asked), dict(reversed(told.items())), tuple(phrases), tuple(without), tuple(joined)
        )
