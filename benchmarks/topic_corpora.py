"""Corpora to find topics in, with their texts: long documents, and short ones cut from them."""

from __future__ import annotations

import gzip
import json
import os
import re
from pathlib import Path

import numpy as np

from kate import load_dataset
from kate.research.datasets.corpus import Corpus, Labels
from kate.research.datasets.raw_documents import count_split
from kate.text.tokenizer import Tokenizer

LONG = ("20news", "reuters21578", "sotu", "bbc", "reviews")
SHORT = {"reuters titles": "reuters21578", "bbc, 12 words": "bbc", "reviews, 12 words": "reviews"}
N_WORDS = 20_000


def topic_corpus(name: str) -> Corpus:
    """A corpus by its name, with ``texts``; "bbc, 25 words" has the first words of each text of "bbc"."""
    cut_at = re.fullmatch(r"(\w+), (\d+) words", name)
    if cut_at or name in SHORT:
        whole = topic_corpus(cut_at[1] if cut_at else SHORT[name])
        assert whole.texts is not None
        texts = [
            " ".join(text.split()[: int(cut_at[2])]) if cut_at else text.partition("\n")[0]
            for text in whole.texts
        ]
        parts = (whole.train, whole.validation, whole.test)
        return _counted(name, texts, whole.ids, whole.labels, whole.classes, *parts)
    if name in ("bbc", "reviews"):
        with gzip.open(data_folder() / f"{name}.jsonl.gz", "rt", encoding="utf-8") as lines:
            rows = [json.loads(line) for line in lines]
        labels = np.array([str(row["label"]) for row in rows])
        is_test = np.array([row["split"] == "test" for row in rows])
        train, test = np.flatnonzero(~is_test), np.flatnonzero(is_test)
        validation = np.sort(np.random.default_rng(0).permutation(train)[: len(train) // 10])
        texts = [row["text"].replace("<br />", " ") for row in rows]
        ids = [str(number) for number in range(len(rows))]
        return _counted(name, texts, ids, labels, sorted(set(labels.tolist())), train, validation, test)
    return load_dataset(name, vocabulary_size=N_WORDS, keep_texts=True, data_home=data_folder())


def data_folder() -> Path:
    beside = Path(__file__).resolve().parents[2] / "shared" / "data"
    return Path(os.environ.get("KATE_DATA", beside))


def _counted(
    name: str, texts: list[str], ids: object, labels: Labels, classes: object, train: object, validation: object,
    test: object,
) -> Corpus:  # fmt: skip
    vocabulary, X = count_split(texts, train, test, Tokenizer("english"), N_WORDS)
    kind = "classes" if isinstance(labels, np.ndarray) else "sets"
    return Corpus(
        name, X, vocabulary, ids, labels, kind, train, validation, test, classes, texts=texts,
        read_sequences=lambda: vocabulary.sequences(texts),
    )  # fmt: skip
