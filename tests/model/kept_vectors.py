"""Vectors that must not change: a small corpus, some models with fixed seeds, and the numbers that 0.1 gave for them.

python tests/model/kept_vectors.py > tests/model/kept_vectors.json    # writes the numbers anew, when a change is meant
"""

from __future__ import annotations

import json
import sys
from typing import Any

import numpy as np
from scipy.sparse import csr_matrix

import kate
from kate.topics.neuron_poles import count_wins, describe_by_wins

_SUBJECTS = (
    "gold silver coin mint treasury dollars bank currency",
    "army navy soldiers ships war officers fleet battle",
    "school children teachers college students learning books reading",
    "treaty nations peace foreign minister commerce embassy powers",
)

# what 0.1 took for six neurons and sixty documents
_DEFAULTS_OF_0_1 = {
    "n_winners": 1,
    "amplification": 0.5,
    "scaling": "l2",
    "weighting": "none",
    "start": "random",
    "dropout": 0.7,
    "reconstruction_sampling": None,
    "learning_rate": 0.004,
    "max_epochs": 125,
    "batch_size": 16,
    "output": "preactivation",
    "mean": "subtract",
}


def texts() -> list[str]:
    """Sixty short texts about four subjects, with some words of another subject in each."""
    random = np.random.default_rng(7)
    words = [subject.split() for subject in _SUBJECTS]
    made = []
    for number in range(60):
        own, other = words[number % 4], words[(number + 1 + number % 3) % 4]
        made.append(" ".join([*random.choice(own, 12), *random.choice(other, 3)]))
    return made


def vectors() -> dict[str, Any]:
    """The first and last vectors of every kept model, and the topics of one."""
    corpus = texts()
    X = kate.Counts().fit_transform(corpus)
    common: dict[str, Any] = _DEFAULTS_OF_0_1 | {"random_state": 3, "device": "cpu", "verbose": False}
    paper: dict[str, Any] = {"random_state": 3, "device": "cpu", "verbose": False, "max_epochs": 8}
    other = {"activation": "sigmoid", "scaling": "max", "output": "activation", "learning_rate": 0.004}
    models = {
        "defaults": kate.KATE(6, **common),
        "paper": kate.KATE.paper(6, **paper),
        "sampled": kate.KATE(6, **(common | {"reconstruction_sampling": 8, "max_epochs": 8})),
        "sigmoid": kate.KATE(5, **(common | other | {"max_epochs": 8})),
        "adadelta": kate.KATE(
            6, **(common | {"optimizer": "adadelta", "learning_rate": 1.0, "max_epochs": 8})
        ),
    }
    kept: dict[str, Any] = {name: _ends(model.fit(X).transform(X)) for name, model in models.items()}
    text_model = kate.TextModel(6, **(common | {"max_epochs": 8})).fit(corpus)
    kept["text"] = _ends(text_model.encode(corpus))
    kept["topics"] = _neurons_in_words(text_model, corpus)
    kept["similar"] = [word for word, _ in text_model.similar_words("gold")]
    return kept


def _neurons_in_words(model: Any, corpus: list[str]) -> list[list[str]]:
    """What 0.1 called topics."""
    X = csr_matrix(model.vocabulary_.count(corpus), dtype=np.float32)
    wins = count_wins(X, model.neurons_.respond, model.responses_)
    return [list(pole.words[:5]) for pole in describe_by_wins(X, wins, model.vocabulary_.readable)]


def _ends(rows: Any) -> list[list[float]]:
    return np.round(np.asarray(rows)[[0, 1, -1]].astype(float), 5).tolist()


if __name__ == "__main__":
    json.dump(vectors(), sys.stdout, indent=1)
    sys.stdout.write("\n")
