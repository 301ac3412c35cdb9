from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from kate.research.datasets.corpus import Corpus
from kate.research.datasets.dataset import Expected
from kate.research.datasets.newsgroups import DATASET, without_footer, without_headers, without_quotes
from kate.research.datasets.preparing import prepare

Pack = Callable[[Path, dict[str, bytes]], Path]

POST = b"""From: ann@x.edu
Subject: Orbits

In article <1@y> bob@y.com writes:
> Rockets explode.
Satellites do not.
--
Ann Smith
"""


@pytest.fixture(scope="module")
def corpus(real_data: Path, module_cache: Path) -> Corpus:
    return prepare(DATASET, data_home=real_data)


def test_the_real_archive_has_the_published_counts(corpus: Corpus) -> None:
    assert (corpus.train.size, corpus.validation.size, corpus.test.size) == (11_314, 1_000, 7_532)
    assert corpus.X.shape == (18_846, 2_000)
    assert len(corpus.classes) == 20
    train, test = Counter(corpus.part("train").y), Counter(corpus.part("test").y)
    assert (train["alt.atheism"], test["alt.atheism"]) == (480, 319)
    assert (train["rec.sport.hockey"], test["rec.sport.hockey"]) == (600, 399)
    assert (train["talk.religion.misc"], test["talk.religion.misc"]) == (377, 251)
    assert len(set(corpus.ids)) == corpus.n_docs


def test_the_words_are_the_most_frequent_stems_of_the_training_posts(corpus: Corpus) -> None:
    totals = corpus.part("train").X.sum(axis=0)

    assert np.array_equal(totals, corpus.vocabulary.totals)
    assert (np.diff(totals) <= 0).all()
    assert {"peopl", "christian", "orbit"} <= set(corpus.vocabulary.words)
    assert corpus.vocabulary.n_documents == 11_314


def small_archive(make_tar: Pack, path: Path, train: int = 4, test: int = 2) -> Path:
    files = {}
    for side, count in (("train", train), ("test", test)):
        for number in range(count):
            group = ("sci.space", "rec.autos")[number % 2]
            files[f"20news-bydate-{side}/{group}/{number}"] = POST
    return make_tar(path / "20news-bydate.tar.gz", files)


SMALL = replace(DATASET, expected=Expected(train=4, validation=1, test=2, classes=2))


def test_headers_footers_and_quotes_are_kept_or_dropped(tmp_path: Path, make_tar: Pack) -> None:
    small_archive(make_tar, tmp_path)

    whole = prepare(SMALL, data_home=tmp_path)
    bare = prepare(SMALL, data_home=tmp_path, options={"headers": False, "footers": False, "quotes": False})

    assert {"subject", "rocket", "satellit", "smith"} <= set(whole.vocabulary.words)
    assert bare.vocabulary.words == ["satellit"]
    assert "nothing dropped" in whole.description
    assert "headers and footers and quotes dropped" in bare.description


def test_a_post_without_what_is_to_be_dropped_stays_as_it_is() -> None:
    assert without_headers("no headers") == "no headers"
    assert without_footer("a\nb") == "a\nb"
    assert without_quotes("a > b") == "a > b"
    long_signature = "text\n--\n" + "line\n" * 30
    assert without_footer(long_signature) == long_signature  # that far from the end it is no signature


def test_a_missing_post_is_noticed(tmp_path: Path, make_tar: Pack) -> None:
    small_archive(make_tar, tmp_path, train=3)

    message = "found 3 documents in 20news-bydate-train, expected 4: the archive is not the by-date one"
    with pytest.raises(ValueError, match=message):
        prepare(SMALL, data_home=tmp_path)


def test_the_order_of_the_archive_does_not_matter(tmp_path: Path, make_tar: Pack) -> None:
    names = [f"20news-bydate-{side}/g{n}/{n}" for side in ("train", "test") for n in range(2)]
    expected = replace(DATASET, expected=Expected(train=2, validation=1, test=2, classes=2))
    ids = []
    for folder, order in (("a", names), ("b", names[::-1])):
        (tmp_path / folder).mkdir()
        make_tar(tmp_path / folder / "20news-bydate.tar.gz", dict.fromkeys(order, POST))
        ids.append(prepare(expected, data_home=tmp_path / folder).ids)

    assert ids[0] == ids[1]
