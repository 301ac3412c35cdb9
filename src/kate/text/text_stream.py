"""Texts that are read once, a piece at a time: for corpora that are larger than memory."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence, Sized
from itertools import islice
from typing import Any, Protocol

import polars as pl

from kate.text.compressed_files import COMPRESSED
from kate.text.corpus_batches import CorpusBatches, read_tables, require_some
from kate.text.documents import Documents
from kate.text.file_rows import MalformedRows
from kate.text.input_files import InputFile, LocalFile, Source
from kate.text.text_batches import text_batches

__all__ = ["FileTexts", "GivenTexts", "TextStream", "stream_of"]

# Text shrinks to a third of its size where it is compressed, about.
_EXPANSION = 3


class TextStream(Protocol):
    """Texts in their order, from one place or several, that can be read again from any document on."""

    @property
    def identity(self) -> Mapping[str, Any]:
        """What tells these texts from others, as JSON can hold it."""

    @property
    def ends(self) -> Sequence[int]:
        """Of the places that were read to their end: the number of documents up to there."""

    def texts(self, n_places: int = 0, n_before: int = 0, n_documents: int = 0) -> Iterator[pl.Series]:
        """The texts after the first ``n_documents``, of which the first places hold ``n_before``."""

    def share_read(self, n_documents: int) -> float:
        """About how much of it all has been read; 0 where that is not known."""


class GivenTexts:
    """Texts that the caller has; an iterator is read once.

    >>> given = GivenTexts(["gold", "silver", "peace"])
    >>> [some.to_list() for some in given.texts(n_documents=1)]
    [['silver', 'peace']]
    """

    def __init__(self, texts: Iterable[str] | Iterable[Sequence[str]] | pl.Series) -> None:
        self._texts = texts
        self.ends: list[int] = []

    @property
    def identity(self) -> Mapping[str, Any]:
        return {"given": "texts of the caller"}

    def texts(self, n_places: int = 0, n_before: int = 0, n_documents: int = 0) -> Iterator[pl.Series]:
        if isinstance(self._texts, pl.Series):
            return text_batches(self._texts.slice(n_documents))
        return text_batches(islice(self._texts, n_documents, None) if n_documents else self._texts)

    def share_read(self, n_documents: int) -> float:
        total = len(self._texts) if isinstance(self._texts, Sized) else 0
        return n_documents / total if total else 0.0


class FileTexts:
    """The texts of the files of :func:`kate.iter_corpus`; other columns are passed over.

    Attributes
    ----------
    n_skipped, skipped : malformed rows that were left out since the reading began, and the messages about the first.
    """

    def __init__(self, batches: CorpusBatches) -> None:
        self._sources, self._rules = list(batches.sources), batches.rules
        self._malformed = MalformedRows(self._rules.on_error)
        self.ends: list[int] = []

    @property
    def identity(self) -> Mapping[str, Any]:
        asked, encoding, on_error, _ = self._rules
        reading = {"encoding": encoding, "on_error": on_error, "text": asked.text}
        files = {source.shown: _state(source) for source in self._sources}
        return {"files": files, "formats": [source.format for source in self._sources], "reading": reading}

    def texts(self, n_places: int = 0, n_before: int = 0, n_documents: int = 0) -> Iterator[pl.Series]:
        total = n_before
        self._malformed = MalformedRows(self._rules.on_error)
        # of places that were read before this process began only the last end matters
        self.ends = [n_before] * n_places
        if (meter := self._sources[0].meter) is not None:
            meter.done = sum(_size(source) for source in self._sources[:n_places])
        for source in self._sources[n_places:]:
            for table in read_tables([source], self._rules, self._malformed):
                total += len(table)
                new = min(len(table), total - n_documents)
                if new > 0:
                    yield table["text"].tail(new)
            self.ends.append(total)
        require_some(total, self._sources, self._malformed)

    def share_read(self, n_documents: int) -> float:
        meter = self._sources[0].meter
        return (meter.share if meter is not None else None) or 0.0

    @property
    def can_be_read_again(self) -> bool:
        """Standard input cannot."""
        return all(source.stdin is None for source in self._sources)

    @property
    def n_characters(self) -> int:
        """About how much text there is, from the sizes of the files; 0 for standard input."""
        return sum(_size(source) * (_EXPANSION if _is_packed(source) else 1) for source in self._sources)

    @property
    def n_skipped(self) -> int:
        return self._malformed.count

    @property
    def skipped(self) -> tuple[str, ...]:
        return tuple(self._malformed.messages)


def _files(source: Source) -> list[InputFile]:
    return [file for _, file in source.texts] + ([] if source.file is None else [source.file])


def _size(source: Source) -> int:
    return sum(file.size or 0 for file in _files(source))


def _is_packed(source: Source) -> bool:
    return source.format == "parquet" or any(
        file.path.suffix.lower() in COMPRESSED for file in _files(source)[:1]
    )


def _state(source: Source) -> list[int]:
    """What changes when the files of a source do: how many, their size, and the time of the newest where it is told."""
    files = _files(source)
    times = [file.path.stat().st_mtime_ns for file in files if isinstance(file, LocalFile)]
    return [len(files), _size(source), max(times, default=0)]


def stream_of(texts: Any) -> TextStream:
    """Texts of any kind as a stream."""
    if isinstance(texts, CorpusBatches):
        return FileTexts(texts)
    if isinstance(texts, FileTexts | GivenTexts):
        return texts
    return GivenTexts(texts.texts if isinstance(texts, Documents) else texts)
