"""What to read: files, compressed or not, folders and standard input; errors say what is wrong with them."""

from __future__ import annotations

import io
import os
import re
import sys
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, BinaryIO

from kate.text.compressed_files import COMPRESSED, borrowed, decompressed
from kate.text.encodings import SAMPLE_SIZE, advice_for, codec_name, encoding_advice, mark_of

__all__ = [
    "Source",
    "broken_bytes",
    "list_sources",
    "printable",
    "read_text",
    "text_lines",
]

PathLike = str | os.PathLike[str]

STDIN = "-"
_FORMAT_OF = {
    ".jsonl": "jsonl",
    ".ndjson": "jsonl",
    ".csv": "csv",
    ".tsv": "tsv",
    ".tab": "tsv",
    ".parquet": "parquet",
    ".pq": "parquet",
    ".txt": "txt",
    ".text": "txt",
}
FORMATS = ("jsonl", "csv", "tsv", "parquet", "txt")
# Bytes that show whether a file is text.
_START = 1 << 13
_KNOWN_STARTS = {
    b"\x1f\x8b": "it is gzip-compressed: let its name end in .gz",
    b"\x28\xb5\x2f\xfd": "it is zstd-compressed: let its name end in .zst",
    b"PAR1": "it is a Parquet file: pass format='parquet' or let its name end in .parquet",
    b"PK\x03\x04": "it is a zip archive: unpack it first",
    b"%PDF": "it is a PDF: extract its text first",
}
# The error handler "surrogateescape" turns bytes that are not in the encoding into these.
_BROKEN = re.compile("[\ud800-\udfff]")


@dataclass(frozen=True)
class Source:
    """One thing to read; messages show ``shown``, and ids of documents without an id are made of ``name``."""

    path: Path
    format: str  # one of FORMATS, or "folder"
    name: str
    stdin: BinaryIO | None = None
    # whether other files are read with the same encoding: advice about this one must not spoil them
    among_others: bool = False

    @property
    def shown(self) -> str:
        return "standard input" if self.stdin else str(self.path)

    @property
    def compression(self) -> str | None:
        suffix = self.path.suffix.lower()
        return suffix if suffix in COMPRESSED else None

    @contextmanager
    def open(self) -> Iterator[io.BufferedReader]:
        """The bytes, decompressed; an error while reading says what is damaged."""
        if self.stdin is not None:
            yield borrowed(self.stdin)
            return
        with decompressed(self.path) as stream:
            yield stream


def list_sources(
    paths: PathLike | Sequence[PathLike], given_format: str | None, stdin: BinaryIO | None = None
) -> list[Source]:
    """The files, folders or standard input that the paths name, each with its format and a name of its own."""
    if given_format is not None and given_format not in FORMATS:
        raise ValueError(f"unknown format {given_format!r}; choose one of {', '.join(FORMATS)}")
    given = _listed_paths(paths)
    if not given:
        raise ValueError("no files to read; give at least one path")
    texts = [os.fspath(path) for path in given]
    for text in texts:
        if texts.count(text) > 1:
            raise ValueError(f"{text} is given twice; every document would be there twice")
    stems = [_stem(Path(text)) for text in texts]
    names = [printable(name) for name in (stems if len(set(stems)) == len(stems) else texts)]
    if len(texts) == 1 and Path(texts[0]).is_dir():
        # ids of a single folder are the paths inside it
        names = [""]
    sources = [_source(text, given_format, name, stdin) for text, name in zip(texts, names, strict=True)]
    return [replace(source, among_others=len(sources) > 1) for source in sources]


def _listed_paths(paths: PathLike | Sequence[PathLike]) -> list[PathLike]:
    if isinstance(paths, str | os.PathLike):
        return [paths]
    given: Any = paths
    if isinstance(given, bytes) or not isinstance(given, Iterable):
        kind = type(given).__name__
        raise TypeError(f"expected a path or a list of paths, got {repr(given)[:40]} ({kind})")
    return list(given)


def printable(name: str) -> str:
    """A file name as valid Unicode: bytes that are not UTF-8 are written as escapes.

    >>> printable("caf\\udce9.txt")
    'caf\\\\udce9.txt'
    """
    return name.encode("utf-8", "backslashreplace").decode("utf-8")


