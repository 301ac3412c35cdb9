"""The State of the Union addresses as a data set: the paragraphs of the demo, by era or party."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from kate.demo.speeches import INSTALL, MORE_WORDS_THAN, PACKAGE, Paragraph, paragraphs
from kate.errors import quoted
from kate.research.datasets.corpus import Corpus
from kate.research.datasets.dataset import DataSet, Expected, Preparation
from kate.research.datasets.raw_documents import Rows, count_documents
from kate.research.datasets.splits import draw

__all__ = ["DATASET"]

_TEST_SHARE = 0.2
_VALIDATION_SHARE = 0.1
_LABELS = ("era", "party")


def prepare(preparation: Preparation, *, label: str = "era") -> Corpus:
    """Count the paragraphs; all paragraphs of an address are in the same part of the split."""
    if label not in _LABELS:
        raise ValueError(f"label is {quoted(label)}; expected one of {', '.join(_LABELS)}")
    found = paragraphs(preparation.paths[PACKAGE.name])
    train, validation, test = _split_by_address(found, preparation.seed)
    return count_documents(
        preparation,
        f"State of the Union, paragraphs of more than {MORE_WORDS_THAN} words, by {label}",
        texts=[paragraph.text for paragraph in found],
        ids=[paragraph.id for paragraph in found],
        labels=np.array([getattr(paragraph, label) for paragraph in found]),
        label_kind="classes",
        train=train,
        validation=validation,
        test=test,
    )


def _split_by_address(found: Sequence[Paragraph], seed: int) -> tuple[Rows, Rows, Rows]:
    """Rows of train, validation and test: the same share of the addresses of every era, drawn at random."""
    era_of = {paragraph.address: paragraph.era for paragraph in found}
    side_of: dict[str, str] = {}
    for era in dict.fromkeys(era_of.values()):
        addresses = [address for address in era_of if era_of[address] == era]
        test, train = draw(np.arange(len(addresses)), round(_TEST_SHARE * len(addresses)), seed)
        validation, fitting = draw(train, round(_VALIDATION_SHARE * train.size), seed)
        for side, rows in (("test", test), ("validation", validation), ("fitting", fitting)):
            side_of |= {addresses[row]: side for row in rows}
    sides = np.array([side_of[paragraph.address] for paragraph in found])
    train_rows, test_rows = np.flatnonzero(sides != "test"), np.flatnonzero(sides == "test")
    return train_rows, np.flatnonzero(sides == "validation"), test_rows


DATASET = DataSet(
    name="sotu",
    title="State of the Union addresses, by paragraph",
    task="classification by era or party",
    split="random by address in every era",
    licence="public domain texts; the package sotu is under the MIT licence",
    sources=(PACKAGE,),
    expected=Expected(train=17_409, validation=1_827, test=3_716),  # of sotu 0.1.2; every year adds to it
    vocabulary_size=2_000,
    prepare=prepare,
    comes_by=INSTALL,
)
