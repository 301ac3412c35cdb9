"""Encoding 20 Newsgroups with a fitted model, beside scikit-learn's TF-IDF and truncated SVD of as many dimensions.

    python benchmarks/encode.py                     # needs the data set: kate datasets
    python benchmarks/encode.py --words 2000 --documents 2000 --epochs 1

Prints two JSON lines. "text": raw texts → vectors, Counts and KATE beside CountVectorizer, TfidfTransformer and
TruncatedSVD.transform; both use lower case, drop stop words and know as many words, but only Kate stems. "counts":
sparse counts → vectors, KATE.transform with its log scaling beside TruncatedSVD.transform alone.
"""

from __future__ import annotations

import argparse
import json
import time
from collections.abc import Callable

import numpy as np
from sklearn.decomposition import TruncatedSVD
from sklearn.feature_extraction.text import CountVectorizer, TfidfTransformer
from sklearn.pipeline import make_pipeline

import kate
from kate.threads import thread_count

ROUNDS = 5


def best_seconds(runs: dict[str, Callable[[], object]]) -> dict[str, float]:
    """The best of several rounds in which all take turns, so that a busy moment slows all of them."""
    best = dict.fromkeys(runs, float("inf"))
    for _ in range(ROUNDS):
        for name, run in runs.items():
            # until the threads of the run before are asleep
            time.sleep(0.2)
            start = time.perf_counter()
            run()
            best[name] = min(best[name], time.perf_counter() - start)
    return best


def show(start: str, n_docs: int, options: argparse.Namespace, best: dict[str, float]) -> None:
    print(
        json.dumps(
            {
                "benchmark": "encode", "from": start, "documents": n_docs, "words": options.words,
                "topics": options.dimensions, "threads": thread_count(None),
                "kate_documents_per_s": round(n_docs / best["kate"]),
                "scikit_learn_documents_per_s": round(n_docs / best["svd"]),
                "times_as_fast": round(best["svd"] / best["kate"], 2),
            }
        ),
        flush=True,
    )  # fmt: skip


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--words", type=int, default=20_000)
    parser.add_argument("--dimensions", type=int, default=128)
    parser.add_argument("--documents", type=int, help="encode only the first ones")
    parser.add_argument(
        "--epochs", type=int, default=2, help="of training; encoding takes the same time after any number"
    )
    options = parser.parse_args()
    texts = (kate.load_dataset("20news", keep_texts=True).texts or [])[: options.documents]

    counter = kate.Counts(vocabulary_size=options.words)
    counts = counter.fit_transform(texts)
    model = kate.KATE(options.dimensions, max_epochs=options.epochs, random_state=0).fit(counts)

    vectorizer = CountVectorizer(max_features=options.words, stop_words="english")
    tfidf, svd = TfidfTransformer(sublinear_tf=True), TruncatedSVD(options.dimensions, random_state=0)
    svd.fit(tfidf.fit_transform(vectorizer.fit_transform(texts)))
    pipeline = make_pipeline(vectorizer, tfidf, svd)
    # converted here: KATE.transform would do it, and SVD keeps this precision
    floats = counts.astype(np.float32)
    other = TruncatedSVD(options.dimensions, random_state=0).fit(floats)

    best = best_seconds(
        {"kate": lambda: model.transform(counter.transform(texts)), "svd": lambda: pipeline.transform(texts)}
    )
    show("text", len(texts), options, best)
    best = best_seconds({"kate": lambda: model.transform(floats), "svd": lambda: other.transform(floats)})
    show("counts", len(texts), options, best)


if __name__ == "__main__":
    main()
