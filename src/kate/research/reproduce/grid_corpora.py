"""The corpora of a grid: data sets by name, files that the grid names, and a small part of either for a quick look."""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping
from typing import Any

import numpy as np

from kate.errors import quoted
from kate.research.datasets.corpus import Corpus
from kate.research.datasets.loading import DATASETS, list_datasets
from kate.research.evaluation.corpora import CorpusSource, corpus_of

__all__ = ["n_documents", "sample", "source_of", "why_missing"]


def source_of(
    name: str, own: Mapping[str, Any] | None = None, sizes: Mapping[str, int] | None = None
) -> CorpusSource:
    """A data set, or a file that the grid names (``own``); with ``sizes``, at most so many documents of each part."""
    source = CorpusSource.dataset(name) if own is None else _own(name, own)
    if not sizes:
        return source
    settings = {**source.settings, "documents": dict(sizes)}
    return CorpusSource(name, settings, lambda: sample(source.load(), sizes))


def why_missing(name: str, own: Mapping[str, Any] | None = None) -> str | None:
    """Why a data set is not available on this machine; None if it is. Nothing is downloaded."""
    if own is not None:
        return None
    if name not in DATASETS:
        return f"no data set is named {quoted(name)}"
    is_here = next(row.is_here for row in list_datasets() if row.name == name)
    return None if is_here else f"no data here; kate datasets says how to get {name}"


def n_documents(name: str, sizes: Mapping[str, int] | None = None) -> int:
    """How many documents are encoded, to estimate the memory of a run."""
    if sizes:
        return sum(sizes.values())
    return DATASETS[name].expected.documents if name in DATASETS else 10_000


def sample(corpus: Corpus, sizes: Mapping[str, int]) -> Corpus:
    """A corpus with at most ``sizes`` documents of the parts fitting, validation and test, drawn at random.

    The vocabulary stays the same, and so do the columns.
    """
    random = np.random.default_rng(0)
    rows: dict[str, Any] = {"fitting": corpus.fitting, "validation": corpus.validation, "test": corpus.test}
    for part, size in sizes.items():
        if part not in rows:
            raise ValueError(f"there is no part {quoted(part)}; choose from {', '.join(rows)}")
        if len(rows[part]) > size:
            rows[part] = np.sort(random.choice(rows[part], size=size, replace=False))
    kept = np.concatenate(list(rows.values()))
    ends = np.cumsum([len(part) for part in rows.values()])
    fitting, validation, test = np.split(np.arange(len(kept)), ends[:-1])
    return dataclasses.replace(
        corpus,
        X=corpus.X[kept],
        ids=[corpus.ids[row] for row in kept],
        labels=corpus.labels[kept],
        texts=None if corpus.texts is None else [corpus.texts[row] for row in kept],
        read_sequences=None if corpus.read_sequences is None else lambda: corpus.sequences.take(kept),
        train=np.concatenate([fitting, validation]),
        validation=validation,
        test=test,
        description=f"{corpus.description}; {len(kept):,} documents drawn of {corpus.n_docs:,}",
    )


def _own(name: str, own: Mapping[str, Any]) -> CorpusSource:
    from kate.text.readers import read_corpus

    options = dict(own)
    documents = read_corpus(options.pop("file"), label=options.pop("label"))
    return CorpusSource.of(corpus_of(documents, name, **options))
