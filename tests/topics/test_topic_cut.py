"""A cut of the tree: nearest topics, shares that sum to one and tell how sure they are, and changes to it."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.sparse import csr_matrix

from kate.topics.document_sketch import DocumentSketch
from kate.topics.topic_cut import TopicCut
from kate.topics.topic_space import TopicSpace
from kate.topics.topic_tree import TopicTree
from kate.unit_rows import unit_rows

N_WORDS, N_GROUPS = 60, 5


def counts(n_documents: int = 300, overlap: float = 0.0, seed: int = 0) -> csr_matrix:
    """Documents of ten words from their group's twelve; with an overlap, some from anywhere."""
    random = np.random.default_rng(seed)
    X = np.zeros((n_documents, N_WORDS), dtype=np.float32)
    for row in range(n_documents):
        own = 12 * (row % N_GROUPS) + random.integers(12, size=10)
        anywhere = random.integers(N_WORDS, size=10)
        np.add.at(X[row], np.where(random.random(10) < overlap, anywhere, own), 1)
    return csr_matrix(X)


def encode(X: csr_matrix) -> np.ndarray:
    """Groups of words, and a little of each word."""
    turn = np.kron(np.eye(N_GROUPS), np.ones((12, 1)))
    own = np.random.default_rng(9).normal(size=(N_WORDS, 8)) * 0.3
    return np.asarray(X @ np.hstack([turn, own]), dtype=np.float32)


def cut_of(overlap: float = 0.0, n_topics: int = N_GROUPS) -> TopicCut:
    sketch = DocumentSketch.take(counts(overlap=overlap), encode)
    return TopicCut.of(TopicTree.of(sketch.units), sketch, n_topics)


def unit_vectors(X: csr_matrix) -> np.ndarray:
    return unit_rows(encode(X))


def test_documents_of_one_group_have_one_topic() -> None:
    topics = cut_of().nearest(unit_vectors(counts(seed=1)))
    groups = [set(topics[group::N_GROUPS].tolist()) for group in range(N_GROUPS)]
    assert all(len(group) == 1 for group in groups)
    assert set.union(*groups) == set(range(N_GROUPS))


def test_shares_sum_to_one_and_agree_with_the_nearest() -> None:
    cut, vectors = cut_of(overlap=0.5), unit_vectors(counts(overlap=0.5, seed=1))
    shares = cut.shares(vectors)
    np.testing.assert_allclose(shares.sum(axis=1), 1, rtol=1e-5)
    np.testing.assert_array_equal(shares.argmax(axis=1), cut.nearest(vectors))


def test_shares_are_less_sure_where_documents_are() -> None:
    sure, unsure = cut_of(overlap=0.1), cut_of(overlap=0.7)
    assert sure.sharpness > unsure.sharpness
    halves = unsure.sketch.other_half.astype(np.float32)
    shares = unsure.shares(unsure.sketch.one_half.astype(np.float32))
    is_right = shares.argmax(axis=1) == unsure.nearest(halves)
    assert shares.max(axis=1).mean() == pytest.approx(is_right.mean(), abs=0.1)


def test_merged_topics_keep_all_their_documents() -> None:
    cut, vectors = cut_of(), unit_vectors(counts(seed=1))
    before, merged = cut.nearest(vectors), cut.merged([3, 1])
    assert merged.topics.tolist() == [0, 2, 3, 4]
    after = merged.topics[merged.nearest(vectors)]
    np.testing.assert_array_equal(after, np.where(before == 1, 3, before))
    np.testing.assert_allclose(
        merged.shares(vectors)[:, 2], cut.shares(vectors)[:, [1, 3]].sum(axis=1), rtol=1e-4
    )


def test_documents_of_a_dropped_topic_go_to_others() -> None:
    cut, vectors = cut_of(), unit_vectors(counts(seed=1))
    dropped = cut.dropped(2)
    assert dropped.topics.tolist() == [0, 1, 3, 4]
    before, after = cut.nearest(vectors), dropped.topics[dropped.nearest(vectors)]
    np.testing.assert_array_equal(after[before != 2], before[before != 2])
    assert 2 not in after


def test_a_split_topic_is_two_and_the_others_stay() -> None:
    cut = cut_of(n_topics=3)
    split = cut.split(1)
    assert split.topics.tolist() == [0, 1, 2, 3]
    vectors = unit_vectors(counts(seed=1))
    before, after = cut.nearest(vectors), split.nearest(vectors)
    assert set(after[before == 1].tolist()) >= {1, 3}
    # splitting again gives a number that nobody had
    assert split.dropped(3).split(1).topics.tolist() == [0, 1, 2, 4]


