"""Counting words, beside scikit-learn's CountVectorizer with the same tokens and a cached stemmer.

    python benchmarks/text.py            # KATE_DATA=... names the folder of 20news-bydate.tar.gz

Prints one JSON line: seconds of both for the 18,846 documents of 20 Newsgroups (the best of a few runs, the texts in
memory), their ratio, and whether the two matrices are the same; and the seconds of Kate's defaults, which clean the
texts, and with phrases.
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
import Stemmer
from sklearn.feature_extraction.text import CountVectorizer

from kate import Counts
from kate.text.stopwords import ENGLISH
from kate.threads import thread_count

ARCHIVE = "20news-bydate.tar.gz"
VOCABULARY_SIZE = 2_000
RUNS = 3
# What CountVectorizer does not do is left out where the two are compared.
AS_SKLEARN: dict[str, Any] = {
    "strip_html": False,
    "strip_urls": False,
    "strip_emails": False,
    "strip_handles": False,
    "cut_runs": False,
    "min_df": 1,
}


def main() -> None:
    texts = read_posts(find_data() / ARCHIVE)
    count_seconds = sklearn_seconds = default_seconds = phrase_seconds = float("inf")
    # in turn, so that a busy machine is busy for both
    for _ in range(RUNS):
        counts, seconds = timed(lambda: fit(Counts(VOCABULARY_SIZE, **AS_SKLEARN), texts))
        count_seconds = min(seconds, count_seconds)
        default_seconds = min(timed(lambda: fit(Counts(VOCABULARY_SIZE), texts))[1], default_seconds)
        phrase_seconds = min(
            timed(lambda: fit(Counts(VOCABULARY_SIZE, phrases=True), texts))[1], phrase_seconds
        )
        sklearn, seconds = timed(lambda: fit(reference(), texts))
        sklearn_seconds = min(seconds, sklearn_seconds)
    print(
        json.dumps(
            {
                "benchmark": "text",
                "documents": len(texts),
                "megabytes": round(sum(map(len, texts)) / 1e6, 1),
                "threads": thread_count(None),
                "kate_seconds": round(count_seconds, 3),
                "with_cleaning_seconds": round(default_seconds, 3),
                "with_phrases_seconds": round(phrase_seconds, 3),
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
    """CountVectorizer with an analyzer that gives Kate's tokens, written a second time in plain Python.

    A dictionary keeps the stems of each chunk of text, so that they are worked out once, as Kate does.
    """
    stem = Stemmer.Stemmer("english").stemWord
    # latin-1 text: no combining marks; digits such as ² and ¼ do not belong to words
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
    """The words of a chunk of English latin-1 text, not yet stemmed."""
    folded = re.sub("[`´]", "'", chunk).rstrip("'·").replace("\xad", "").lower()
    # as NFKC does
    folded = folded.replace("ª", "a").replace("º", "o").replace("µ", "μ")
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

    Among words as frequent as the last one, scikit-learn takes any, Kate the first by alphabet.
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
