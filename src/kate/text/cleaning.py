"""Takes markup, web and e-mail addresses and endless words out of texts, before their words are counted.

Each kind is looked for only in texts that hold its mark ("<", "&", "://", "@"), so that clean texts cost very little.
"""

from __future__ import annotations

import html
import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass, fields, replace

import polars as pl

from kate.errors import quoted
from kate.spelling import did_you_mean

__all__ = ["ENTITY", "LONGEST_WORD", "Cleaning"]

# Elements that people write without attributes and without a slash. Only these are taken for markup when they stand
# alone, so that "x <y> z" of a formula stays as it is.
_ELEMENTS = (
    "a|abbr|article|aside|b|big|blockquote|body|br|button|center|cite|code|dd|del|div|dl|dt|em|figcaption|figure|font|footer|"
    "form|h[1-6]|head|header|hr|html|i|iframe|img|input|ins|label|li|link|main|meta|nav|ol|option|p|pre|q|s|script|section|"
    "select|small|span|strike|strong|style|sub|sup|table|tbody|td|textarea|tfoot|th|thead|title|tr|tt|u|ul|video"
)
_HIDDEN = r"(?is)<!--.*?-->|<script\b.*?</script\s*>|<style\b.*?</style\s*>"
# an element of HTML; or anything with a closing slash or with attributes in quotes
_TAG = (
    rf"(?i)<(?:{_ELEMENTS})(?:\s[^<>]*)?/?>"
    r"|</[a-z][\w:.-]*\s*>|<[a-z][\w:.-]*(?:\s[^<>]*)?/>"
    r"""|<[a-z][\w:.-]*\s[^<>]*=\s*["'][^<>]*>"""
)
ENTITY = r"&(?:#[0-9]{1,7}|#[xX][0-9a-fA-F]{1,6}|[A-Za-z][A-Za-z0-9]{1,31});"
_URL = r"""(?i)\b(?:https?|ftp)://[^\s<>"']+|\bwww\.[\w-]+\.[^\s<>"']+"""
_EMAIL = r"[\w.+-]+@[\w-]+(?:\.[\w-]+)+"
_HANDLE = r"(^|[^\w@.])@\w{2,}"
# The same letter four times or more: "soooo"; no word of any language has as many.
_RUN = re.compile(r"([^\W\d_])\1{3,}")
_ASCII_RUNS = [4 * letter for letter in "abcdefghijklmnopqrstuvwxyz"]
# A longer word is no word: lines of a file in base64, a key, a text without spaces. The index of lance has this limit.
LONGEST_WORD = 60


@dataclass(frozen=True)
class Cleaning:
    """What is taken out of a text before its words are counted; True takes it out.

    strip_html : tags and comments go, "&eacute;" becomes "é"
    strip_urls : addresses of pages
    strip_emails : addresses of people
    strip_handles : "@somebody"
    cut_runs : the same letter four times or more is written twice, "soooo" is "soo"; a word of more than 60 characters
        goes

    >>> Cleaning().clean("<p>Caf&eacute; of bob@example.org<br/>see https://example.org/x for @ann!</p>").split()
    ['Café', 'of', 'see', 'for', '!']
    >>> Cleaning(strip_handles=False).clean("ask @ann").split()
    ['ask', '@ann']
    """

    strip_html: bool = True
    strip_urls: bool = True
    strip_emails: bool = True
    strip_handles: bool = True
    cut_runs: bool = True

    @classmethod
    def off(cls) -> Cleaning:
        """Nothing is taken out.

        >>> Cleaning.off().clean("see https://example.org")
        'see https://example.org'
        """
        return cls(**{field.name: False for field in fields(cls)})

    def clean(self, text: str) -> str:
        """One text without what is to go."""
        return str(self.clean_all(pl.Series([text], dtype=pl.String))[0])

    def clean_all(self, texts: pl.Series) -> pl.Series:
        """The same for many texts at once."""
        if self.strip_html:
            texts = _where(
                texts, ["<"], lambda held: held.str.replace_all(_HIDDEN, " ").str.replace_all(_TAG, " ")
            )
            texts = _where(texts, ["&"], _without_entities)
        if self.strip_urls:
            texts = _where(texts, ["://", "www.", "WWW."], lambda held: held.str.replace_all(_URL, " "))
        if self.strip_emails or self.strip_handles:
            texts = _where(texts, ["@"], self._without_people)
        return texts

    def clean_words(self, words: pl.Series) -> pl.Series:
        """Words (in lower case) with their runs cut; "" for a word that is too long to be one.

        >>> Cleaning().clean_words(pl.Series(["soooo", "ahhhh", "aaa", "x" + 40 * "ab"])).to_list()
        ['soo', 'ahh', 'aaa', '']
        """
        if not self.cut_runs:
            return words
        ascii_only = words.str.len_bytes() == words.str.len_chars()
        rows = (words.str.contains_any(_ASCII_RUNS) | ~ascii_only).arg_true()
        if len(rows):
            cut = [_RUN.sub(r"\1\1", word) for word in words.gather(rows)]
            words = words.scatter(rows, pl.Series(cut, dtype=pl.String))
        too_long = (words.str.len_chars() > LONGEST_WORD).arg_true()
        return words.scatter(too_long, "") if len(too_long) else words

    def config(self) -> dict[str, bool]:
        """The settings as JSON can hold them."""
        return {field.name: getattr(self, field.name) for field in fields(self)}

    @classmethod
    def from_config(cls, config: Mapping[str, bool] | None) -> Cleaning:
        """The settings that ``config`` came from; a vocabulary of Kate 0.1 has none, and nothing was taken out."""
        known = {field.name for field in fields(cls)}
        for name in config or {}:
            if name not in known:
                raise ValueError(
                    f"no kind of cleaning is named {quoted(name)}; {did_you_mean(name, sorted(known))}"
                )
        return replace(cls.off(), **(config or {}))

    def _without_people(self, texts: pl.Series) -> pl.Series:
        if self.strip_emails:
            texts = texts.str.replace_all(_EMAIL, " ")
        return texts.str.replace_all(_HANDLE, "$1 ") if self.strip_handles else texts


def _where(texts: pl.Series, marks: list[str], change: Callable[[pl.Series], pl.Series]) -> pl.Series:
    """Change the texts that hold one of the marks; the others are not touched."""
    marked = texts.str.contains(marks[0], literal=True) if len(marks) == 1 else texts.str.contains_any(marks)
    rows = marked.arg_true()
    if len(rows) == 0:
        return texts
    if len(rows) == len(texts):
        return change(texts)
    return texts.scatter(rows, change(texts.gather(rows)))


def _without_entities(texts: pl.Series) -> pl.Series:
    """Entities as the characters they stand for; few are distinct, so each is looked up once."""
    found = texts.str.extract_all(ENTITY).explode().drop_nulls().unique(maintain_order=True)
    known = {entity: html.unescape(entity) for entity in found}
    return texts.str.replace_many(list(known), list(known.values())) if known else texts
