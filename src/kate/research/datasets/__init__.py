"""Data sets to measure on: each is loaded as a :class:`~kate.research.datasets.corpus.Corpus` with a fixed split.

newsgroups.py, rcv1.py, wiki10.py, movies.py, reuters21578.py, sotu.py     one data set each
loading.py         the data sets by name
dataset.py         what a data set is; preparing.py: counted once, then read from the cache (corpus_files.py)
raw_documents.py   texts with labels and a split → Corpus, by the paper's protocol; splits.py: random splits
corpus.py          Corpus: counts, vocabulary, labels and one split
download.py        archives: found, or downloaded and checked; archives.py reads them; cache_dirs.py: where they are
"""

from kate.research.datasets.loading import DatasetRow, list_datasets, load_dataset

__all__ = ["DatasetRow", "list_datasets", "load_dataset"]
