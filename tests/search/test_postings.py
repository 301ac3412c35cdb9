"""Postings against BM25 and phrases spelled out in plain Python."""

from __future__ import annotations

import math

import numpy as np
import polars as pl
import pytest

from kate.search.postings import Postings
from kate.search.search_words import SearchTokenizer, WordSequences
from kate.text.sequences import Sequences

rng = np.random.default_rng(0)
LISTS = [(rng.zipf(1.5, size=n) % 20).tolist() for n in rng.integers(0, 30, size=60)]
POSTINGS = Postings.of(Sequences.of(LISTS, 20))


def bm25(document: list[int], words: list[int]) -> float:
    mean = sum(map(len, LISTS)) / len(LISTS)
    score = 0.0
    for word in words:
        df = sum(word in other for other in LISTS)
        tf = document.count(word)
        idf = math.log(1 + (len(LISTS) - df + 0.5) / (df + 0.5))
        score += idf * tf * 2.2 / (tf + 1.2 * (0.25 + 0.75 * len(document) / mean))
    return score


@pytest.mark.parametrize("words", [[3], [1, 2], [4, 9, 11]])
def test_scores_are_those_of_bm25(words: list[int]) -> None:
    expected = [bm25(document, words) for document in LISTS]
    np.testing.assert_allclose(POSTINGS.scores(words), expected, rtol=1e-5)
    found = POSTINGS.best(words, POSTINGS.scores(words), top=5)
    order = sorted((row for row in range(60) if expected[row] > 0), key=lambda row: (-expected[row], row))
    assert found.rows.tolist() == order[:5]


def test_only_allowed_rows_are_found() -> None:
    allowed = np.zeros(60, bool)
    allowed[10:20] = True
    found = POSTINGS.best([1, 2], POSTINGS.scores([1, 2]), 100, allowed)
    assert set(found.rows.tolist()) == {row for row in range(10, 20) if {1, 2} & set(LISTS[row])}


@pytest.mark.parametrize("phrase", [[1, 1], [1, 2], [2, 1, 1], [7, 3]])
def test_a_phrase_stands_side_by_side_in_one_document(phrase: list[int]) -> None:
    expected = [
        row
        for row, document in enumerate(LISTS)
        if any(document[start : start + len(phrase)] == phrase for start in range(len(document)))
    ]
    assert POSTINGS.phrase(phrase).tolist() == expected


def test_no_phrase_reaches_from_a_document_into_the_next() -> None:
    postings = Postings.of(Sequences.of([[0, 1], [2, 0]], 3))
    assert postings.phrase([1, 2]).tolist() == []
    assert postings.phrase([2, 0]).tolist() == [1]


def test_the_sequences_come_back() -> None:
    sequences = POSTINGS.sequences()
    assert [row.tolist() for row in sequences] == LISTS
    words = POSTINGS.words_of_documents()
    assert [set(words.indices[a:b]) for a, b in zip(words.indptr, words.indptr[1:], strict=False)] == [
        set(document) for document in LISTS
    ]


def test_documents_without_words_are_no_harm() -> None:
    postings = Postings.of(Sequences.of([[], [0], []], 1))
    assert postings.best([0], postings.scores([0]), 10).rows.tolist() == [1]
    empty = Postings.of(Sequences.of([[], []], 0))
    assert empty.best([], empty.scores([]), 10).rows.tolist() == []


def test_every_word_is_read_names_and_numbers_too() -> None:
    texts = pl.Series(["Mr. B's 1,000 F-16s, in 1990", "<b>Café</b> cafe\u0301 &amp; l'homme", ""])
    words = WordSequences.of(texts, SearchTokenizer(stop_words=()))
    assert list(words.lines()) == ["mr b 1000 f 16s in 1990", "café café l homm", ""]
    assert words.stems.to_list() == sorted(words.stems.to_list())
    assert words.readable[words.stems.to_list().index("homm")] == "homme"