def _source(text: str, given_format: str | None, name: str, stdin: BinaryIO | None) -> Source:
    path = Path(text)
    if text == STDIN:
        if given_format is None or given_format == "parquet":
            raise ValueError(
                "standard input has no extension to tell its format; pass format='jsonl' or format='txt'"
            )
        return Source(path, given_format, "stdin", stdin or sys.stdin.buffer)
    if not text or not path.exists():
        raise FileNotFoundError(f"{text or 'the empty path'!s} does not exist; check the name and the folder")
    if path.is_dir():
        if given_format is not None:
            raise IsADirectoryError(
                f"{path} is a folder, and format={given_format!r} needs a file; name the files in it, "
                "or leave the format out to read a folder of text files"
            )
        return Source(path, "folder", name)
    return Source(path, given_format or _format_of(path), name)


def _stem(path: Path) -> str:
    bare = path.with_suffix("") if path.suffix.lower() in COMPRESSED else path
    return bare.stem if bare.suffix.lower() in _FORMAT_OF else bare.name


def _format_of(path: Path) -> str:
    bare = path.with_suffix("") if path.suffix.lower() in COMPRESSED else path
    if bare.suffix.lower() in _FORMAT_OF:
        return _FORMAT_OF[bare.suffix.lower()]
    found = f"the extension {bare.suffix!r}" if bare.suffix else "no extension"
    raise ValueError(
        f"{path} has {found}, which does not tell the format; pass format= one of {', '.join(FORMATS)}, or use a name "
        f"that ends in {', '.join(_FORMAT_OF)} (and .gz or .zst)"
    )


def text_lines(source: Source, encoding: str, newline: str | None = None) -> Iterator[str]:
    """The lines of a text file with their line ends.

    Bytes that are not in the encoding are left for :func:`broken_bytes` to find, so that the error names the line.
    """
    codec = "utf-8-sig" if codec_name(encoding) == "utf-8" else encoding
    with source.open() as stream:
        _require_text(stream.peek(_START)[:_START], encoding, source.shown, source.among_others)
        try:
            lines = io.TextIOWrapper(stream, codec, "surrogateescape", newline)
            try:
                yield from lines
            finally:
                # it may be closed already
                with suppress(ValueError):
                    lines.detach()
        except UnicodeDecodeError as error:
            advice = encoding_advice(source.shown, _sample(source), encoding, source.among_others)
            raise ValueError(f"{source.shown} is not {encoding} ({error}); {advice}") from None


def _require_text(start: bytes, encoding: str, shown: str, among_others: bool) -> None:
    """Refuse binary data: text has no NUL bytes unless its characters are 2 or 4 bytes wide."""
    hint = next((hint for magic, hint in _KNOWN_STARTS.items() if start.startswith(magic)), None)
    wide = codec_name(encoding).startswith(("utf-16", "utf-32"))
    if not wide and (mark := mark_of(start)) not in (None, "utf-8"):
        raise ValueError(f"{shown} is not {encoding}; {advice_for(shown, str(mark), among_others)}")
    if hint or (b"\0" in start and not wide):
        raise ValueError(
            f"{shown} is binary, not text; " + (hint or "give a text file, or pass its encoding=")
        )


def _sample(source: Source) -> bytes:
    """The start of a file once more; nothing where it cannot be read twice."""
    if source.stdin is not None:
        return b""
    with source.open() as stream:
        return stream.read(SAMPLE_SIZE)


def broken_bytes(text: str, encoding: str, source: Source | None = None) -> str | None:
    """What is wrong with the bytes that a text came from; None if nothing is."""
    if text.isascii() or not (found := _BROKEN.search(text)):
        return None
    code = ord(found.group())
    if 0xDC80 <= code <= 0xDCFF:
        # the broken line tells as much as the file, which may be long
        content = text.encode("utf-8" if codec_name(encoding) == "utf-8" else encoding, "surrogateescape")
        shown, among_others = (source.shown, source.among_others) if source else ("the file", False)
        advice = encoding_advice(shown, content, encoding, among_others)
        return f"byte 0x{code & 0xFF:02x} is not {encoding}; {advice}"
    return f"\\u{code:04x} is half a character, not valid Unicode"


def read_text(path: Path, encoding: str) -> str:
    """The text of a whole file; a ValueError says why it cannot be read."""
    with decompressed(path) as stream:
        content = stream.read()
    # a folder has other files
    _require_text(content[:_START], encoding, str(path), among_others=True)
    codec = "utf-8-sig" if codec_name(encoding) == "utf-8" else encoding
    try:
        return content.decode(codec)
    except UnicodeDecodeError as error:
        line = content.count(b"\n", 0, error.start) + 1
        advice = encoding_advice(str(path), content, encoding, among_others=True)
        raise ValueError(
            f"line {line}: byte 0x{content[error.start]:02x} is not {encoding}; {advice}"
        ) from None
