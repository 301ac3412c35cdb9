"""Data sets to measure on: each loads as a :class:`~kate.research.datasets.corpus.Corpus` with a split made once."""

from kate.research.datasets.loading import DatasetRow, list_datasets, load_dataset

__all__ = ["DatasetRow", "list_datasets", "load_dataset"]
