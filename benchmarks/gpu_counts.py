"""Write the counts of 20 Newsgroups that benchmarks/gpu.py trains on into one file.

    KATE_DATA=... python benchmarks/gpu_counts.py -o counts.npz

The machine with the GPU then needs neither the data set nor what reads it (Polars, a stemmer). The file holds plain
arrays, no pickle, for the paper's 2,000 words and for 20,000.
"""

from __future__ import annotations

import argparse
from pathlib import Path

import numpy as np

import kate
from kate.storage.files import whole_file

WORDS = (2_000, 20_000)
PARTS = ("fitting", "validation", "train", "test")


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("-o", "--output", type=Path, default=Path("counts.npz"))
    options = parser.parse_args()
    arrays = {}
    for n_words in WORDS:
        corpus = kate.load_dataset("20news", vocabulary_size=n_words)
        X = corpus.X.tocsr()
        arrays |= {f"data_{n_words}": X.data.astype(np.uint16), f"indptr_{n_words}": X.indptr}
        arrays |= {f"indices_{n_words}": X.indices.astype(np.uint16), f"shape_{n_words}": np.array(X.shape)}
    y = np.unique(np.asarray(corpus.labels), return_inverse=True)[1].astype(np.int16)
    arrays |= {"labels": y} | {part: np.asarray(corpus.rows(part)) for part in PARTS}
    with whole_file(options.output) as part, part.open("wb") as file:
        np.savez_compressed(file, **arrays)
    print(f"{X.shape[0]:,} documents → {options.output}, {options.output.stat().st_size / 1e6:.1f} MB")


if __name__ == "__main__":
    main()
