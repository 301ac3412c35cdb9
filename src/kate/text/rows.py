"""Rows: the documents of text files and folders one by one, each with its place, malformed ones reported."""

from __future__ import annotations

import csv
import json
import sys
from collections import Counter
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any, Literal, NamedTuple

from kate.text.sources import Source, broken_bytes, read_text, text_lines

__all__ = ["Complaints", "MalformedRowError", "OnError", "Row", "file_rows", "folder_rows"]

OnError = Literal["raise", "skip"]

_MESSAGES_KEPT = 10
# Files of a folder that are taken for text: by extension, or without one (as in 20 Newsgroups).
_TEXT_SUFFIXES = {"", ".txt", ".text", ".md", ".rst"}


class MalformedRowError(ValueError):
    """A row that is not a document; the message names the file and the line."""


class Row(NamedTuple):
    place: str  # file and line, for people
    id: str  # the id of a document that brings none
    values: Mapping[str, Any]


class Complaints:
    """Malformed rows: the first is an error, or all are counted and the first few kept."""

    def __init__(self, on_error: OnError) -> None:
        if on_error not in {"raise", "skip"}:
            raise ValueError(f"on_error is {on_error!r}; choose 'raise' or 'skip'")
        self._on_error = on_error
        self.count = 0
        self.messages: list[str] = []

    def add(self, place: str, problem: str) -> None:
        if self._on_error == "raise":
            raise MalformedRowError(f"{place}: {problem} (on_error='skip' leaves such rows out)")
        self.count += 1
        if len(self.messages) < _MESSAGES_KEPT:
            self.messages.append(f"{place}: {problem}")


def file_rows(source: Source, encoding: str, complaints: Complaints) -> Iterator[Row]:
    """The rows of a .jsonl, .csv, .tsv or .txt file."""
    if source.format in {"csv", "tsv"}:
        return _csv_rows(source, encoding, complaints)
    return _line_rows(source, encoding, complaints)


def _line_rows(source: Source, encoding: str, complaints: Complaints) -> Iterator[Row]:
    for number, line in enumerate(text_lines(source, encoding), 1):
        if not line.strip():
            continue
        place = f"{source.shown}, line {number}"
        if problem := broken_bytes(line, encoding):
            complaints.add(place, problem)
            continue
        if source.format == "txt":
            yield Row(place, f"{source.name}:{number}", {"text": line.rstrip("\n")})
            continue
        values, problem = _json_object(line)
        if problem:
            complaints.add(place, problem)
        else:
            yield Row(place, f"{source.name}:{number}", values)


def _json_object(line: str) -> tuple[dict[str, Any], str | None]:
    """The object on a line, and what is wrong with it."""
    found = f"found {line.strip()[:40]!r}; expected one JSON object a line"
    try:
        values = json.loads(line)
    except (ValueError, RecursionError) as error:
        return {}, f"not JSON ({error}), {found}"
    if not isinstance(values, dict):
        return {}, f"not a JSON object, {found}"
    if "\\u" in line:  # an escape may be half a character
        strings = (text for text in values.values() if isinstance(text, str))
        return values, next(filter(None, (broken_bytes(text, "Unicode") for text in strings)), None)
    return values, None


def _csv_rows(source: Source, encoding: str, complaints: Complaints) -> Iterator[Row]:
    with _fields_of_any_size():
        lines = text_lines(source, encoding, newline="")
        reader = csv.reader(lines, delimiter="\t" if source.format == "tsv" else ",", strict=True)
        header: list[str] | None = None
        while True:
            number = reader.line_num + 1  # where the row begins: quoted fields may span lines
            place = f"{source.shown}, line {number}"
            try:
                cells = next(reader)
            except StopIteration:
                return
            except csv.Error as error:
                ends = "unexpected end" in str(error)
                complaints.add(
                    place, "a quote is opened and never closed" if ends else f"bad quoting ({error})"
                )
                continue
            if not cells:
                continue
            if problem := next(filter(None, (broken_bytes(cell, encoding) for cell in cells)), None):
                complaints.add(place, problem)
            elif header is None:
                header = cells
            elif len(cells) != len(header):
                complaints.add(place, f"{len(cells)} fields where the header has {len(header)}")
            else:
                # reversed: of two columns with one name the first wins
                values = dict(zip(reversed(header), reversed(cells), strict=True))
                yield Row(place, f"{source.name}:{number}", {name: values[name] for name in header})


@contextmanager
def _fields_of_any_size() -> Iterator[None]:
    """The csv module refuses fields of more than 128 kB, and a document may be longer."""
    limit = csv.field_size_limit(sys.maxsize)
    try:
        yield
    finally:
        csv.field_size_limit(limit)


def folder_rows(source: Source, encoding: str, complaints: Complaints) -> Iterator[Row]:
    """A document a file: the id is its path in the folder, the label the sub-folder it lies in."""
    files = sorted(
        path for path in source.path.rglob("*") if path.is_file() and not _is_hidden(path, source.path)
    )
    texts = [path for path in files if _is_text_name(path)]
    if not texts:
        kinds = Counter(path.suffix or "no extension" for path in files)
        found = ", ".join(f"{n} x {kind}" for kind, n in kinds.most_common(5)) or "nothing"
        raise ValueError(
            f"{source.path} is a folder with no text files in it (found {found}); expected files that end in "
            ".txt; to read data files, name them instead of the folder"
        )
    for path in texts:
        relative = path.relative_to(source.path)
        try:
            text = read_text(path, encoding)
        except ValueError as error:
            complaints.add(str(path), str(error).removeprefix(f"{path} "))
            continue
        label = relative.parent.as_posix()
        values = {"text": text, "label": None if label == "." else label}
        name = relative.as_posix()
        yield Row(str(path), f"{source.name}/{name}" if source.name else name, values)


def _is_hidden(path: Path, folder: Path) -> bool:
    return any(part.startswith(".") for part in path.relative_to(folder).parts)


def _is_text_name(path: Path) -> bool:
    bare = path.with_suffix("") if path.suffix.lower() in {".gz", ".zst"} else path
    return bare.suffix.lower() in _TEXT_SUFFIXES or bare.suffix[1:].isdecimal()
