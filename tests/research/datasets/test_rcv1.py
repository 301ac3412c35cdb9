from __future__ import annotations

import gzip
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from kate.research.datasets import rcv1
from kate.research.datasets.dataset import Expected
from kate.research.datasets.preparing import prepare
from kate.research.datasets.rcv1 import DATASET, read_topics

# Ten stories in the five files, in the published form.
STORIES = {
    "train": ".I 2286\n.W\nrecov recov excit bring mexic\nemerg recov\n\n.I 2287\n.W\npetrol oil\n\n",
    "test_pt0": ".I 26151\n.W\noil oil gold\n\n.I 26152\n.W\ngold\n\n",
    "test_pt1": ".I 30000\n.W\n\n.I 30001\n.W\nmexic\n\n",
    "test_pt2": ".I 40000\n.W\noil\n\n.I 40001\n.W\noil\n\n",
    "test_pt3": ".I 50000\n.W\nbank\n\n.I 50001\n.W\nbank oil\n\n",
}
IDS = ("2286", "2287", "26151", "26152", "30000", "30001", "40000", "40001", "50000", "50001")
TOPICS = "E11 2286 1\nECAT 2286 1\n" + "".join(f"CCAT {number} 1\n" for number in IDS[1:])
SMALL = replace(DATASET, expected=Expected(train=7, validation=2, test=3, classes=3), vocabulary_size=4)


def write(folder: Path, stories: dict[str, str] | None = None, topics: str = TOPICS) -> Path:
    for part, text in (STORIES | (stories or {})).items():
        (folder / f"lyrl2004_tokens_{part}.dat.gz").write_bytes(gzip.compress(text.encode()))
    (folder / "rcv1-v2.topics.qrels.gz").write_bytes(gzip.compress(topics.encode()))
    return folder


def test_small_files_of_the_published_form(tmp_path: Path) -> None:
    corpus = prepare(SMALL, data_home=write(tmp_path))

    assert corpus.ids == IDS
    assert corpus.classes == ("CCAT", "E11", "ECAT")
    assert corpus.labels.toarray()[:2].tolist() == [[0, 1, 1], [1, 0, 0]]
    assert (corpus.train.size, corpus.validation.size, corpus.test.size) == (7, 2, 3)


def test_the_counts_are_those_of_a_plain_count(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(rcv1, "_STORIES_AT_ONCE", 3)  # so that blocks are many and their seams are tested

    corpus = prepare(SMALL, data_home=write(tmp_path))

    documents = "".join(STORIES.values()).split(".I ")[1:]
    words = [document.split()[2:] for document in documents]
    counted = [[document.count(word) for word in corpus.vocabulary.words] for document in words]
    assert corpus.X.toarray().tolist() == counted


def test_the_words_are_the_most_frequent_of_the_training_stories(tmp_path: Path) -> None:
    corpus = prepare(SMALL, data_home=write(tmp_path), vocabulary_size=100)

    totals = corpus.part("train").X.sum(axis=0)
    ranked = sorted(zip(-totals, corpus.vocabulary.words, strict=True))
    assert corpus.vocabulary.words == [word for _, word in ranked]
    assert (totals > 0).all()  # a word of test stories alone has no column
    assert np.array_equal(corpus.vocabulary.totals, totals)
    assert corpus.vocabulary.n_documents == 7


def test_unpacked_files_are_read_too(tmp_path: Path) -> None:
    write(tmp_path)
    for file in tmp_path.glob("*.gz"):
        file.with_suffix("").write_bytes(gzip.decompress(file.read_bytes()))
        file.unlink()

    assert prepare(SMALL, data_home=tmp_path).ids == IDS


@pytest.mark.parametrize(
    ("train", "message"),
    [
        (".I x\n.W\na\n", r"lyrl2004_tokens_train\.dat\.gz, line 1: expected '\.I NUMBER', found '\.I x'"),
        (".I 1\noil\n", r"line 2: expected '\.W', found 'oil'"),
        ("oil\n", r"line 1: expected '\.I NUMBER', found 'oil'"),
        (".I 1\n.I 2\n", r"line 2: expected '\.W', found '\.I 2'"),
        (".I 1\n.W\noil\n.W\n", r"line 4: expected tokens or '\.I NUMBER', found '\.W'"),
        (".I 1\n.W\n.X\n", r"line 3: expected tokens or '\.I NUMBER', found '\.X'"),
        (".I 1\n.W\noil\n\n.I 2\n", r"lyrl2004_tokens_train\.dat\.gz ends inside document 2"),
        (".I 2286\n.W\noil\n\n", r"found 9 documents in the token files, expected 10"),
        (STORIES["test_pt0"], r"found 8 different document ids, expected 10: a token file is there twice"),
    ],
)
def test_malformed_stories_are_named_with_their_line(tmp_path: Path, train: str, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        prepare(SMALL, data_home=write(tmp_path, {"train": train}))


@pytest.mark.parametrize(
    ("topics", "message"),
    [
        ("E11 2286\n", r"rcv1-v2\.topics\.qrels\.gz, line 1: expected 'TOPIC DOCUMENT 1', found 'E11 2286'"),
        ("E11 2286 1\nE11 many 1\n", "line 2: expected"),
        ("E11 2286 0\n", "line 1: expected"),
        ("", "found 0 topics in rcv1-v2.topics.qrels.gz, expected 3"),
        ("E11 2286 1\n", "found 1 topics in rcv1-v2.topics.qrels.gz, expected 3"),
        (TOPICS + "E11 9 1\n", "found 1 documents in rcv1-v2.topics.qrels.gz that no token file has"),
        (TOPICS.replace("CCAT 2287 1\n", ""), "found 1 documents without a topic, expected 0"),
    ],
)
def test_malformed_topics_are_named_with_their_line(tmp_path: Path, topics: str, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        prepare(SMALL, data_home=write(tmp_path, topics=topics))


def test_a_truncated_file_is_named(tmp_path: Path) -> None:
    write(tmp_path)
    file = tmp_path / "lyrl2004_tokens_test_pt2.dat.gz"
    file.write_bytes(file.read_bytes()[:-12])

    with pytest.raises(ValueError, match=r"test_pt2\.dat\.gz is truncated or damaged"):
        prepare(SMALL, data_home=tmp_path)


def test_the_real_topics_have_the_published_counts(real_data: Path) -> None:
    topics = read_topics(real_data / "rcv1-v2.topics.qrels.gz")

    assert len(topics.names) == 103
    assert topics.codes.size == 2_606_875
    assert np.unique(topics.documents).size == 804_414
    assert int((topics.codes == topics.names.index("CCAT")).sum()) == 381_327
