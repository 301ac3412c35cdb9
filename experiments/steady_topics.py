"""Why topics differ from seed to seed, and what would make them steadier: what was tried, on validation documents only.

    KATE_DATA=... python experiments/steady_topics.py run experiments/steady_topics.jsonl ["bbc, 12 words" ...]
    python experiments/steady_topics.py joins experiments/steady_topics.jsonl ["bbc, 25 words" ...]    # two ways only
    python experiments/steady_topics.py report experiments/steady_topics.jsonl       # the tables of docs/defaults.md

A fifth of the training documents is held out, KATE learns from the others (128 components, three seeds), and every way
finds 20 topics. "The start" are the vectors that W has before training, the leading directions of the documents: they
hardly depend on the seed. No test document is read.
"""

from __future__ import annotations

import importlib
import json
import sys
from collections.abc import Callable
from itertools import combinations
from pathlib import Path
from typing import Any

import numpy as np
import scipy.sparse as sp

from kate.unit_rows import unit_rows

N_TOPICS, SEEDS, N_TOP = 20, (0, 1, 2), 10
CORPORA = (
    "20news",
    "reuters21578",
    "sotu",
    "bbc",
    "reviews",
    "reuters titles",
    "bbc, 12 words",
    "reviews, 12 words",
)
CUTS = tuple(
    f"{corpus}, {n} words"
    for n in (12, 25, 50)
    for corpus in ("20news", "reuters21578", "sotu", "bbc", "reviews")
)
SHARES = (0.35, 0.5, 0.65, 0.8, 1.0)  # of the start, in the vectors
SCORES = ("nmi", "npmi", "coverage", "diversity")


