"""Corpora to find topics in, with their texts: long documents, and short ones cut from them."""

from __future__ import annotations

import gzip
import json
import os
from pathlib import Path

import numpy as np

from kate import load_dataset
from kate.research.datasets.corpus import Corpus, Labels
from kate.research.datasets.raw_documents import count_split
from kate.text.tokenizer import Tokenizer

LONG = ("20news", "reuters21578", "sotu", "bbc", "reviews")
SHORT = {"reuters titles": "reuters21578", "bbc, 12 words": "bbc", "reviews, 12 words": "reviews"}
N_WORDS = 20_000
N_SHORT = 12


def topic_corpus(name: str) -> Corpus:
    """A corpus by its name, with ``texts``."""
    if name in SHORT:
        whole = topic_corpus(SHORT[name])
        assert whole.texts is not None
        cut = _title if name.endswith("titles") else _first_words
        parts = (whole.train, whole.validation, whole.test)
        return _counted(
            name, [cut(text) for text in whole.texts], whole.ids, whole.labels, whole.classes, *parts
        )
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


def _title(text: str) -> str:
    return text.partition("\n")[0]


def _first_words(text: str) -> str:
    return " ".join(text.split()[:N_SHORT])