def test_one_small_group_cannot_be_split() -> None:
    cut = cut_of(n_topics=TopicTree.of(cut_of().sketch.units).n_leaves)
    with pytest.raises(ValueError, match="topic 0 is one small group of documents"):
        cut.split(0)


def test_a_sketch_comes_back_from_its_arrays_and_is_checked() -> None:
    sketch = DocumentSketch.take(counts(), encode)
    arrays = sketch.to_arrays()
    again = DocumentSketch.from_arrays(arrays, N_WORDS, 13)
    np.testing.assert_array_equal(again.present.toarray(), sketch.present.toarray())
    np.testing.assert_array_equal(sketch.present.toarray(), counts().toarray() > 0)
    for wrong in (
        {"starts": arrays["starts"][1:]},
        {"words": arrays["words"][1:]},
        {"vectors": arrays["words"]},
    ):
        with pytest.raises(ValueError, match="does not hold together"):
            DocumentSketch.from_arrays(arrays | wrong, N_WORDS, 13)
    with pytest.raises(ValueError, match="does not hold together"):
        DocumentSketch.from_arrays(arrays, N_WORDS - 1, 13)


def test_what_an_update_needs_of_a_sketch_comes_back_and_is_checked() -> None:
    waiting = csr_matrix(
        np.random.default_rng(0).poisson(0.1, size=(counts().shape[0], 5)).astype(np.float32)
    )
    sketch = DocumentSketch.take(counts(), encode, waiting=waiting)
    arrays, of_update = sketch.to_arrays(), sketch.update_arrays()
    again = DocumentSketch.from_arrays(arrays, N_WORDS, 13, of_update, 5)
    np.testing.assert_array_equal(again.all_counts(5).toarray(), sketch.all_counts(5).toarray())
    np.testing.assert_array_equal(sketch.all_counts(5).toarray()[:, N_WORDS:], waiting.toarray())
    for wrong in (
        {"waiting_starts": of_update["waiting_starts"][1:]},
        {"waiting_starts": of_update["waiting_starts"][::-1].copy()},
        {"waiting_words": of_update["waiting_words"][1:]},
        {"waiting_occurrences": of_update["waiting_occurrences"][1:]},
        {"occurrences": of_update["occurrences"][1:]},
    ):
        with pytest.raises(ValueError, match="does not hold together"):
            DocumentSketch.from_arrays(arrays, N_WORDS, 13, of_update | wrong, 5)
    with pytest.raises(ValueError, match="does not hold together"):
        DocumentSketch.from_arrays(arrays, N_WORDS, 13, of_update, 4)
    # a model of a stream knows no words that wait
    unknown = DocumentSketch.take(counts(), encode)
    assert unknown.all_counts(2).shape == (len(unknown), N_WORDS + 2)
    assert set(unknown.update_arrays()) == {"occurrences"}


def test_documents_without_words_are_not_sketched() -> None:
    X = counts().toarray()
    X[::2] = 0
    assert len(DocumentSketch.take(csr_matrix(X), encode)) == 150
    assert len(DocumentSketch.take(csr_matrix(np.zeros((4, N_WORDS), np.float32)), encode)) == 0


def test_very_many_documents_are_sketched_by_some(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("kate.topics.document_sketch._MOST_DOCUMENTS", 50)
    monkeypatch.setattr("kate.topics.document_sketch._MOST_HALVED", 20)
    sketch = DocumentSketch.take(counts(), encode)
    assert (len(sketch), len(sketch.one_half)) == (50, 20)
    groups = {int(np.flatnonzero(row)[0]) // 12 for row in sketch.present.toarray()}
    assert groups == set(range(N_GROUPS))


def coarsely(X: csr_matrix) -> np.ndarray:
    """What other vectors than the trained ones say."""
    return unit_rows(np.asarray(X @ np.random.default_rng(4).normal(size=(N_WORDS, 6)), dtype=np.float32))


def test_short_documents_are_joined_by_the_coarse_vectors(monkeypatch: pytest.MonkeyPatch) -> None:
    sketch = DocumentSketch.take(counts(overlap=0.5), encode, coarsely)  # of ten words, some of them twice
    assert sketch.is_of_short_texts
    trees = {short: TopicTree.of(sketch.units, sketch.coarse, short=short) for short in (True, False)}
    assert not np.array_equal(trees[True].joins, trees[False].joins)
    words = [str(column) for column in range(N_WORDS)]
    np.testing.assert_array_equal(TopicSpace(sketch, words).tree.joins, trees[True].joins)
    monkeypatch.setattr("kate.topics.document_sketch._SHORT", 5)
    assert not sketch.is_of_short_texts
    np.testing.assert_array_equal(TopicSpace(sketch, words).tree.joins, trees[False].joins)
