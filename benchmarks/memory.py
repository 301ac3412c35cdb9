"""Memory of training and encoding on a matrix of RCV1's shape: 554,414 documents, 5,000 words, about 75 words each.

    python benchmarks/memory.py [--documents 554414] [--epochs 1]
    python benchmarks/memory.py --huge            # more than 2^31 entries instead; wants about 60 GiB of memory

Prints one JSON line, in GiB: the size of the matrix, the most memory that was used besides it while KATE trained, and
while it encoded all documents (without their vectors). The matrix is made one block at a time, so that making it leaves
no peak. With ``--huge`` the line also says whether the last documents, which 32-bit indices cannot reach, get the same
vectors as by themselves (experiments/memory_huge.jsonl).
"""

from __future__ import annotations

import argparse
import json
import os
import threading
import time
from collections.abc import Callable
from typing import Any

import numpy as np
from scipy.sparse import csr_matrix

from kate import KATE

GIB = 2**30
BLOCK = 10_000
TOKENS = 83  # of which about 75 are different words
N_WORDS, N_TOPICS = 5_000, 128
HUGE_DOCUMENTS, HUGE_LENGTH, HUGE_TOPICS = 2_160_000, 1_000, 32  # 2.16e9 entries, above 2^31 = 2.15e9
N_LAST = 1_000


def make_counts(n_documents: int) -> csr_matrix:
    """Word counts of documents whose words follow a Zipf-like law, int32 as Kate's own counting gives them."""
    rng = np.random.default_rng(0)
    chances = np.cumsum(1 / (np.arange(N_WORDS) + 10.0))
    chances /= chances[-1]
    # memory that is never written to is not used
    indices, data = (np.empty(n_documents * TOKENS, np.int32) for _ in range(2))
    indptr = np.zeros(n_documents + 1, np.int64)
    for start in range(0, n_documents, BLOCK):
        n = min(BLOCK, n_documents - start)
        words = np.sort(np.searchsorted(chances, rng.random((n, TOKENS))).astype(np.int32), axis=1)
        is_new = np.ones(words.shape, bool)
        is_new[:, 1:] = words[:, 1:] != words[:, :-1]
        first, where = indptr[start], np.flatnonzero(is_new)
        indices[first : first + where.size] = words.ravel()[where]
        data[first : first + where.size] = np.diff(np.append(where, words.size))
        indptr[start + 1 : start + n + 1] = first + np.cumsum(is_new.sum(axis=1))
    nnz = int(indptr[-1])
    return csr_matrix((data[:nnz], indices[:nnz], indptr.astype(np.int32)), shape=(n_documents, N_WORDS))


def make_huge_counts(n_documents: int, length: int) -> csr_matrix:
    """``length`` words per document, one from each band of neighbouring words; 64-bit indices where they are needed."""
    rng = np.random.default_rng(0)
    width = N_WORDS // length
    kind = np.int64 if n_documents * length > np.iinfo(np.int32).max else np.int32
    indices, data = np.empty((n_documents, length), kind), np.empty((n_documents, length), np.uint8)
    bands = np.arange(length) * width
    for start in range(0, n_documents, BLOCK):
        rows = slice(start, min(start + BLOCK, n_documents))
        shape = indices[rows].shape
        np.add(bands, rng.integers(0, width, shape, np.uint8), out=indices[rows], casting="unsafe")
        data[rows] = rng.integers(1, 4, shape, np.uint8)
    indptr = np.arange(0, (n_documents + 1) * length, length, dtype=kind)
    return csr_matrix((data.ravel(), indices.ravel(), indptr), shape=(n_documents, N_WORDS))


def resident() -> int:
    with open("/proc/self/statm") as file:  # noqa: PTH123  # read a hundred times a second
        return int(file.read().split()[1]) * os.sysconf("SC_PAGE_SIZE")


def peak_while(run: Callable[[], Any]) -> tuple[Any, int, float]:
    """What ``run`` returns, how many more bytes than before were in use at the most, and its seconds."""
    before, highest, is_done = resident(), [0], threading.Event()

    def watch() -> None:
        while not is_done.wait(0.01):
            highest[0] = max(highest[0], resident())

    watcher = threading.Thread(target=watch, daemon=True)
    start = time.perf_counter()
    watcher.start()
    result = run()
    seconds = time.perf_counter() - start
    is_done.set()
    watcher.join()
    return result, max(highest[0], resident()) - before, seconds


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--documents", type=int, default=554_414)
    parser.add_argument("--epochs", type=int, default=1)
    parser.add_argument("--huge", action="store_true", help="more entries than 32-bit indices can count")
    arguments = parser.parse_args()
    # before the first measurement: imports and compiled code do not count
    KATE(16, max_epochs=1, device="cpu").fit(make_counts(50))
    X = make_huge_counts(HUGE_DOCUMENTS, HUGE_LENGTH) if arguments.huge else make_counts(arguments.documents)
    n_components = HUGE_TOPICS if arguments.huge else N_TOPICS
    model = KATE(n_components, max_epochs=arguments.epochs, batch_size=200, random_state=0, device="cpu")
    _, training, training_seconds = peak_while(lambda: model.fit(X))
    vectors, encoding, encoding_seconds = peak_while(lambda: model.transform(X))
    size = X.data.nbytes + X.indices.nbytes + X.indptr.nbytes
    row = {
        "benchmark": "memory",
        "documents": X.shape[0],
        "words": X.shape[1],
        "words_a_document": round(X.nnz / X.shape[0], 1),
        "epochs": arguments.epochs,
        "matrix_gib": round(size / GIB, 2),
        "training_on_top_gib": round(training / GIB, 2),
        "encoding_on_top_gib": round((encoding - vectors.nbytes) / GIB, 2),
        "training_seconds": round(training_seconds, 1),
        "encoding_seconds": round(encoding_seconds, 1),
    }
    if arguments.huge:
        alone = model.transform(X[-N_LAST:])
        row |= {
            "entries": int(X.nnz),
            "index_bits": 8 * X.indices.itemsize,
            "loss": round(float(model.history_[-1]["loss"] or 0), 3),
            "last_documents_agree": bool(np.allclose(vectors[-N_LAST:], alone, rtol=1e-4, atol=1e-5)),
        }
    print(json.dumps(row), flush=True)


if __name__ == "__main__":
    main()
