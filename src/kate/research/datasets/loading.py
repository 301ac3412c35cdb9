"""The data sets by name."""

from __future__ import annotations

import os
from collections.abc import Mapping
from dataclasses import dataclass
from types import MappingProxyType
from typing import Any

from kate.errors import quoted
from kate.research.datasets import movies, newsgroups, rcv1, reuters21578, sotu, wiki10
from kate.research.datasets.cache_dirs import data_folders
from kate.research.datasets.corpus import Corpus
from kate.research.datasets.dataset import DataSet
from kate.research.datasets.preparing import prepare
from kate.spelling import did_you_mean

__all__ = ["DATASETS", "DatasetRow", "find_dataset", "list_datasets", "load_dataset"]

DATASETS: Mapping[str, DataSet] = MappingProxyType(
    {module.DATASET.name: module.DATASET for module in (newsgroups, rcv1, wiki10, movies, reuters21578, sotu)}
)


def load_dataset(
    name: str,
    *,
    vocabulary_size: int | None = None,
    data_home: str | os.PathLike[str] | None = None,
    seed: int = 0,
    keep_texts: bool = False,
    **options: Any,
) -> Corpus:
    """Load a data set by name: counted words, labels, and a split made once.

    Parameters
    ----------
    name : str
        see :func:`list_datasets`, or ``kate datasets``
    vocabulary_size : int, optional
        how many words; by default as many as the KATE paper uses for this data set
    data_home : str or path, optional
        the folder with the archives; by default ``KATE_DATA``, then the cache, into which they are downloaded
    seed : int, default 0
        of the random draws: the validation documents, and the test documents if the data set has no split of its own
    keep_texts : bool, default False
        also keep the texts, as ``corpus.texts``
    **options
        of the data set itself, such as ``headers=False`` for 20news

    Notes
    -----
    The first load reads and counts the archive, later ones read the counts from the cache (``KATE_CACHE``).

    Examples
    --------
    >>> corpus = load_dataset("sotu", vocabulary_size=500)
    >>> corpus.n_words, corpus.label_kind
    (500, 'classes')
    """
    return prepare(
        find_dataset(name),
        vocabulary_size=vocabulary_size,
        data_home=data_home,
        seed=seed,
        keep_texts=keep_texts,
        options=options,
    )


@dataclass(frozen=True)
class DatasetRow:
    """One line of the list of data sets: what it is, how large it is, and how to get it."""

    name: str
    title: str
    task: str
    split: str
    train: int
    validation: int
    test: int
    vocabulary_size: int
    licence: str
    is_here: bool
    how_to_get_it: str


def list_datasets(data_home: str | os.PathLike[str] | None = None) -> list[DatasetRow]:
    """All data sets, with their sizes and whether their files are on this machine.

    >>> [row.name for row in list_datasets()]
    ['20news', 'rcv1', 'wiki10', 'movies', 'reuters21578', 'sotu']
    """
    return [_row(dataset, data_home) for dataset in DATASETS.values()]


def _row(dataset: DataSet, data_home: str | os.PathLike[str] | None) -> DatasetRow:
    always = [source for source in dataset.sources if source.only_with is None]
    files = ", ".join(source.name for source in always)
    return DatasetRow(
        name=dataset.name,
        title=dataset.title,
        task=dataset.task,
        split=dataset.split,
        train=dataset.expected.train,
        validation=dataset.expected.validation,
        test=dataset.expected.test,
        vocabulary_size=dataset.vocabulary_size,
        licence=dataset.licence,
        is_here=all(source.find(data_home) is not None for source in always),
        how_to_get_it=dataset.comes_by or f"put {files} into {data_folders(data_home)[0]}",
    )


def find_dataset(name: str) -> DataSet:
    """The data set of a name; an unknown name is refused, with those that are spelled like it."""
    if name in DATASETS:
        return DATASETS[name]
    raise ValueError(f"no data set is named {quoted(name)}; {did_you_mean(name.lower(), DATASETS)}")
