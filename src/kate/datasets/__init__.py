"""Data sets to measure on: each loads as a :class:`~kate.text.corpus.Corpus` with a split made once."""

from kate.datasets.registry import DatasetRow, list_datasets, load_dataset

__all__ = ["DatasetRow", "list_datasets", "load_dataset"]
