"""The passage of a text that a hit shows: around the words of the query, which are marked in it."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable
from typing import NamedTuple

import polars as pl

from kate.search.search_words import StemCache
from kate.text.cleaning import Cleaning
from kate.text.tokenizer import Tokenizer

__all__ = ["Passage", "on_one_line", "passages"]

# Characters of a passage, and of what stands before its first match.
_LENGTH = 200
_BEFORE = 40
# Of a text of a million characters the first part is looked at.
_LOOKED_AT = 200_000
# White space; control characters, which could give orders to a terminal; marks that turn the direction of writing.
_TO_SPACE = re.compile(r"[\s\x00-\x1f\x7f-\x9f\u200b\u200e\u200f\u2028-\u202e\u2066-\u2069\ufeff]+")


class Passage(NamedTuple):
    """A line of text, and where the words of the query stand in it."""

    text: str
    marks: tuple[tuple[int, int], ...]


def on_one_line(text: str) -> str:
    """The text on one line, without control characters.

    >>> on_one_line("gold\\n\\tand\\x1b[31m silver")
    'gold and [31m silver'
    """
    return _TO_SPACE.sub(" ", text).strip()


def passages(texts: Iterable[str], wanted: Collection[str], stems: StemCache) -> list[Passage]:
    """The best passage of each text: the one with most different words of the query, given as stems.

    >>> from kate.search.search_words import SearchTokenizer, StemCache
    >>> cache = StemCache(SearchTokenizer(stop_words=()))
    >>> [found] = passages(["Nothing. " * 50 + "A silver coin."], {"silver"}, cache)
    >>> found.text[-22:], [found.text[start:end] for start, end in found.marks]
    ('othing. A silver coin.', ['silver'])
    """
    lines = [on_one_line(_cleaned(text[:_LOOKED_AT], stems.tokenizer)) for text in texts]
    if not lines or not wanted:
        return [_cut(line, []) for line in lines]
    chunks = stems.tokenizer.cut(pl.Series(lines, dtype=pl.String)).to_list()
    known = stems.stems_of(chunk for held in chunks for chunk in held)
    found = []
    for line, held in zip(lines, chunks, strict=True):
        stem_of = {chunk: stem for chunk in held for stem in known[chunk] if stem in wanted}
        found.append(_cut(line, _matches(line, held, stem_of)))
    return found


def _cleaned(text: str, tokenizer: Tokenizer) -> str:
    if not tokenizer.cleaning.strip_html or not ("<" in text or "&" in text):
        return text
    return Cleaning(True, False, False, False, False).clean(text)


def _matches(line: str, chunks: Iterable[str], stem_of: dict[str, str]) -> list[tuple[int, int, str]]:
    """Where the chunks stand that match: start, end, stem."""
    found: list[tuple[int, int, str]] = []
    position = 0
    for chunk in chunks:
        start = line.find(chunk, position)
        if start < 0:  # a tokenizer that changes what it cuts
            continue
        position = start + len(chunk)
        if chunk in stem_of:
            found.append((start, position, stem_of[chunk]))
    return found


def _cut(line: str, matches: list[tuple[int, int, str]]) -> Passage:
    """About 200 characters around the best matches, cut between words."""
    start = _best_start(matches)
    if start > 0:
        # to the beginning of a sentence nearby, or else of a word
        sentence = max(line.rfind(mark, max(0, start - 60), start + 1) for mark in (". ", "! ", "? "))
        start = sentence + 2 if sentence >= 0 else line.find(" ", start) + 1 or start
    if len(line) - start < _LENGTH:
        start = max(0, min(start, _word_start(line, len(line) - _LENGTH)))
    end = min(len(line), start + _LENGTH)
    if end < len(line):
        end = (
            max(line.rfind(" ", start + _LENGTH // 2, end), start + _LENGTH // 2)
            if " " in line[start:end]
            else end
        )
    before, after = ("…" if start > 0 else ""), ("…" if end < len(line) else "")
    shift = len(before) - start
    text = f"{before}{line[start:end].rstrip()}{after}"
    marks = tuple((a + shift, b + shift) for a, b, _ in matches if a >= start and b <= end)
    return Passage(text, marks)


def _best_start(matches: list[tuple[int, int, str]]) -> int:
    """Where the passage begins that holds most different stems, of equals most matches, of equals the first."""
    best, best_start, last = (0, 0), 0, 0
    for first, (start, _, _) in enumerate(matches[:1000]):
        last = max(last, first)
        while last < len(matches) and matches[last][1] <= start + _LENGTH - _BEFORE:
            last += 1
        held = matches[first:last]
        value = (len({stem for _, _, stem in held}), len(held))
        if value > best:
            best, best_start = value, max(0, start - _BEFORE)
    return best_start


def _word_start(line: str, position: int) -> int:
    """The beginning of the next word at or after a position."""
    return 0 if position <= 0 else line.find(" ", position) + 1
