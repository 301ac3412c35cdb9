"""Odd texts, files, matrices and queries: an answer, or an error in Kate's own words; never a crash, never a wait."""

from __future__ import annotations

import sys
import time
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from scipy import sparse

import kate
from attacks.attack_budget import cases, is_long, seed
from attacks.attacked_folders import small_model
from attacks.case_runner import attack
from kate.search.filters import Filter
from kate.text.documents import Documents
from kate.text.vocabulary import Vocabulary


@pytest.mark.skipif(sys.platform != "linux", reason="limits of memory are Linux's")
@pytest.mark.parametrize(
    ("kind", "quick", "share"),
    [
        ("odd_inputs:OddText", 120, 0.25),
        ("odd_inputs:OddFile", 150, 0.25),
        ("odd_inputs:OddMatrix", 100, 0.2),
        ("odd_inputs:OddQuery", 100, 0.2),
        ("odd_changes:OddEdits", 30, 0.05),
        ("odd_changes:OddUpdate", 12, 0.05),
    ],
)
def test_odd_inputs_are_answered_or_refused_in_words(
    whole_folders: Callable[[str], Path], tmp_path: Path, kind: str, quick: int, share: float
) -> None:
    name = f"attacks.{kind}"
    attack(
        name, range(cases(quick, share)), seed(), str(whole_folders("index")), str(tmp_path)
    ).require_none()


@pytest.fixture(scope="module")
def model() -> kate.TextModel:
    return small_model()


# A slow machine is no fault; the long attack has new examples every time.
SETTINGS = settings(
    max_examples=cases(60, 0.02),
    deadline=None,
    derandomize=not is_long(),
    database=None,
    suppress_health_check=list(HealthCheck),
)


@SETTINGS
@given(st.lists(st.text(st.characters(exclude_categories=["Cs"])), min_size=1, max_size=6))
def test_vectors_are_finite_and_do_not_depend_on_company(model: kate.TextModel, texts: list[str]) -> None:
    vectors = model.encode(texts)
    assert np.isfinite(vectors).all()
    np.testing.assert_allclose(vectors[0], model.encode(texts[0]), atol=1e-6)


@SETTINGS
@given(st.lists(st.text(st.characters(exclude_categories=["Cs"]), max_size=40), min_size=1, max_size=6))
def test_a_vocabulary_comes_back_from_its_lines(texts: list[str]) -> None:
    vocabulary, counts = Vocabulary.learn([*texts, "gold coin"], min_df=1)
    again = Vocabulary.from_lines(vocabulary.to_lines(), vocabulary.config())
    assert again.words == vocabulary.words
    assert (again.count([*texts, "gold coin"]) != counts).nnz == 0


def test_utf_16_without_its_mark_is_named(tmp_path: Path) -> None:
    """Python's own error for it is no UnicodeDecodeError."""
    for name in ("a.txt", "a.jsonl", "a.csv"):
        (tmp_path / name).write_bytes(b"gold\n")
        with pytest.raises(kate.CorpusError, match="is not utf-16"):
            kate.read_corpus(tmp_path / name, encoding="utf-16")
    (tmp_path / "folder").mkdir()
    (tmp_path / "folder" / "a.txt").write_bytes(b"gold\n")
    with pytest.raises(kate.KateError, match="is not utf-16"):
        kate.read_corpus(tmp_path / "folder", encoding="utf-16")


def test_a_byte_that_utf_16_cannot_give_back_is_named(tmp_path: Path) -> None:
    """What tells the encoding of other files is not to be had here."""
    (tmp_path / "a.txt").write_bytes("gold\n".encode("utf-16") + b"\x85\xd9\n\0")
    with pytest.raises(kate.CorpusError, match="is not utf-16; find out its encoding"):
        kate.read_corpus(tmp_path / "a.txt", encoding="utf-16")


def test_counts_whose_arrays_do_not_belong_together_end_no_process() -> None:
    """SciPy would read behind them."""
    X = sparse.csr_matrix(np.eye(4, dtype=np.int64))
    X.indptr[2] = 2**31 - 1
    with pytest.raises(ValueError, match=r"indptr|index pointer"):
        Vocabulary.of_counts(X, ["a", "b", "c", "d"])
    with pytest.raises(ValueError, match=r"indptr|index pointer"):
        kate.TextModel(2).fit_counts(X, ["a", "b", "c", "d"])


def test_half_a_character_is_refused_in_words_wherever_it_comes_in(
    whole_folders: Callable[[str], Path], model: kate.TextModel
) -> None:
    """Polars and LanceDB say it in words of theirs."""
    odd = "gold \ud800 coin"
    for stores in ("index", "lance"):
        index = kate.Index.load(whole_folders(stores))
        with pytest.raises(kate.FilterError, match="half a character"):
            index.search("gold", where=f"label = '{odd}'")
        with pytest.raises(ValueError, match="no document has the id"):
            index.similar_documents(odd)
    for call in (
        lambda: small_model().update([odd, "gold"]),
        lambda: kate.Index.build(model, ["gold", odd]),
        lambda: model.topics(3).label([odd]),
        lambda: Documents.from_texts(["gold"], labels=[odd]),
    ):
        with pytest.raises(ValueError, match="not valid Unicode"):
            call()


def test_a_long_query_is_not_repeated_whole(model: kate.TextModel) -> None:
    with pytest.raises(kate.UnknownWordError) as refused:
        model.similar_words("zebra " * 2000)
    assert len(str(refused.value)) < 500


def test_a_long_chain_of_conditions_is_refused_at_once() -> None:
    """Polars would think about 900 of them for minutes."""
    start = time.monotonic()
    with pytest.raises(kate.FilterError, match=r"joins 899 conditions.*year in \(1990"):
        Filter.read(" or ".join(["year = 1900"] * 900), ["year"])
    assert time.monotonic() - start < 5
    assert Filter.read(f"year in ({', '.join(map(str, range(-500, 500)))})", ["year"]).columns == ("year",)
    with pytest.raises(kate.FilterError) as refused:
        Filter.read("(" * 5000 + "year = 1" + ")" * 5000, ["year"])
    assert len(str(refused.value)) < 1000
