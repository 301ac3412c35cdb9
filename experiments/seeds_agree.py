"""How far two seeds of a model agree: the share of the ten nearest documents of a document that both find.

    python experiments/vectors_test.py corpora FOLDER       # counts, once, where the data are (KATE_DATA)
    python experiments/seeds_agree.py FOLDER                # a table for docs/defaults.md

Training documents of the smaller corpora, 128 components, three seeds: the mean over the pairs of seeds.
"""

from __future__ import annotations

import sys
import warnings
from itertools import combinations
from pathlib import Path
from typing import Any

import numpy as np
from vectors_test import _matrix, _unit

CORPORA = ("bbc", "reviews", "movies", "reuters21578")
N_NEAR, SEEDS, SIZE = 10, (0, 1, 2), 128


def models(seed: int) -> dict[str, Any]:
    from kate.model.kate import KATE
    from kate.research.rivals.lda import TomotopyLDA
    from kate.research.rivals.lsa import LSA
    from kate.research.rivals.nmf import NMF

    return {
        "KATE": KATE(SIZE, random_state=seed, verbose=False, device="cpu"),
        "without competition": KATE(SIZE, random_state=seed, verbose=False, device="cpu", n_winners=0),
        "LSA": LSA(SIZE, random_state=seed),
        "NMF": NMF(SIZE, random_state=seed),
        "LDA (tomotopy)": TomotopyLDA(SIZE, random_state=seed),
    }


def nearest(vectors: Any) -> Any:
    units = _unit(vectors).astype(np.float32)
    cosines = units @ units.T
    np.fill_diagonal(cosines, -2)
    return np.argpartition(-cosines, N_NEAR, axis=1)[:, :N_NEAR]


def overlap(one: Any, other: Any) -> float:
    return float(
        np.mean([len(set(a) & set(b)) / N_NEAR for a, b in zip(one.tolist(), other.tolist(), strict=True)])
    )


def main(folder: Path) -> None:
    warnings.simplefilter("ignore")
    print(f"| | {' | '.join(CORPORA)} | mean |\n|---|{'---|' * (len(CORPORA) + 1)}")
    for title in models(0):
        cells = []
        for name in CORPORA:
            data = np.load(folder / f"{name}.npz", allow_pickle=False)
            X = _matrix(data, "X")[data["fit"]]
            near = [nearest(models(seed)[title].fit(X).transform(X)) for seed in SEEDS]
            cells.append(float(np.mean([overlap(*pair) for pair in combinations(near, 2)])))
        print(
            f"| {title} | {' | '.join(f'{cell:.2f}' for cell in cells)} | {np.mean(cells):.2f} |", flush=True
        )


if __name__ == "__main__":
    main(Path(sys.argv[1]))
