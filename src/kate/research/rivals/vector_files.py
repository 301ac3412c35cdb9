"""Files of word vectors: word2vec's binary and text formats, GloVe's text, gensim's .kv; read batch by batch."""

from __future__ import annotations

import gzip
from collections.abc import Iterator
from itertools import chain, islice
from pathlib import Path
from typing import IO, cast

import numpy as np
from numpy.typing import NDArray

from kate.errors import quoted

__all__ = ["read_vectors"]

Batch = tuple[list[str], NDArray[np.float32]]

_AT_ONCE = 50_000  # words in a batch
_CHUNK = 1 << 22  # bytes


def read_vectors(path: Path) -> Iterator[Batch]:
    """Words and their vectors (n, n_dimensions), in batches: a file of many gigabytes is never in memory as a whole.

    A first line of two whole numbers is the header of word2vec, followed by text or by binary data; a file without
    such a line is GloVe's.
    """
    if not path.is_file():
        raise FileNotFoundError(f"{path}: no such file of word vectors")
    if path.suffix == ".kv":
        yield from _read_gensim(path)
        return
    with _opened(path) as file:
        first = file.readline()
        header = first.split()
        if len(header) != 2 or not all(number.isdigit() for number in header):
            yield from _read_text(chain([first], file), path, n_dimensions=len(header) - 1)
            return
        n_words, n_dimensions = (int(number) for number in header)
        start = file.read(64 + 32 * n_dimensions)
        if _is_text(start, n_dimensions):
            lines = (start + file.readline()).splitlines(keepends=True)
            yield from _read_text(chain(lines, file), path, n_dimensions)
        else:
            yield from _read_binary(file, start, path, n_words, n_dimensions)


def _opened(path: Path) -> IO[bytes]:
    file = gzip.GzipFile(path) if path.suffix == ".gz" else path.open("rb")
    return cast("IO[bytes]", file)


def _is_text(start: bytes, n_dimensions: int) -> bool:
    try:
        numbers = start.split(b"\n", 1)[0].decode("utf-8").split(" ")[1:]
        return len(numbers) >= min(n_dimensions, 2) and all(float(number) < np.inf for number in numbers[:-1])
    except ValueError:
        return False


def _read_text(lines: Iterator[bytes], path: Path, n_dimensions: int) -> Iterator[Batch]:
    number = 0
    while batch := list(islice(lines, _AT_ONCE)):
        words: list[str] = []
        vectors = np.empty((len(batch), n_dimensions), dtype=np.float32)
        for line in batch:
            # from the right: some words of GloVe hold spaces
            parts = line.rstrip().rsplit(b" ", n_dimensions)
            try:
                vectors[len(words)] = [float(part) for part in parts[1:]]
            except ValueError:
                raise ValueError(
                    f"{path}, line {number + len(words) + 1} of vectors: expected a word and {n_dimensions} numbers, "
                    f"found {quoted(line, 40)}; is it a file of word vectors?"
                ) from None
            words.append(parts[0].decode("utf-8", "replace"))
        number += len(words)
        yield words, vectors


def _read_binary(
    file: IO[bytes], start: bytes, path: Path, n_words: int, n_dimensions: int
) -> Iterator[Batch]:
    """A word, a space, its numbers as 32-bit floats, perhaps an end of line; and so on."""
    size, buffer, at = 4 * n_dimensions, start, 0
    words: list[str] = []
    vectors: list[bytes] = []
    for done in range(n_words):
        space = buffer.find(b" ", at)
        while space < 0 or len(buffer) < space + 1 + size:
            more = file.read(_CHUNK)
            if not more:
                raise ValueError(f"{path} ends after {done:,} of its {n_words:,} words: it is truncated")
            buffer, at = buffer[at:] + more, 0
            space = buffer.find(b" ", at)
        words.append(buffer[at:space].lstrip(b"\n").decode("utf-8", "replace"))
        vectors.append(buffer[space + 1 : space + 1 + size])
        at = space + 1 + size
        if len(words) == _AT_ONCE or done == n_words - 1:
            yield words, np.frombuffer(b"".join(vectors), dtype="<f4").reshape(len(words), n_dimensions)
            words, vectors = [], []


def _read_gensim(path: Path) -> Iterator[Batch]:
    from gensim.models import KeyedVectors

    stored = KeyedVectors.load(str(path), mmap="r")
    for start in range(0, len(stored.index_to_key), _AT_ONCE):
        yield (
            stored.index_to_key[start : start + _AT_ONCE],
            np.asarray(stored.vectors[start : start + _AT_ONCE]),
        )