class Fit:
    """One seed: vectors of the sketch and of the unseen documents, for every share of the start."""

    def __init__(self, corpus: Any, seed: int, shares: tuple[float, ...] = SHARES) -> None:
        from kate import KATE
        from kate.model import finishing
        from kate.model.encoder import Encoder
        from kate.topics.document_sketch import DocumentSketch

        rows = np.random.default_rng(0).permutation(corpus.train)
        held_out, fitted = np.sort(rows[: len(rows) // 5]), np.sort(rows[len(rows) // 5 :])
        counts, self.unseen = (sp.csr_matrix(corpus.X[part], dtype=np.float32) for part in (fitted, held_out))
        given: list[Any] = []
        make = finishing.make_vector_map

        def remember(*arguments: Any, **options: Any) -> Any:
            given.append(arguments)
            return make(*arguments, **options)

        finishing.make_vector_map = remember
        try:
            encoder = KATE(128, random_state=seed, verbose=False).fit(counts).encoder_
        finally:
            finishing.make_vector_map = make
        W, start, products, n_components, _ = given[0]
        self.vectors = {}
        for share in shares:
            own = Encoder.of_map(
                make(W, start, products, n_components, share), encoder.scaling, encoder.weights
            )
            sketch = DocumentSketch.take(counts, lambda X, own=own: own.vectors(X, None))
            self.vectors[share] = (sketch.units, own.vectors(self.unseen, None))
            if share == SHARES[0]:
                self.sketch = sketch
        self.known = np.diff(self.unseen.indptr) > 0
        self.labels, labels = None, corpus.labels[held_out]
        self.n_words = len(self.sketch.words) / len(self.sketch)
        if not corpus.name.startswith("reviews"):  # good or bad: no topics
            is_sets = not isinstance(labels, np.ndarray)
            single = np.diff(labels.indptr) == 1 if is_sets else np.ones(len(held_out), dtype=bool)
            self.rows = np.flatnonzero(single & self.known)
            self.labels = np.asarray(labels.argmax(axis=1)).reshape(-1) if is_sets else labels

    def scores(self, topics: Any, unseen: Any) -> dict[str, float]:
        from kate.research.metrics.clusters import compare_labels
        from kate.research.metrics.topic_quality import judge_topics
        from kate.topics.topic_words import choose_words

        found = choose_words(self.sketch.present, self.sketch.present_by_word, topics, N_TOPICS)
        words = [one.columns[:N_TOP] for one in found]
        scores = judge_topics(words, np.where(self.known, unseen, -1), self.unseen).scores()
        if self.labels is not None:
            scores["nmi"] = compare_labels(unseen[self.rows], self.labels[self.rows]).nmi
        return {name: scores[name] for name in SCORES if name in scores}


Topics = tuple[Any, Any]  # of the documents of the sketch, and of the unseen ones
Way = Callable[[Fit], Topics]


def leaves_of(vectors: Any, seed: int = 0) -> Any:
    """Small clusters as ``kate.topics.leaf_clusters`` finds them, from documents that another seed picks."""
    from kate.topics import leaf_clusters

    numbers, before = max(1, min(500, len(vectors) // 3)), np.random.default_rng
    np.random.default_rng = lambda _: before(seed)  # type: ignore[assignment, misc]
    try:
        return leaf_clusters.leaf_clusters(vectors, numbers)
    finally:
        np.random.default_rng = before  # type: ignore[misc]


def grouped(vectors: Any, clusters: Any, n_groups: int, by: Any = None) -> Any:
    """Centres (n_groups, d) of the clusters joined by Ward's rule, which sees the vectors ``by``."""
    from kate.topics.leaf_clusters import cluster_sums
    from kate.topics.topic_tree import TopicTree
    from kate.topics.ward_joins import joined

    n = int(clusters.max()) + 1
    sizes = np.maximum(np.bincount(clusters, minlength=n), 1)
    sums = cluster_sums(vectors, clusters, n)
    seen = sums if by is None else cluster_sums(by, clusters, n)
    groups = TopicTree(sums, sizes, *joined(seen / sizes[:, None], sizes)).cut(min(n_groups, n))
    return unit_rows(np.stack([sums[groups == group].sum(axis=0) for group in range(groups.max() + 1)]))


def settled(vectors: Any, centres: Any, rounds: int = 4) -> Any:
    from kate.topics import topic_cut
    from kate.topics.leaf_clusters import settle

    return settle(vectors[:: max(1, -(-len(vectors) // topic_cut._SETTLED_ON))], centres, rounds)


def placed(vectors: Any, unseen: Any, centres: Any) -> Topics:
    from kate.topics.leaf_clusters import nearest_centres

    return nearest_centres(vectors, centres), nearest_centres(unit_rows(unseen), centres)


def plain(
    share: float = SHARES[0], change: Callable[[Any], Any] | None = None, starts: int = 1, seed: int = 0
) -> Way:
    """The tree as it is, in other vectors; of several starts the one whose centres are nearest to the documents."""

    def find(fit: Fit) -> Topics:

        vectors, unseen = fit.vectors[share]
        if change is not None:
            weights = change(vectors)
            vectors, unseen = unit_rows(vectors * weights), unseen * weights
        found = [
            settled(
                vectors,
                grouped(vectors, leaves_of(vectors, seed + number), N_TOPICS),
                4 if starts == 1 else 10,
            )
            for number in range(starts)
        ]
        return placed(
            vectors, unseen, max(found, key=lambda centres: (vectors @ centres.T).max(axis=1).sum())
        )

    return find


def first(n: int) -> Callable[[Any], Any]:
    return lambda vectors: (np.arange(vectors.shape[1]) < n).astype(np.float32)


def power(p: float) -> Callable[[Any], Any]:
    """Components by a power of how much they vary: the first ones, on which seeds agree, louder."""
    return lambda vectors: (vectors.std(axis=0) / vectors.std(axis=0).max()) ** p


def from_start(p: float = 0.0) -> Way:
    """The tree of the start, settled among the trained vectors."""

    def find(fit: Fit) -> Topics:
        (vectors, unseen), start = fit.vectors[SHARES[0]], _start(fit, p)
        return placed(
            vectors, unseen, settled(vectors, grouped(vectors, leaves_of(start), N_TOPICS, by=start))
        )

    return find


def two_steps(n_groups: int, p: float = 0.5) -> Way:
    """So many groups by the start; they settle among the trained vectors, and those join them further."""

    def find(fit: Fit) -> Topics:
        from kate.topics.leaf_clusters import nearest_centres

        (vectors, unseen), start = fit.vectors[SHARES[0]], _start(fit, p)
        centres = settled(vectors, grouped(vectors, leaves_of(start), n_groups, by=start))
        groups = np.unique(nearest_centres(vectors, centres), return_inverse=True)[1]
        return placed(vectors, unseen, settled(vectors, grouped(vectors, groups, N_TOPICS)))

    return find


def of_the_product(*, short: bool) -> Way:
    """What ``TextModel`` does: coarse groups by the start, and trees of the trained vectors below and above them.

    Where documents are ``short``, the start's tree is kept above them.
    """

    def find(fit: Fit) -> Topics:
        from kate.topics.topic_cut import TopicCut
        from kate.topics.topic_tree import TopicTree

        (vectors, unseen), start = fit.vectors[SHARES[0]], _start(fit, 0.5)
        cut = TopicCut.of(TopicTree.of(vectors, start, short=short), fit.sketch, N_TOPICS)
        return placed(vectors, unseen, cut.centres)

    return find


def _start(fit: Fit, p: float) -> Any:

    start = fit.vectors[1.0][0]
    return unit_rows(start * power(p)(start))


WAYS: dict[str, Way] = {
    "coarse groups by the start, joined by the trained vectors (long texts)": of_the_product(short=False),
    "coarse groups by the start, joined by the start (short texts)": of_the_product(short=True),
    "one tree of the trained vectors": plain(),
    "vectors half start": plain(0.5),
    "vectors .65 start": plain(0.65),
    "vectors .8 start": plain(0.8),
    "the start alone": plain(1.0),
    "first 64 components": plain(change=first(64)),
    "first 32 components": plain(change=first(32)),
    "components by their deviation^.5": plain(change=power(0.5)),
    "best of 10 starts": plain(starts=10),
    "tree of the start": from_start(),
    "tree of the start, by deviation^.5": from_start(0.5),
    "start to 30 groups, then trained": two_steps(30),
    "start to 40 groups, then trained": two_steps(40),
    "start to 60 groups, then trained": two_steps(60),
}
OTHER_STARTS = "one seed, other starts of the leaves"


def joins(path: Path, corpora: list[str]) -> None:
    """Only what the product does, on documents of every length."""
    run(path, corpora or [*CORPORA, *(cut for cut in CUTS if cut not in CORPORA)], n_ways=2)


def run(path: Path, corpora: list[str], n_ways: int | None = None) -> None:
    from kate.research.metrics.clusters import adjusted_rand

    sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "benchmarks"))
    topic_corpus = importlib.import_module("topic_corpora").topic_corpus
    with path.open("a") as file:
        for name in corpora or CORPORA:
            corpus = topic_corpus(name)
            fits = [Fit(corpus, seed, SHARES if n_ways is None else (SHARES[0], 1.0)) for seed in SEEDS]
            ways = list(WAYS.items())[:n_ways]
            found = {title: [way(fit) for fit in fits] for title, way in ways}
            if n_ways is None:
                found[OTHER_STARTS] = [plain(seed=100 * number)(fits[0]) for number in range(3)]
            for title, topics in found.items():
                of = [fits[0]] * 3 if title == OTHER_STARTS else fits
                rows = [fit.scores(*one) for fit, one in zip(of, topics, strict=True)]
                line: dict[str, Any] = {"corpus": name, "way": title, "words": round(fits[0].n_words, 1)}
                pairs = [adjusted_rand(one, other) for (_, one), (_, other) in combinations(topics, 2)]
                line["seeds_ari"] = round(float(np.mean(pairs)), 4)
                for score in rows[0]:
                    values = [row[score] for row in rows]
                    line[score] = round(float(np.mean(values)), 4)
                    line[f"{score}_deviation"] = round(float(np.std(values, ddof=1)), 4)
                file.write(json.dumps(line) + "\n")
                file.flush()


def report(path: Path, _: list[str]) -> None:
    lines = [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()]
    found = {(line["way"], line["corpus"]): line for line in lines}
    ways = list(dict.fromkeys(line["way"] for line in lines))
    for score in ("seeds_ari", *SCORES):
        print(f"| {score} | {' | '.join(CORPORA)} |\n|{'---|' * (len(CORPORA) + 1)}")
        for way in ways:
            values = [found.get((way, corpus), {}).get(score) for corpus in CORPORA]
            print(f"| {way} | {' | '.join(map(_shown, values))} |")
        print()
    of_joins = list(WAYS)[:2]
    columns = [f"{score}, {by}" for score in ("seeds_ari", *SCORES) for by in ("trained", "start")]
    print(f"| corpus | words | {' | '.join(columns)} |\n|{'---|' * (len(columns) + 2)}")
    of_length = {line["corpus"]: line["words"] for line in lines if line["way"] == of_joins[1]}
    for corpus, words in sorted(of_length.items(), key=lambda item: item[1]):
        values = [found[way, corpus].get(score) for score in ("seeds_ari", *SCORES) for way in of_joins]
        print(f"| {corpus} | {words} | {' | '.join(map(_shown, values))} |")


def _shown(value: float | None) -> str:
    return "–" if value is None else f"{value:.3f}"


if __name__ == "__main__":
    {"run": run, "joins": joins, "report": report}[sys.argv[1]](Path(sys.argv[2]), sys.argv[3:])
