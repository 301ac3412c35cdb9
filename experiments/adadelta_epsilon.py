"""Which epsilon of Adadelta KATE.paper takes, which the paper does not say: validation accuracy and MSCD on 20news.

python experiments/adadelta_epsilon.py >> experiments/adadelta_epsilon.jsonl

Fits on the training documents without the validation documents. A probe fitted on the former is scored on the latter;
the test documents are not used. One line per run is printed as soon as it is over.
"""

from __future__ import annotations

import itertools
import json

from kate import KATE, load_dataset
from kate.research.metrics.classification import fit_classes
from kate.research.metrics.topic_scores import mscd

TOPICS = (20, 128)
EPSILONS = (1e-8, 1e-7, 1e-6)
SEEDS = (0, 1)


def main() -> None:
    corpus = load_dataset("20news")
    fitting, validation = corpus.part("fitting"), corpus.part("validation")
    for n_components, epsilon, seed in itertools.product(TOPICS, EPSILONS, SEEDS):
        model = KATE.paper(n_components, epsilon=epsilon, random_state=seed, verbose=False)
        model.fit(fitting.X, validation=validation.X)
        probe = fit_classes(
            model.transform(fitting.X), fitting.y, model.transform(validation.X), validation.y
        )
        row = {
            "topics": n_components,
            "epsilon": epsilon,
            "seed": seed,
            "validation_accuracy": round(probe.validation_accuracy, 4),
            "mscd": round(mscd(model.components_), 4),
            "epochs": len(model.history_),
        }
        print(json.dumps(row), flush=True)


if __name__ == "__main__":
    main()
