"""Counting words against scikit-learn's CountVectorizer with the same tokens and a cached stemmer.

    python benchmarks/text.py            # KATE_DATA=... names the folder of 20news-bydate.tar.gz

Prints one JSON line: seconds of both on the 18,846 documents of 20 Newsgroups (the best of a few runs each,
the texts in memory), their ratio, and whether the two matrices are the same.
"""

from __future__ import annotations

import json
import os
import re
import tarfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import Stemmer
from sklearn.feature_extraction.text import CountVectorizer

from kate import Counts
from kate.text.stopwords import ENGLISH

ARCHIVE = "20news-bydate.tar.gz"
VOCABULARY_SIZE = 2_000
RUNS = 3


def main() -> None:
    texts = read_posts(find_data() / ARCHIVE)
    count_seconds = sklearn_seconds = float("inf")
    for _ in range(RUNS):  # in turn, so that a busy machine is busy for both
        counts, seconds = timed(lambda: fit(Counts(VOCABULARY_SIZE), texts))
        count_seconds = min(seconds, count_seconds)
        sklearn, seconds = timed(lambda: fit(reference(), texts))
        sklearn_seconds = min(seconds, sklearn_seconds)
    print(
        json.dumps(
            {
                "benchmark": "text",
                "documents": len(texts),
                "megabytes": round(sum(map(len, texts)) / 1e6, 1),
                "threads": pl.thread_pool_size(),
                "kate_seconds": round(count_seconds, 3),
                "sklearn_seconds": round(sklearn_seconds, 3),
                "ratio": round(sklearn_seconds / count_seconds, 1),
                **compare(counts, sklearn),
            }
        )
    )


def find_data() -> Path:
    here = Path(__file__).resolve().parents[1]
    folders = [here.parent / "shared" / "data"]
    if os.environ.get("KATE_DATA"):
        folders.insert(0, Path(os.environ["KATE_DATA"]))
    for folder in folders:
        if (folder / ARCHIVE).is_file():
            return folder
    raise SystemExit(f"{ARCHIVE} is not in {' or '.join(map(str, folders))}; point KATE_DATA at its folder")


def read_posts(archive: Path) -> list[str]:
    with tarfile.open(archive) as tar:
        return [
            file.read().decode("latin-1")
            for member in tar
            if member.isfile() and (file := tar.extractfile(member)) is not None
        ]


def fit(transformer: Any, texts: list[str]) -> tuple[Any, Any]:
    return transformer, transformer.fit_transform(texts)


def timed(function: Callable[[], Any]) -> tuple[Any, float]:
    start = time.perf_counter()
    result = function()
    return result, time.perf_counter() - start


def reference() -> CountVectorizer:
    """CountVectorizer whose analyzer gives Kate's tokens, written a second time in plain Python.

    A dictionary remembers what each chunk of text stands for, so that each is worked out once, as Kate does.
    """
    stem = Stemmer.Stemmer("english").stemWord
    # latin-1 text: no combining marks; the digits that are no decimals (², ¼) are no word characters.
    chunks = re.compile(r"[^\W_²³¹¼½¾](?:[^\W_²³¹¼½¾]|['`´·\xad])*").findall
    known: dict[str, list[str]] = {}

    def analyze(text: str) -> list[str]:
        words: list[str] = []
        for chunk in chunks(text):
            stems = known.get(chunk)
            if stems is None:
                stems = known[chunk] = [stem(word) for word in plain_words(chunk)]
            words += stems
        return words

    return CountVectorizer(analyzer=analyze, max_features=VOCABULARY_SIZE, dtype=np.int32)


def plain_words(chunk: str) -> list[str]:
    """The words of a chunk of latin-1 text, English, before they are stemmed."""
    folded = re.sub("[`´]", "'", chunk).rstrip("'·").replace("\xad", "").lower()
    folded = folded.replace("ª", "a").replace("º", "o").replace("µ", "μ")  # as NFKC has them
    parts = [part for piece in folded.split("·") for part in split_apostrophes(piece)]
    return [word for word in parts if len(word) > 1 and word not in ENGLISH and re.search(r"[^\W\d]", word)]


def split_apostrophes(word: str) -> list[str]:
    head, apostrophe, ending = word.rpartition("'")
    if not apostrophe:
        return [word]
    hanging = ending in {"s", "d", "m", "ll", "ve", "re"}
    if word in ENGLISH or (head in ENGLISH and (hanging or ending == "t")):
        return []
    if hanging:
        return split_apostrophes(head)
    return [word] if ending == "t" else [part for part in word.split("'") if part]


def compare(ours: tuple[Counts, Any], theirs: tuple[CountVectorizer, Any]) -> dict[str, Any]:
    """Whether words and counts agree, column by column.

    Words as frequent as the last one are ties, of which scikit-learn takes any, Kate the first by alphabet.
    """
    (counts, X), (vectorizer, Y) = ours, theirs
    shared = sorted(counts.vocabulary_.keys() & vectorizer.vocabulary_.keys())
    only_theirs = sorted(vectorizer.vocabulary_.keys() - counts.vocabulary_.keys())
    left = X[:, [counts.vocabulary_[word] for word in shared]]
    right = Y[:, [vectorizer.vocabulary_[word] for word in shared]]
    last = X.sum(axis=0).min()
    ties = np.asarray(Y.sum(axis=0)).ravel()[[vectorizer.vocabulary_[word] for word in only_theirs]]
    return {
        "vocabulary": X.shape[1],
        "same_vocabulary_but_for_ties": bool(X.shape == Y.shape and (ties == last).all()),
        "ties": len(ties),
        "same_counts": bool((left != right).nnz == 0),
        "total_kate": int(X.sum()),
        "total_sklearn": int(Y.sum()),
    }


if __name__ == "__main__":
    main()
