"""Search among many vectors: exact beside the plain matrix product, and by a graph of neighbours (extra ``ann``).

    python benchmarks/nearest.py                                       # 1,000,000 vectors: a few minutes, 3 GB
    python benchmarks/nearest.py --vectors 20000 --queries 256         # a quick look
    python benchmarks/nearest.py --only exact                          # or --only ann

Prints one JSON line for each. The vectors are made here and look like those of documents, not like noise: each is one
of 2,000 centres plus 0.6 times as much noise, both with a falling spectrum. Nearest neighbours have cosines of
about 0.8 and two random vectors 0 ± 0.2, as in 20 Newsgroups. The plain product is what every exact search must do: all
cosines, block by block into the same memory, by as many threads, nothing kept. It is timed in the blocks of the search
and in larger ones, and the fastest counts.
"""

from __future__ import annotations

import argparse
import json
import time
from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray

from kate.search.exact_search import QUERIES_AT_ONCE, ROWS_AT_ONCE, nearest_rows
from kate.search.neighbour_graph import NeighbourGraph
from kate.threads import thread_count

Floats = NDArray[np.float32]
ROUNDS = 3


def make_vectors(n: int, n_components: int, seed: int) -> Floats:
    """Vectors of length 1 around some centres; another seed gives other vectors around the same centres."""
    spectrum = (np.arange(1, n_components + 1) ** -0.5).astype(np.float32)
    centres = np.random.default_rng(0).standard_normal((2_000, n_components), dtype=np.float32)
    rng = np.random.default_rng(seed)
    vectors = rng.standard_normal((n, n_components), dtype=np.float32)
    vectors *= 0.6
    vectors += centres[rng.integers(len(centres), size=n)]
    vectors *= spectrum
    vectors /= np.linalg.norm(vectors, axis=1, keepdims=True)
    return vectors


def product(vectors: Floats, queries: Floats, rows_at_once: int) -> None:
    """All cosines and nothing else."""
    for first in range(0, len(queries), QUERIES_AT_ONCE):
        together = queries[first : first + QUERIES_AT_ONCE]
        scores = np.empty((rows_at_once, len(together)), np.float32)
        for start in range(0, len(vectors), rows_at_once):
            block = vectors[start : start + rows_at_once]
            np.matmul(block, together.T, out=scores[: len(block)])


def best_seconds(runs: dict[str, Callable[[], object]]) -> dict[str, float]:
    """The best of several rounds in which all take turns, so that a busy moment slows all of them."""
    best = dict.fromkeys(runs, float("inf"))
    for _ in range(ROUNDS):
        for name, run in runs.items():
            start = time.perf_counter()
            run()
            best[name] = min(best[name], time.perf_counter() - start)
    return best


def measure_exact(vectors: Floats, queries: Floats, top: int) -> dict[str, object]:
    blocks = [ROWS_AT_ONCE, 8 * ROWS_AT_ONCE]
    runs: dict[str, Callable[[], object]] = {
        f"product in blocks of {size}": lambda size=size: product(vectors, queries, size) for size in blocks
    }
    best = best_seconds(runs | {"exact": lambda: nearest_rows(vectors, queries, top)})
    bare, exact = min(best[name] for name in runs), best["exact"]
    doubles = vectors.astype(np.float64)
    plain = [np.argsort(-(doubles @ query).astype(np.float32), kind="stable")[:top] for query in queries[:16]]
    found = [one.rows for one in nearest_rows(vectors, queries[:16], top)]
    return {
        "benchmark": "exact search", "vectors": len(vectors), "topics": vectors.shape[1],
        "queries": len(queries), "top": top, "threads": thread_count(None),
        "bare_product_s": round(bare, 3), "exact_s": round(exact, 3), "ratio": round(exact / bare, 3),
        "queries_per_s": round(len(queries) / exact, 1),
        "same_as_argsort": bool(np.array_equal(found, plain)),
    }  # fmt: skip


def measure_graph(vectors: Floats, queries: Floats, top: int) -> dict[str, object]:
    start = time.perf_counter()
    graph = NeighbourGraph.build(vectors)
    build = time.perf_counter() - start
    expected = nearest_rows(vectors, queries, 10)
    found = graph.nearest(vectors, queries, 10)
    recall = np.mean([len(np.intersect1d(a.rows, b.rows)) / 10 for a, b in zip(found, expected, strict=True)])
    together = best_seconds({"graph": lambda: graph.nearest(vectors, queries, top)})["graph"]
    single = best_seconds(
        {"graph": lambda: [graph.nearest(vectors, one[None], top) for one in queries[:100]]}
    )
    exact = best_seconds({"exact": lambda: [nearest_rows(vectors, one[None], top) for one in queries[:4]]})
    return {
        "benchmark": "graph of neighbours", "vectors": len(vectors), "topics": vectors.shape[1],
        "queries": len(queries), "top": top, "threads": thread_count(None), "build_s": round(build, 1),
        "recall_at_10": round(float(recall), 4), "recall_at_10_reported": graph.facts.recall_at_10,
        "depth": graph.facts.depth, "queries_per_s": round(len(queries) / together, 1),
        "one_query_ms": round(1000 * single["graph"] / min(100, len(queries)), 3),
        "one_query_exact_ms": round(1000 * exact["exact"] / min(4, len(queries)), 3),
    }  # fmt: skip


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--vectors", type=int, default=1_000_000)
    parser.add_argument("--dimensions", type=int, default=128)
    parser.add_argument("--queries", type=int, default=1_024)
    parser.add_argument("--top", type=int, default=10)
    parser.add_argument("--only", choices=["exact", "ann"])
    options = parser.parse_args()
    vectors = make_vectors(options.vectors, options.dimensions, seed=1)
    queries = make_vectors(options.queries, options.dimensions, seed=2)
    if options.only != "ann":
        print(json.dumps(measure_exact(vectors, queries, options.top)), flush=True)
    if options.only != "exact":
        print(json.dumps(measure_graph(vectors, queries, options.top)), flush=True)


if __name__ == "__main__":
    main()
