"""The vectors on test documents: KATE, the same network without competition, and LSA, on seven corpora.

    python experiments/vectors_test.py corpora FOLDER            # counts, once, where the data are (KATE_DATA)
    python experiments/vectors_test.py run FOLDER results.jsonl  # every model, three seeds; no text is needed here
    python experiments/vectors_test.py bm25 FOLDER results.jsonl # adds BM25's lines for the questions
    python experiments/vectors_test.py report results.jsonl      # the tables of docs/results.md

Models are fitted on the training documents without the validation documents; probes choose their strength on these. The
settings were chosen without any test document (experiments/choose_vectors.py). Runs without Polars, on CPU or GPU.
"""

from __future__ import annotations

import gzip
import json
import os
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import scipy.sparse as sp

N_WORDS, SEEDS, SIZES = 20_000, (0, 1, 2), (128,)
DATASETS = ("20news", "reuters21578", "movies", "sotu")
FILES = ("bbc", "reviews")
CORPORA = (*DATASETS, *FILES)


def write_corpora(folder: Path) -> None:
    import kate
    from kate.text.counts import Counts

    folder.mkdir(parents=True, exist_ok=True)
    for name in DATASETS:
        corpus = kate.load_dataset(name, vocabulary_size=N_WORDS)
        labels = corpus.labels.toarray() if sp.issparse(corpus.labels) else np.asarray(corpus.labels)
        rows = {"fit": corpus.fitting, "val": corpus.validation, "test": corpus.test}
        _write(folder / f"{name}.npz", corpus.X, labels, rows, corpus.label_kind)
    for name in FILES:
        found = _rows(name)
        labels = np.array([str(row["label"]) for row in found])
        train = np.flatnonzero([row["split"] == "train" for row in found])
        test = np.flatnonzero([row["split"] == "test" for row in found])
        val = np.sort(np.random.default_rng(0).permutation(train)[: len(train) // 10])
        counter = Counts(N_WORDS)
        texts = [row["text"] for row in found]
        learned = counter.fit_transform([texts[row] for row in train])
        X = sp.vstack([learned, counter.transform([texts[row] for row in test])], format="csr")
        X = X[np.argsort(np.concatenate([train, test]))]
        rows = {"fit": np.setdiff1d(train, val), "val": val, "test": test}
        _write(folder / f"{name}.npz", X, labels, rows, "classes")
    found = _rows("cranfield")
    documents = [row for row in found if row["kind"] == "document"]
    questions = [row for row in found if row["kind"] == "query"]
    counter = Counts(N_WORDS)
    X = counter.fit_transform([row["text"] for row in documents])
    Q = counter.transform([row["text"] for row in questions])
    place = {row["id"]: number for number, row in enumerate(documents)}
    relevant = np.zeros((len(questions), len(documents)), dtype=np.int8)
    for number, row in enumerate(questions):
        relevant[number, [place[one] for one in row["relevant"] if one in place]] = 1
    parts = {"relevant": relevant} | _arrays("X", X) | _arrays("Q", Q)
    np.savez_compressed(folder / "cranfield.npz", **parts)


def _rows(name: str) -> list[dict[str, Any]]:
    path = Path(os.environ["KATE_DATA"]) / f"{name}.jsonl.gz"
    with gzip.open(path, "rt", encoding="utf-8") as lines:
        return [json.loads(line) for line in lines]


def _arrays(name: str, X: Any) -> dict[str, Any]:
    X = sp.csr_matrix(X)
    return {f"{name}_{part}": getattr(X, part) for part in ("data", "indices", "indptr", "shape")}


def _write(path: Path, X: Any, labels: Any, rows: dict[str, Any], kind: str) -> None:
    np.savez_compressed(path, labels=labels, kind=kind, **rows, **_arrays("X", X))


def _matrix(data: Any, name: str) -> sp.csr_matrix:
    parts = tuple(data[f"{name}_{part}"] for part in ("data", "indices", "indptr"))
    return sp.csr_matrix(parts, shape=tuple(data[f"{name}_shape"]), dtype=np.float32)


def models(seed: int, size: int) -> Iterator[tuple[str, Any]]:
    from kate.engines.devices import choose_device
    from kate.model.kate import KATE
    from kate.research.rivals.lsa import LSA

    yield "lsa", LSA(size, random_state=seed)
    yield "kate", KATE(size, random_state=seed, verbose=False, device="cpu")
    if choose_device("auto") == "cuda":
        yield "kate on a GPU", KATE(size, random_state=seed, verbose=False, device="cuda")
    neurons = max(256, size)
    yield (
        "without competition",
        KATE(size, random_state=seed, verbose=False, n_winners=neurons, amplification=0.0),
    )


def bm25(folder: Path, results: Path) -> None:
    """BM25 ranks without vectors: for the questions only. Its lines are added to those of ``run``."""
    from kate.research.rivals.bm25 import BM25

    data = np.load(folder / "cranfield.npz", allow_pickle=False)
    with results.open("a") as file:
        for seed in SEEDS:
            row = {
                "corpus": "cranfield",
                "model": "bm25",
                "size": 0,
                "seed": seed,
                **_score_questions(BM25(), data),
            }
            file.write(json.dumps(row) + "\n")


def run(folder: Path, results: Path) -> None:
    with results.open("w") as file:
        for name in (*CORPORA, "cranfield"):
            data = np.load(folder / f"{name}.npz", allow_pickle=False)
            for seed in SEEDS:
                for size in SIZES:
                    for title, model in models(seed, size):
                        scores = _score_questions if name == "cranfield" else _score_corpus
                        row = {
                            "corpus": name,
                            "model": title,
                            "size": size,
                            "seed": seed,
                            **scores(model, data),
                        }
                        file.write(json.dumps(row) + "\n")
                        file.flush()
                        print(row, flush=True)


def _fit(model: Any, X: sp.csr_matrix) -> float:
    start = time.perf_counter()
    model.fit(X)
    return time.perf_counter() - start


def _unit(vectors: Any) -> Any:
    lengths = np.linalg.norm(vectors, axis=1, keepdims=True)
    return vectors / np.where(lengths > 0, lengths, 1)


def _score_corpus(model: Any, data: Any) -> dict[str, float]:
    from kate.research.metrics.classification import classify
    from kate.research.metrics.multilabel import classify_sets
    from kate.research.metrics.queries import one_word_precision, two_word_precision
    from kate.research.metrics.regression import regress
    from kate.research.metrics.retrieval import retrieve

    X, labels, kind = _matrix(data, "X"), data["labels"], str(data["kind"])
    fit, val, test = (data[name] for name in ("fit", "val", "test"))
    seconds = _fit(model, X[fit])
    vectors = [model.transform(X[rows]) for rows in (fit, val, test)]
    known = [
        part for rows, made in zip((fit, val, test), vectors, strict=True) for part in (made, labels[rows])
    ]
    found: dict[str, float] = {"fit_seconds": seconds}
    if kind == "classes":
        found["probe"] = classify(*known, random_state=0).scores()["accuracy"]
    elif kind == "sets":
        found["probe"] = classify_sets(*known).scores()["micro_f1"]
    else:
        found["probe"] = regress(*known, random_state=0).scores()["r2"]
    train, rows = np.concatenate(vectors[:2]), np.concatenate([fit, val])
    if kind != "number":
        near = retrieve(train, labels[rows], vectors[2], labels[test]).scores()
        found |= {"p1": near["precision@1%"], "p01": near["precision@0.1%"]}
    searched = _unit(train)
    similarity = lambda queries: _unit(model.transform(queries)) @ searched.T  # noqa: E731
    found["one_word"] = one_word_precision(X[rows], similarity)
    if kind != "number":
        found["two_words"] = two_word_precision(X[rows], labels[rows], X[test], labels[test], similarity)
    return found


def _score_questions(model: Any, data: Any) -> dict[str, float]:
    from kate.research.metrics.questions import judge_answers

    X, Q, relevant = _matrix(data, "X"), _matrix(data, "Q"), data["relevant"]
    seconds = _fit(model, X)
    is_ranker = hasattr(model, "similarities")
    scores = model.similarities(Q) if is_ranker else _unit(model.transform(Q)) @ _unit(model.transform(X)).T
    # every second question helped to choose the settings: the others are the test
    asked = np.arange(1, len(Q.indptr) - 1, 2)
    found = judge_answers(scores[asked], [set(np.flatnonzero(relevant[row])) for row in asked])
    return {"fit_seconds": seconds, "ndcg": found.ndcg_at_10, "map": found.mean_average_precision}


def report(results: Path) -> None:
    rows = [json.loads(line) for line in results.open()]
    titles = list(dict.fromkeys(row["model"] for row in rows))
    for measure in ("probe", "p1", "p01", "one_word", "two_words", "ndcg", "map"):
        names = [
            name for name in (*CORPORA, "cranfield") if any(measure in r for r in rows if r["corpus"] == name)
        ]
        print(f"\n### {measure}\n\n| model | {' | '.join(names)} | mean |\n|---|{'---|' * (len(names) + 1)}")
        for title in titles:
            if not any(measure in row for row in rows if row["model"] == title):
                continue
            cells, means = [], []
            for name in names:
                values = [
                    r[measure] for r in rows if (r["corpus"], r["model"]) == (name, title) and measure in r
                ]
                if not values:
                    cells.append("–")
                    continue
                means.append(np.mean(values))
                cells.append(f"{np.mean(values):.3f} ± {np.std(values, ddof=1):.3f}")
            print(f"| {title} | {' | '.join(cells)} | {np.mean(means):.3f} |")


if __name__ == "__main__":
    command, *paths = sys.argv[1:]
    {"corpora": write_corpora, "run": run, "bm25": bm25, "report": report}[command](*map(Path, paths))
