"""The bytes and lines of what is read: files here or elsewhere, compressed or not, folders, standard input."""

from __future__ import annotations

import io
import re
from collections.abc import Iterator
from contextlib import AbstractContextManager, contextmanager, nullcontext, suppress
from dataclasses import dataclass
from pathlib import Path, PurePath
from typing import BinaryIO, Protocol

from kate.text.compressed_files import COMPRESSED, CorpusError, InputMeter, decompressed
from kate.text.dataset_columns import DatasetColumns, Partition
from kate.text.encodings import SAMPLE_SIZE, advice_for, codec_name, encoding_advice, mark_of

__all__ = ["InputFile", "LocalFile", "Source", "broken_bytes", "printable", "read_text", "text_lines"]

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


class InputFile(Protocol):
    """One file, here or elsewhere."""

    @property
    def shown(self) -> str:
        """Its name in messages."""
        ...

    @property
    def path(self) -> PurePath:
        """Its path, for the endings of its name."""
        ...

    @property
    def size(self) -> int | None:
        """In bytes, where that is known."""
        ...

    def open(self) -> BinaryIO:
        """Its bytes as they are."""
        ...

    def local(self) -> AbstractContextManager[Path]:
        """The file on a disk of this machine, for as long as it is needed."""
        ...


@dataclass(frozen=True)
class LocalFile:
    """A file of this machine."""

    path: Path

    @property
    def shown(self) -> str:
        return str(self.path)

    @property
    def size(self) -> int | None:
        return self.path.stat().st_size

    def open(self) -> BinaryIO:
        return self.path.open("rb", buffering=0)

    def local(self) -> AbstractContextManager[Path]:
        return nullcontext(self.path)


@dataclass(frozen=True)
class Source:
    """One thing to read; messages show ``shown``, and ids of documents without an id are made of ``name``."""

    shown: str
    format: str  # jsonl, csv, tsv, parquet, txt, or "folder"
    name: str
    file: InputFile | None = None
    stdin: BinaryIO | None = None
    # the texts of a folder: their paths in it, and the files
    texts: tuple[tuple[str, InputFile], ...] = ()
    # of a Parquet file: the first row and how many; None is all
    rows: tuple[int, int] | None = None
    # whether other files are read with the same encoding: advice about this one must not spoil them
    among_others: bool = False
    # of a Parquet dataset: what the names of its folders say, and the columns that all its files have
    partitions: tuple[Partition, ...] = ()
    dataset: DatasetColumns | None = None
    meter: InputMeter | None = None

    @contextmanager
    def open(self) -> Iterator[io.BufferedReader]:
        """The bytes, decompressed; an error while reading says what is damaged."""
        if self.stdin is not None:
            with decompressed(self.stdin, None, self.shown, None, self.meter) as stream:
                yield stream
            return
        with opened(self.given_file, self.meter) as stream:
            yield stream

    @property
    def given_file(self) -> InputFile:
        """The file of a source that is one."""
        if self.file is None:
            raise TypeError(f"{self.shown} is no file")
        return self.file


@contextmanager
def opened(file: InputFile, meter: InputMeter | None = None) -> Iterator[io.BufferedReader]:
    """The bytes of a file, decompressed if its name says that it is compressed."""
    suffix = file.path.suffix.lower()
    compression = suffix if suffix in COMPRESSED else None
    with file.open() as raw, decompressed(raw, compression, file.shown, file.size, meter) as stream:
        yield stream


def printable(name: str) -> str:
    """A file name as valid Unicode: bytes that are not UTF-8 are written as escapes.

    >>> printable("caf\\udce9.txt")
    'caf\\\\udce9.txt'
    """
    return name.encode("utf-8", "backslashreplace").decode("utf-8")


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
        except UnicodeError as error:  # UTF-16 without its mark is no UnicodeDecodeError
            advice = encoding_advice(source.shown, _sample(source), encoding, source.among_others)
            raise CorpusError(f"{source.shown} is not {encoding} ({error}); {advice}") from None


def _require_text(start: bytes, encoding: str, shown: str, among_others: bool) -> None:
    """Refuse binary data: text has no NUL bytes unless its characters are 2 or 4 bytes wide."""
    hint = next((hint for magic, hint in _KNOWN_STARTS.items() if start.startswith(magic)), None)
    wide = codec_name(encoding).startswith(("utf-16", "utf-32"))
    if not wide and (mark := mark_of(start)) not in (None, "utf-8"):
        raise CorpusError(f"{shown} is not {encoding}; {advice_for(shown, str(mark), among_others)}")
    if hint or (b"\0" in start and not wide):
        raise CorpusError(
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
        shown, among_others = (source.shown, source.among_others) if source else ("the file", False)
        try:
            content = text.encode("utf-8" if codec_name(encoding) == "utf-8" else encoding, "surrogateescape")
            advice = encoding_advice(shown, content, encoding, among_others)
        except UnicodeEncodeError:  # UTF-16 and UTF-32 cannot give the byte back
            advice = advice_for(shown, None, among_others)
        return f"byte 0x{code & 0xFF:02x} is not {encoding}; {advice}"
    return f"\\u{code:04x} is half a character, not valid Unicode"


def read_text(file: InputFile, encoding: str, meter: InputMeter | None = None) -> str:
    """The text of a whole file; a ValueError says why it cannot be read."""
    with opened(file, meter) as stream:
        content = stream.read()
    # a folder has other files
    _require_text(content[:_START], encoding, file.shown, among_others=True)
    codec = "utf-8-sig" if codec_name(encoding) == "utf-8" else encoding
    try:
        return content.decode(codec)
    except UnicodeDecodeError as error:
        line = content.count(b"\n", 0, error.start) + 1
        advice = encoding_advice(file.shown, content, encoding, among_others=True)
        raise CorpusError(
            f"line {line}: byte 0x{content[error.start]:02x} is not {encoding}; {advice}"
        ) from None
    except UnicodeError as error:  # UTF-16 without its mark
        advice = encoding_advice(file.shown, content, encoding, among_others=True)
        raise CorpusError(f"it is not {encoding} ({error}); {advice}") from None
