from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from kate.research.datasets.corpus import Corpus
from kate.research.datasets.dataset import Expected
from kate.research.datasets.movies import DATASET
from kate.research.datasets.preparing import prepare

Pack = Callable[[Path, dict[str, bytes]], Path]


@pytest.fixture(scope="module", params=[False, True], ids=["extracts", "whole"])
def corpus(request: pytest.FixtureRequest, real_data: Path, module_cache: Path) -> Corpus:
    return prepare(DATASET, data_home=real_data, keep_texts=True, options={"whole": request.param})


def test_the_real_archives_have_the_published_counts(corpus: Corpus) -> None:
    assert (corpus.train.size, corpus.validation.size, corpus.test.size) == (3_337, 300, 1_669)
    assert corpus.X.shape == (5_006, 2_000)
    assert corpus.label_kind == "number"
    assert (corpus.labels.min(), corpus.labels.max()) == (0, 1)
    authors = [name.split("/")[0] for name in corpus.ids]
    assert [authors.count(name) for name in sorted(set(authors))] == [1_027, 1_307, 902, 1_770]


def test_copies_of_a_text_are_on_one_side(corpus: Corpus) -> None:
    texts = corpus.texts
    assert texts is not None
    fitting, validation, test = (
        {texts[row] for row in corpus.rows(part)} for part in ("fitting", "validation", "test")
    )

    assert len(set(texts)) < corpus.n_docs  # there are copies
    assert fitting.isdisjoint(validation)
    assert fitting.isdisjoint(test)
    assert validation.isdisjoint(test)


def scale_data(**changed: str) -> dict[str, bytes]:
    files = {"id": "1\n2\n3\n4\n", "subj": "good\nbad\nbad\nfine café\n", "rating": "0.9\n0.1\n0.1\n1\n"}
    return {f"scaledata/Ann/{kind}.Ann": text.encode() for kind, text in (files | changed).items()}


SMALL = replace(DATASET, expected=Expected(train=3, validation=1, test=1))


def test_a_small_archive_of_the_same_form(tmp_path: Path, make_tar: Pack) -> None:
    make_tar(tmp_path / "scale_data.tar.gz", scale_data())

    corpus = prepare(SMALL, data_home=tmp_path)

    assert corpus.ids == ("Ann/1", "Ann/2", "Ann/3", "Ann/4")
    assert np.array_equal(corpus.labels, [0.9, 0.1, 0.1, 1.0])
    assert corpus.test[0] in (0, 3)  # the two copies cannot be the one test document


def test_whole_reviews_are_windows_1252(tmp_path: Path, make_tar: Pack) -> None:
    make_tar(tmp_path / "scale_data.tar.gz", scale_data())
    whole = {
        f"scale_whole_review/Ann/txt.parag/{n}.txt": f"“review” {n}".encode("cp1252") for n in range(1, 5)
    }
    make_tar(tmp_path / "scale_whole_review.tar.gz", whole)

    corpus = prepare(SMALL, data_home=tmp_path, keep_texts=True, options={"whole": True})

    assert corpus.texts == ("“review” 1", "“review” 2", "“review” 3", "“review” 4")


@pytest.mark.parametrize(
    ("changed", "message"),
    [
        ({"rating": "0.9\n0.1\n7\n1\n"}, r"rating\.Ann, line 3: '7' is not a rating between 0 and 1"),
        ({"rating": "0.9\n0.1\nx\n1\n"}, r"rating\.Ann, line 3: 'x' is not a rating"),
        ({"rating": "0.9\n"}, "Ann has 4 ids, 4 texts and 1 ratings, expected as many of each"),
        (
            {"id": "1\n", "subj": "a\n", "rating": "1\n"},
            r"found 1 reviews in scale_data.*, expected 4",
        ),
    ],
)
def test_what_is_malformed_is_named(
    tmp_path: Path, make_tar: Pack, changed: dict[str, str], message: str
) -> None:
    make_tar(tmp_path / "scale_data.tar.gz", scale_data(**changed))

    with pytest.raises(ValueError, match=message):
        prepare(SMALL, data_home=tmp_path)


def test_a_rated_review_without_its_text_is_named(tmp_path: Path, make_tar: Pack) -> None:
    make_tar(tmp_path / "scale_data.tar.gz", scale_data())
    whole = {f"scale_whole_review/Ann/txt.parag/{n}.txt": b"x" for n in (1, 2, 3, 5)}
    make_tar(tmp_path / "scale_whole_review.tar.gz", whole)

    with pytest.raises(ValueError, match="lacks 1 rated reviews, such as Ann/4"):
        prepare(SMALL, data_home=tmp_path, options={"whole": True})
