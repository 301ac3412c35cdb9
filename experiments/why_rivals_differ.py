"""Why the rivals differ here from the paper's table: one change at a time, on 20news' validation documents.

    python experiments/why_rivals_differ.py [NAME …] >> experiments/why_rivals_differ.jsonl
    python experiments/why_rivals_differ.py --update     # puts them into docs/rivals.md as a table, between its marks

The paper's released code averages the reconstruction loss over the vocabulary where its formulas sum, and its probe
reads the codes as they are, where ours standardises them. Every case is fitted with 128 dimensions by the paper's
settings but for the change that it names, on the training documents without the validation documents; both probes are
scored on the latter. The test documents are not used. One line per run is printed as soon as it is over.
"""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Any

import numpy as np

HERE = Path(__file__).resolve().parent
PAGE = HERE.parent / "docs" / "rivals.md"
START, END = "<!-- why: from experiments/why_rivals_differ.py -->", "<!-- end of why -->"
N_TOPICS = 128
_NVDM_JOINT: dict[str, Any] = {"alternate": False, "learning_rate": 1e-3, "batch_size": 100, "max_epochs": 30}
_NVDM_OF_THE_PAPERS_SOURCE: dict[str, Any] = _NVDM_JOINT | {
    "batch_size": 1,
    "n_layers": 2,
    "squash": "relu",
    "max_epochs": 3,
}
CASES: dict[str, list[dict[str, Any]]] = {
    "ae": [{}, {"reduction": "mean"}],
    "dae": [{}, {"reduction": "mean"}],
    "cae": [{}, {"reduction": "mean"}],
    "ksae": [{}, {"reduction": "mean"}],
    # the effect on the topics of more epochs without the paper's early stopping, and of Adadelta's epsilon
    "kate-paper": [{}, {"max_epochs": 300, "patience": 300}, {"epsilon": 1e-7}, {"epsilon": 1e-6}],
    "kate-noamp": [
        {},
        {"patience": None},
        {"epsilon": 1e-7},
        {"epsilon": 1e-7, "patience": None},
        {"epsilon": 1e-6, "patience": None},
    ],
    # as its authors trained it; as in the implementation that the paper used, with one document per step and two
    # rectified layers; all parameters at once and a hundred documents per step; also on log counts, with a warm-up
    "nvdm": [{}, _NVDM_OF_THE_PAPERS_SOURCE, _NVDM_JOINT, _NVDM_JOINT | {"reading": "log", "kl_warmup": 0.5}],
    # what the paper does not say: the width of the tanh layer (see vae_width.py); the effect of the divergence
    "vae": [{}, {"n_hidden": 256}, {"kl_weight": 0.1}],
    "dbn": [{}, {"finetune_epochs": 0}, {"optimizer": "sgd", "learning_rate": 0.01}],
    # gensim's own number of passes; more passes; priors that are not symmetric
    "lda": [{}, {"passes": 1}, {"passes": 20}, {"passes": 20, "alpha": "asymmetric", "eta": 0.5}],
    # gensim's own algorithm; a single pass
    "word2vec": [{}, {"algorithm": "cbow"}, {"algorithm": "cbow", "epochs": 1}],
    "doc2vec": [
        {},
        {"method": "dm"},
        {"method": "dm", "epochs": 20, "inference_epochs": 20},
        {"method": "dbow"},
    ],
}


def table() -> str:
    """The runs so far, as docs/rivals.md shows them."""
    lines = [
        "| model | changed of its paper settings | epochs | accuracy | by the paper's probe | spread of a neuron "
        "| MSCD |",
        "|---|---|---|---|---|---|---|",
    ]
    for line in (HERE / "why_rivals_differ.jsonl").read_text().splitlines():
        run = json.loads(line)
        changes = ", ".join(f"`{name}={value!r}`" for name, value in run["changes"].items()) or "nothing"
        scores = f"{run['accuracy']:.3f} | {run['accuracy_with_the_papers_probe']:.3f}"
        spread, deviation = f"{run['spread_of_a_neuron']:.2g}", run.get("mscd")
        deviation = "–" if deviation is None else f"{deviation:.3f}"
        lines.append(
            f"| {run['model']} | {changes} | {run['epochs'] or '–'} | {scores} | {spread} | {deviation} |"
        )
    return "\n".join(lines)


def update() -> None:
    before, rest = PAGE.read_text().split(START)
    PAGE.write_text(f"{before}{START}\n\n{table()}\n\n{END}{rest.split(END)[1]}")


def fit_and_probe(model: Any, corpus: Any) -> tuple[Any, dict[str, Any]]:
    """The codes of the documents that a model is fitted on, and the results of its training and of both probes."""
    from kate.research.evaluation.model_inputs import encode_parts, fit_on_corpus
    from kate.research.metrics.classification import fit_classes

    fit_on_corpus(model, corpus)
    codes = encode_parts(model, corpus, ("fitting", "validation"))
    y, y_validation = (corpus.part(part).y for part in ("fitting", "validation"))
    logistic, paper = (
        fit_classes(codes["fitting"], y, codes["validation"], y_validation, probe=probe).validation_accuracy
        for probe in ("logistic", "paper")
    )
    return codes["fitting"], {
        "epochs": len(model.history_) if hasattr(model, "history_") else None,
        "accuracy": round(logistic, 4),
        "accuracy_with_the_papers_probe": round(paper, 4),
    }


def main() -> None:
    from kate import load_dataset
    from kate.research.metrics.topic_scores import mscd
    from kate.research.registry import make_model

    corpus = load_dataset("20news")
    for name in sys.argv[1:] or CASES:
        for changes in CASES[name]:
            model: Any = make_model(name, N_TOPICS, changes)
            codes, found = fit_and_probe(model, corpus)
            row = {
                "model": name,
                "changes": changes,
                **found,
                "spread_of_a_neuron": round(float(np.median(codes.std(axis=0))), 5),
                "mscd": round(mscd(model.components_), 4) if hasattr(model, "components_") else None,
            }
            print(json.dumps(row), flush=True)


if __name__ == "__main__":
    update() if sys.argv[1:] == ["--update"] else main()
