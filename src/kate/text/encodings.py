"""What a file's bytes are when they are not in the encoding that was said, and what to do with that file."""

from __future__ import annotations

import codecs
import shlex

from kate.errors import quoted

__all__ = ["SAMPLE_SIZE", "advice_for", "codec_name", "encoding_advice", "mark_of"]

# Bytes of a broken file that are looked at to say what its encoding may be.
SAMPLE_SIZE = 1 << 16
# Marks at the start of a file. UTF-32 comes first: its mark begins with that of UTF-16.
_MARKS = {
    codecs.BOM_UTF32_LE: "utf-32",
    codecs.BOM_UTF32_BE: "utf-32",
    codecs.BOM_UTF16_LE: "utf-16",
    codecs.BOM_UTF16_BE: "utf-16",
    codecs.BOM_UTF8: "utf-8",
}


def encoding_advice(shown: str, content: bytes, encoding: str, among_others: bool) -> str:
    """What to do with a file that is not in the encoding, by what its bytes look like.

    >>> encoding_advice("a.csv", "Zoë – “quoted”".encode("cp1252"), "utf-8", among_others=False)
    "it looks like cp1252: pass encoding='cp1252'"
    >>> encoding_advice("b.txt", "Zoë".encode("cp1252"), "utf-8", among_others=True)
    'this file looks like cp1252, but one encoding holds for all files: iconv -f cp1252 -t utf-8 b.txt makes a copy'
    """
    guess = mark_of(content) or next(
        (
            name
            for name in ("utf-8", "cp1252", "latin-1")
            if name != codec_name(encoding) and _fits(content, name)
        ),
        None,
    )
    return advice_for(shown, guess, among_others)


def advice_for(shown: str, guess: str | None, among_others: bool) -> str:
    """The same for an encoding that was guessed."""
    if guess is None:
        return "find out its encoding" + ("" if among_others else " and pass it (encoding=...)")
    if among_others:
        return (
            f"this file looks like {guess}, but one encoding holds for all files: "
            f"iconv -f {guess} -t utf-8 {shlex.quote(shown)} makes a copy"
        )
    return f"it looks like {guess}: pass encoding={guess!r}"


def mark_of(content: bytes) -> str | None:
    """The encoding that a mark at the start of the bytes names."""
    return next((name for mark, name in _MARKS.items() if content.startswith(mark)), None)


def _fits(content: bytes, encoding: str) -> bool:
    """Whether bytes are text of an encoding. Control characters, which latin-1 has in plenty, are no text."""
    decoder = codecs.getincrementaldecoder(encoding)()
    try:
        # the last character of a sample may be cut
        text = decoder.decode(content[:SAMPLE_SIZE], final=len(content) <= SAMPLE_SIZE)
    except UnicodeDecodeError:
        return False
    return encoding == "latin-1" or not any("\x80" <= character <= "\x9f" for character in text)


def codec_name(encoding: str) -> str:
    """The usual name of a text encoding; Python knows other codecs too, such as hex, which do not give text."""
    try:
        b"a".decode(encoding, "surrogateescape")
        return codecs.lookup(encoding).name
    except UnicodeDecodeError:  # one byte is too few for UTF-16 and UTF-32
        return codecs.lookup(encoding).name
    except (LookupError, ValueError):
        raise ValueError(
            f"unknown encoding {quoted(encoding)}; use a name such as utf-8, latin-1 or cp1252"
        ) from None
