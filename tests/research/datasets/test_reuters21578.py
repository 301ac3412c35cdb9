from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from kate.research.datasets.corpus import Corpus
from kate.research.datasets.dataset import Expected
from kate.research.datasets.preparing import prepare
from kate.research.datasets.reuters21578 import DATASET

Pack = Callable[[Path, dict[str, bytes]], Path]


@pytest.fixture(scope="module")
def corpus(real_data: Path, module_cache: Path) -> Corpus:
    return prepare(DATASET, data_home=real_data, keep_texts=True)


def test_the_real_archive_has_the_published_counts(corpus: Corpus) -> None:
    assert (corpus.train.size, corpus.validation.size, corpus.test.size) == (7_770, 800, 3_019)
    assert len(corpus.classes) == 90
    assert corpus.X.shape == (10_789, 2_000)


def test_the_real_topics_have_the_published_counts(corpus: Corpus) -> None:
    train, test = corpus.part("train").y.sum(axis=0), corpus.part("test").y.sum(axis=0)
    found = {name: (int(train[i]), int(test[i])) for i, name in enumerate(corpus.classes)}

    # The most frequent topics of ModApte, as the literature since Joachims (1998) counts them.
    assert found["earn"] == (2_877, 1_087)
    assert found["acq"] == (1_650, 719)
    assert found["money-fx"] == (538, 179)
    assert found["corn"] == (181, 56)
    assert min(min(counts) for counts in found.values()) == 1
    assert (np.diff(corpus.labels.indptr) >= 1).all()
    assert (corpus.labels.data == 1).all()  # though some stories name a topic twice


def test_the_text_is_title_and_body_without_markup(corpus: Corpus) -> None:
    assert corpus.texts is not None
    first = corpus.texts[corpus.ids.index("1")]

    assert first.startswith("BAHIA COCOA REVIEW\nShowers continued throughout the week")
    assert not any("<BODY>" in text or "&lt;" in text or "\x03" in text for text in corpus.texts)


def story(number: int, side: str, topics: str, text: str, marked: str = "YES") -> str:
    names = "".join(f"<D>{topic}</D>" for topic in topics.split())
    return (
        f'<REUTERS TOPICS="{marked}" LEWISSPLIT="{side}" NEWID="{number}">\n'
        f"<TOPICS>{names}</TOPICS><TEXT>&#2;\n{text}</TEXT>\n</REUTERS>\n"
    )


SMALL = replace(DATASET, expected=Expected(train=2, validation=1, test=1, classes=1))
STORIES = [
    story(1, "TRAIN", "tea", "<TITLE>Tea prices</TITLE><BODY>Tea rose &lt;TEA>.&#3;</BODY>"),
    story(2, "TRAIN", "tea gold", "<TITLE>Brief tea item</TITLE>"),
    story(3, "TEST", "tea", "unprocessed tea"),
    story(4, "TRAIN", "gold", "<TITLE>Gold: no test story has it</TITLE>"),
    story(5, "TEST", "tea", "<TITLE>Not of ModApte</TITLE>", marked="NO"),
    story(6, "NOT-USED", "tea", "<TITLE>Unused</TITLE>"),
]


def test_only_topics_with_documents_on_both_sides_count(tmp_path: Path, make_tar: Pack) -> None:
    make_tar(tmp_path / "reuters21578.tar.gz", {"reut2-000.sgm": "".join(STORIES).encode()})

    corpus = prepare(SMALL, data_home=tmp_path, keep_texts=True)

    assert corpus.ids == ("1", "2", "3")
    assert corpus.classes == ("tea",)
    assert corpus.texts == ("Tea prices\nTea rose <TEA>.", "Brief tea item", "unprocessed tea")


@pytest.mark.parametrize(
    ("sgml", "message"),
    [
        ("".join(STORIES[:5])[:-20], r"found 4 whole stories in reut2-000\.sgm, expected 5"),
        (STORIES[0] + STORIES[1].replace("NEWID", "OLDID"), r"reut2-000\.sgm, line 5: a story without NEWID"),
        ("".join(STORIES[:1] + STORIES[2:]), "found 1 training documents with a topic, expected 2"),
    ],
)
def test_what_is_malformed_is_named(tmp_path: Path, make_tar: Pack, sgml: str, message: str) -> None:
    make_tar(tmp_path / "reuters21578.tar.gz", {"reut2-000.sgm": sgml.encode()})

    with pytest.raises(ValueError, match=message):
        prepare(SMALL, data_home=tmp_path)
