"""Numbers that a model gives for the same settings as long as its revision is the same: small fits of every model.

python tests/research/registry/kept_numbers.py --write    # writes kept_numbers.json anew, after a revision was raised
"""

from __future__ import annotations

import json
import sys
import tempfile
import warnings
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_matrix

from kate.research.registry import MODELS, make_model
from kate.text.tokenizer import Tokenizer
from kate.text.vocabulary import Vocabulary

# Models of pre-trained embeddings are other packages' alone, and nothing of theirs is kept here.
NAMES = [name for name, entry in MODELS.items() if entry.inputs != "texts"]
FILE = Path(__file__).with_name("kept_numbers.json")
N_COMPONENTS, N_WORDS = 4, 30
ROWS = [0, 1, -1]
# Short fits: what is learned does not matter, only that it is the same. For every model that has such a parameter.
SETTINGS: dict[str, Any] = {
    "max_epochs": 3,
    "epochs": 4,
    "inference_epochs": 4,
    "finetune_epochs": 2,
    "passes": 2,
    "max_iter": 20,
    "device": "cpu",
    "n_jobs": 1,
}
# its sampler draws other numbers on other processors: only that documents have one theme is the same
SAMPLED = ("lda-tomotopy",)


def counts() -> csr_matrix:
    """Documents of three themes, with some words of any other."""
    random = np.random.default_rng(11)
    X = np.zeros((48, N_WORDS), dtype=np.int64)
    for row in range(len(X)):
        np.add.at(X[row], random.integers(0, 10, size=14) + 10 * (row % 3), 1)
        np.add.at(X[row], random.integers(0, N_WORDS, size=3), 1)
    return csr_matrix(X)


WORDS = [f"w{first}{second}" for first in "abc" for second in "abcdefghij"]


def vocabulary() -> Vocabulary:
    return Vocabulary.learn([" ".join(WORDS)], Tokenizer(language=None))[0]


def vector_file(folder: Path) -> Path:
    """Word vectors in GloVe's format."""
    vectors = np.random.default_rng(5).normal(size=(N_WORDS, 3)).round(3)
    lines = [f"{word} {' '.join(map(str, vector))}\n" for word, vector in zip(WORDS, vectors, strict=True)]
    path = folder / "vectors.txt"
    path.write_text("".join(lines), encoding="utf-8")
    return path


def numbers_of(name: str, folder: Path) -> list[list[float]]:
    """Some vectors of a small fit, or of a ranker some similarities."""
    entry, X = MODELS[name], counts()
    needed = {setting: str(vector_file(folder)) for setting in entry.must_set}
    known = make_model(name, N_COMPONENTS, needed).get_params(deep=False)
    chosen = {setting: value for setting, value in SETTINGS.items() if setting in known}
    model: Any = make_model(name, N_COMPONENTS, chosen | needed, random_state=3)
    beside = {"vocabulary": vocabulary()} if entry.must_set else {}
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # three epochs are few, and some say so
        model.fit(X, **beside)
    found = model.similarities(X[ROWS])[:, :5] if hasattr(model, "similarities") else model.transform(X)[ROWS]
    return rounded(np.sort(found, axis=1) if name in SAMPLED else found)


def rounded(values: NDArray[Any]) -> list[list[float]]:
    return [[float(f"{value:.4g}") for value in row] for row in np.asarray(values, dtype=float)[:, :8]]


def agree(name: str, found: list[list[float]], kept: list[list[float]]) -> bool:
    """Whether numbers are the same but for the rounding of other machines, which add up in another order."""
    tolerance = 0.15 if name in SAMPLED else 0.02
    scale = float(np.abs(kept).max())
    return np.shape(found) == np.shape(kept) and bool(
        np.allclose(found, kept, rtol=0, atol=tolerance * scale)
    )


def main() -> None:
    with tempfile.TemporaryDirectory() as folder:
        kept = {
            name: {"revision": MODELS[name].revision, "numbers": numbers_of(name, Path(folder))}
            for name in NAMES
        }
    lines = [f" {json.dumps(name)}: {json.dumps(one)}" for name, one in kept.items()]
    FILE.write_text("{\n" + ",\n".join(lines) + "\n}\n", encoding="utf-8")


if __name__ == "__main__":
    main() if sys.argv[1:] == ["--write"] else sys.exit(__doc__)
