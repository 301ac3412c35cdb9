"""A counted corpus as a folder: corpus.json and arrays; nothing in it can run code when it is read.

Everything is in the arrays, and corpus.json has their checksums: damage is noticed before they are parsed.
arrays.npz is read at once; sequences.npz, the words in their order, only when they are asked for.
"""

from __future__ import annotations

import dataclasses
import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from kate.research.datasets.corpus import Corpus, Labels
from kate.storage.checksums import sha256_of_file
from kate.storage.saving import Arrays
from kate.text.sequences import Sequences
from kate.text.vocabulary import Vocabulary

__all__ = ["MARKER", "DamagedCorpusError", "load_corpus", "save_corpus"]

MARKER = "corpus.json"
CORPUS_FORMAT = 4

_ARRAYS = "arrays.npz"
_SEQUENCES = "sequences.npz"


class DamagedCorpusError(Exception):
    """The folder is damaged, of another format, or made from something else than is asked for."""


def save_corpus(corpus: Corpus, folder: Path, fingerprint: str) -> None:
    """Write ``corpus`` into the empty ``folder``; ``fingerprint`` is a digest of all that it was made from."""
    about = {
        "name": corpus.name,
        "label_kind": corpus.label_kind,
        "classes": list(corpus.classes),
        "description": corpus.description,
        "settings": dict(corpus.settings),
        "vocabulary": corpus.vocabulary.config(),
    }
    arrays: dict[str, Any] = {"train": corpus.train, "validation": corpus.validation, "test": corpus.test}
    arrays |= _pack_strings("about", [json.dumps(about)])
    arrays |= _pack_strings("vocabulary", list(corpus.vocabulary.to_lines()))
    arrays |= _pack_strings("ids", corpus.ids)
    arrays |= _pack_sparse("X", corpus.X)
    arrays |= _pack_labels(corpus)
    if corpus.texts is not None:
        arrays |= _pack_strings("texts", corpus.texts)
    np.savez(folder / _ARRAYS, **arrays)
    if corpus.read_sequences is not None:
        _save_sequences(corpus.sequences, folder / _SEQUENCES)
    header = {
        "format": CORPUS_FORMAT,
        "fingerprint": fingerprint,
        "sha256": sha256_of_file(folder / _ARRAYS),
        "sequences_sha256": None if corpus.read_sequences is None else sha256_of_file(folder / _SEQUENCES),
        "corpus": repr(corpus),
    }
    (folder / MARKER).write_text(json.dumps(header, indent=1, ensure_ascii=False), encoding="utf-8")


def load_corpus(folder: Path, fingerprint: str) -> Corpus:
    """Read a folder that :func:`save_corpus` wrote with the same fingerprint."""
    try:
        header = json.loads((folder / MARKER).read_text(encoding="utf-8"))
        if header["format"] != CORPUS_FORMAT or header["fingerprint"] != fingerprint:
            raise DamagedCorpusError("it was made by another version or from other files")
        if header["sha256"] != sha256_of_file(folder / _ARRAYS):
            raise DamagedCorpusError("its checksum is wrong")
        with np.load(folder / _ARRAYS, allow_pickle=False) as stored:
            corpus = _corpus({name: stored[name] for name in stored.files})
    except (OSError, ValueError, LookupError, TypeError) as error:
        raise DamagedCorpusError(f"it is damaged ({error})") from error
    checksum, n_words = header.get("sequences_sha256"), corpus.n_words
    if checksum is None:
        return corpus
    return dataclasses.replace(
        corpus, read_sequences=lambda: _read_sequences(folder / _SEQUENCES, checksum, n_words)
    )


def _read_sequences(path: Path, checksum: str, n_words: int) -> Sequences:
    if not path.is_file() or sha256_of_file(path) != checksum:
        raise DamagedCorpusError(
            f"{path} is damaged or was replaced meanwhile; delete its folder and load the data set again"
        )
    with np.load(path, allow_pickle=False) as stored:
        codes, lengths = stored["codes"].astype(np.int32), stored["lengths"]
    starts = np.concatenate([np.zeros(1, np.int64), np.cumsum(lengths, dtype=np.int64)])
    return Sequences(codes, starts, n_words)


def _save_sequences(sequences: Sequences, path: Path) -> None:
    np.savez(path, codes=_smallest(sequences.codes), lengths=_smallest(np.diff(sequences.starts)))


def _corpus(arrays: Arrays) -> Corpus:
    about = json.loads(_unpack_strings("about", arrays)[0])
    return Corpus(
        name=about["name"],
        X=_unpack_sparse("X", arrays, np.int32),
        vocabulary=Vocabulary.from_lines(_unpack_strings("vocabulary", arrays), about["vocabulary"]),
        ids=_unpack_strings("ids", arrays),
        labels=_unpack_labels(about["label_kind"], about["classes"], arrays),
        label_kind=about["label_kind"],
        classes=about["classes"],
        train=arrays["train"],
        validation=arrays["validation"],
        test=arrays["test"],
        description=about["description"],
        settings=about["settings"],
        texts=_unpack_strings("texts", arrays) if "texts.bytes" in arrays else None,
    )


def _pack_labels(corpus: Corpus) -> Arrays:
    if isinstance(corpus.labels, sp.csr_array):
        return _pack_sparse("labels", corpus.labels)
    if corpus.label_kind == "number":
        return {"labels": corpus.labels}
    code_of = {name: code for code, name in enumerate(corpus.classes)}
    return {"labels": _smallest(np.array([code_of[name] for name in corpus.labels], dtype=np.int64))}


def _unpack_labels(kind: str, classes: list[str], arrays: Arrays) -> Labels:
    if kind == "sets":
        return _unpack_sparse("labels", arrays, np.int8)
    return arrays["labels"] if kind == "number" else np.array(classes)[arrays["labels"]]


def _pack_sparse(name: str, matrix: sp.csr_array) -> Arrays:
    return {
        f"{name}.shape": np.array(matrix.shape),
        f"{name}.indptr": _smallest(matrix.indptr),
        f"{name}.indices": _smallest(matrix.indices),
        f"{name}.data": _smallest(matrix.data),
    }


def _unpack_sparse(name: str, arrays: Arrays, dtype: type[np.generic]) -> sp.csr_array:
    data, indices, indptr = (arrays[f"{name}.{part}"] for part in ("data", "indices", "indptr"))
    index = np.int32 if data.size <= np.iinfo(np.int32).max else np.int64
    parts = (data.astype(dtype), indices.astype(index), indptr.astype(index))
    matrix = sp.csr_array(parts, shape=tuple(arrays[f"{name}.shape"].tolist()))
    matrix.check_format(full_check=True)
    return matrix


def _smallest(values: NDArray[Any]) -> NDArray[Any]:
    """The same whole numbers in the smallest type: most counts need one byte."""
    return values.astype(np.min_scalar_type(int(values.max(initial=0))))


def _pack_strings(name: str, strings: Sequence[str]) -> Arrays:
    encoded = [string.encode("utf-8", errors="surrogatepass") for string in strings]
    return {
        f"{name}.bytes": np.frombuffer(b"".join(encoded), dtype=np.uint8),
        f"{name}.ends": np.cumsum([len(string) for string in encoded], dtype=np.int64),
    }


def _unpack_strings(name: str, arrays: Arrays) -> list[str]:
    joined, ends = arrays[f"{name}.bytes"].tobytes(), arrays[f"{name}.ends"].tolist()
    starts = [0, *ends[:-1]]
    return [joined[a:b].decode("utf-8", errors="surrogatepass") for a, b in zip(starts, ends, strict=True)]
