"""Text files and folders → rows, one per document, with the file and line it comes from; malformed ones reported."""

from __future__ import annotations

import csv
import json
import sys
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from itertools import chain, count
from pathlib import PurePosixPath
from typing import Any, Literal, NamedTuple

from kate.errors import quoted
from kate.text.compressed_files import CorpusError
from kate.text.input_files import Source, broken_bytes, printable, read_text, text_lines

__all__ = ["MalformedRowError", "MalformedRows", "OnError", "Row", "file_rows", "folder_rows"]

OnError = Literal["raise", "skip"]

_MESSAGES_KEPT = 10


class MalformedRowError(CorpusError):
    """A row that is not a document; the message names the file and the line.

    >>> import io, kate
    >>> rows = b'{"text": "a treaty"}\\n{"text": broken\\n'
    >>> try:
    ...     kate.read_corpus("-", stdin=io.BytesIO(rows), format="jsonl")
    ... except kate.MalformedRowError as error:
    ...     print("line 2" in str(error))
    True
    >>> len(kate.read_corpus("-", stdin=io.BytesIO(rows), format="jsonl", on_error="skip"))
    1
    """


class Row(NamedTuple):
    """One document: where it comes from (for messages), an id if it brings none, and its fields."""

    place: str
    id: str
    values: Mapping[str, Any]


class MalformedRows:
    """What to do with malformed rows: stop at the first, or count them and keep the first few messages."""

    def __init__(self, on_error: OnError) -> None:
        if on_error not in {"raise", "skip"}:
            raise ValueError(f"on_error is {quoted(on_error)}; choose 'raise' or 'skip'")
        self._on_error = on_error
        self.count = 0
        self.messages: list[str] = []

    def add(self, place: str, problem: str) -> None:
        if self._on_error == "raise":
            raise MalformedRowError(f"{place}: {problem} (on_error='skip' leaves such rows out)")
        self.count += 1
        if len(self.messages) < _MESSAGES_KEPT:
            self.messages.append(f"{place}: {problem}")


def file_rows(source: Source, encoding: str, malformed: MalformedRows) -> Iterator[Row]:
    """The rows of a .jsonl, .csv, .tsv or .txt file."""
    if source.format in {"csv", "tsv"}:
        return _csv_rows(source, encoding, malformed)
    return _line_rows(source, encoding, malformed)


def _line_rows(source: Source, encoding: str, malformed: MalformedRows) -> Iterator[Row]:
    for number, line in enumerate(text_lines(source, encoding), 1):
        if not line.strip():
            continue
        place = f"{source.shown}, line {number}"
        if problem := broken_bytes(line, encoding, source):
            malformed.add(place, problem)
            continue
        if source.format == "txt":
            yield Row(place, f"{source.name}:{number}", {"text": line.rstrip("\n")})
            continue
        values, problem = _json_object(line)
        if problem:
            malformed.add(place, problem)
        else:
            yield Row(place, f"{source.name}:{number}", values)


def _json_object(line: str) -> tuple[dict[str, Any], str | None]:
    """The object on a line, and what is wrong with it (None if nothing is)."""
    found = f"found {quoted(line.strip(), 40)}; expected one JSON object per line"
    try:
        values = json.loads(line)
    except (ValueError, RecursionError) as error:
        return {}, f"not JSON ({error}), {found}"
    if not isinstance(values, dict):
        return {}, f"not a JSON object, {found}"
    # an escape such as \ud800 is half a character
    if "\\u" in line:
        strings = (text for text in [*values, *values.values()] if isinstance(text, str))
        return values, next(filter(None, (broken_bytes(text, "Unicode") for text in strings)), None)
    return values, None


def _csv_rows(source: Source, encoding: str, malformed: MalformedRows) -> Iterator[Row]:
    with _fields_of_any_size():
        lines = text_lines(source, encoding, newline="")
        reader = csv.reader(lines, delimiter="\t" if source.format == "tsv" else ",", strict=True)
        header: list[str] | None = None
        while True:
            # where the row begins: a quoted field may have several lines
            number = reader.line_num + 1
            place = f"{source.shown}, line {number}"
            try:
                cells = next(reader)
            except StopIteration:
                return
            except csv.Error as error:
                ends = "unexpected end" in str(error)
                malformed.add(
                    place, "a quote is opened and never closed" if ends else f"bad quoting ({error})"
                )
                continue
            if not cells:
                continue
            if problem := next(filter(None, (broken_bytes(cell, encoding, source) for cell in cells)), None):
                malformed.add(place, problem)
            elif header is None:
                header = _distinct(cells)
            elif len(cells) != len(header):
                malformed.add(place, f"{len(cells)} fields where the header has {len(header)}")
            else:
                yield Row(place, f"{source.name}:{number}", dict(zip(header, cells, strict=True)))


def _distinct(names: list[str]) -> list[str]:
    """The names of columns; the second of two that are the same gets a number.

    >>> _distinct(["text", "note", "note"])
    ['text', 'note', 'note_2']
    """
    found: list[str] = []
    for name in names:
        ways = chain([name], (f"{name}_{number}" for number in count(2)))
        found.append(next(way for way in ways if way not in found and (way == name or way not in names)))
    return found


@contextmanager
def _fields_of_any_size() -> Iterator[None]:
    """Lift the csv module's limit of 128 kB per field: a document may be longer."""
    limit = csv.field_size_limit(sys.maxsize)
    try:
        yield
    finally:
        csv.field_size_limit(limit)


def folder_rows(source: Source, encoding: str, malformed: MalformedRows) -> Iterator[Row]:
    """One document per file: its id is its path in the folder, its label the sub-folder that it is in."""
    for relative, file in source.texts:
        try:
            text = read_text(file, encoding, source.meter)
        except ValueError as error:
            malformed.add(file.shown, str(error).removeprefix(f"{file.shown} "))
            continue
        label = printable(PurePosixPath(relative).parent.as_posix())
        values = {"text": text, "label": None if label == "." else label}
        name = printable(relative)
        yield Row(file.shown, f"{source.name}/{name}" if source.name else name, values)
