"""Texts with labels and a split → Corpus, by the protocol of the KATE paper."""

from __future__ import annotations

from collections.abc import Collection, Sequence

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from kate.research.datasets.corpus import Corpus, LabelKind, Labels
from kate.research.datasets.dataset import Preparation
from kate.text.cleaning import Cleaning
from kate.text.tokenizer import Tokenizer
from kate.text.vocabulary import Vocabulary
from kate.text.word_choice import DocumentLimit

__all__ = ["count_documents", "count_split", "indicator"]

Rows = NDArray[np.int64]


def count_documents(
    preparation: Preparation,
    description: str,
    *,
    texts: Sequence[str],
    ids: Sequence[str],
    labels: Labels,
    label_kind: LabelKind,
    train: Rows,
    validation: Rows,
    test: Rows,
    classes: Sequence[str] = (),
) -> Corpus:
    """Count by the paper's protocol: no English stop words, Porter stems, the most frequent words of the training set.

    The vocabulary is learned on the training documents only, validation documents included, as in the paper.
    """
    tokenizer = Tokenizer("porter", cleaning=Cleaning.off())
    vocabulary, X = count_split(texts, train, test, tokenizer, preparation.vocabulary_size, min_df=1)
    return Corpus(
        name=preparation.name,
        X=X,
        vocabulary=vocabulary,
        ids=ids,
        labels=labels,
        label_kind=label_kind,
        classes=classes,
        train=train,
        validation=validation,
        test=test,
        description=f"{description}; English stop words removed, Porter stems, "
        f"the {len(vocabulary):,} most frequent of the training documents",
        texts=texts if preparation.keep_texts else None,
        read_sequences=lambda: vocabulary.sequences(texts),
    )


def count_split(
    texts: Sequence[str],
    train: Rows,
    test: Rows,
    tokenizer: Tokenizer,
    vocabulary_size: int | None,
    min_df: DocumentLimit = "auto",
) -> tuple[Vocabulary, sp.csr_array]:
    """The vocabulary of the training documents alone, and the counts of all documents."""
    vocabulary, train_counts = Vocabulary.learn(
        [texts[row] for row in train], tokenizer, vocabulary_size, min_df
    )
    test_counts = vocabulary.count([texts[row] for row in test])
    order = np.argsort(np.concatenate([train, test]))
    return vocabulary, sp.csr_array(sp.vstack([train_counts, test_counts], format="csr")[order])


def indicator(sets: Sequence[Collection[str]], classes: Sequence[str]) -> sp.csr_array:
    """One row per set of classes, one column per class, 1 if the class is in the set; other classes are left out.

    A class that a document names twice (as some stories of Reuters-21578 do) counts once.

    >>> indicator([{"tea"}, {"tea", "gold"}, {"cotton"}], ["gold", "tea"]).toarray()
    array([[0, 1],
           [1, 1],
           [0, 0]], dtype=int8)
    """
    column = {name: index for index, name in enumerate(classes)}
    rows = [sorted({column[name] for name in names if name in column}) for names in sets]
    indices = np.array([index for row in rows for index in row], dtype=np.int32)
    indptr = np.concatenate([[0], np.cumsum([len(row) for row in rows])]).astype(np.int32)
    ones = np.ones(indices.size, dtype=np.int8)
    return sp.csr_array((ones, indices, indptr), shape=(len(sets), len(classes)))
