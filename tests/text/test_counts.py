"""Counts as a scikit-learn citizen: checks, pipelines, inputs of every kind, errors."""

from __future__ import annotations

import pickle
import tarfile
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pytest
from sklearn.base import clone
from sklearn.exceptions import NotFittedError
from sklearn.feature_extraction.text import CountVectorizer, TfidfTransformer
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import GridSearchCV
from sklearn.pipeline import make_pipeline
from sklearn.utils import estimator_checks

from kate import Counts
from kate.text.tokenizer import Tokenizer
from real_data import real_data_folder

TEXTS = ["Two companies merged.", "The company is a company.", "A treaty of peace"]


# parametrize_with_checks yields no check for an estimator of strings (CountVectorizer is one too): it feeds
# matrices of numbers. These are the checks of its list that need no data; the tests below stand for the rest.
CHECKS_WITHOUT_DATA = [
    estimator_checks.check_do_not_raise_errors_in_init_or_set_params,
    estimator_checks.check_estimator_cloneable,
    estimator_checks.check_estimator_repr,
    estimator_checks.check_estimator_tags_renamed,
    estimator_checks.check_get_feature_names_out_error,
    estimator_checks.check_get_params_invariance,
    estimator_checks.check_mixin_order,
    estimator_checks.check_no_attributes_set_in_init,
    estimator_checks.check_parameters_default_constructible,
    estimator_checks.check_set_params,
    estimator_checks.check_valid_tag_types,
]


@pytest.mark.parametrize("check", CHECKS_WITHOUT_DATA, ids=lambda check: check.__name__)
def test_scikit_learn_checks(check: Any) -> None:
    check("Counts", Counts())


def test_fitting_changes_no_parameter_and_sets_only_names_that_end_in_an_underscore() -> None:
    counts = Counts(stop_words=["whale"])
    before = dict(vars(counts))
    counts.fit(TEXTS)
    assert {name: vars(counts)[name] for name in before} == before
    assert all(name.endswith("_") for name in vars(counts).keys() - before.keys())


def test_fitting_again_forgets_the_first_time() -> None:
    counts = Counts().fit(["whale"]).fit(TEXTS)
    assert "whale" not in counts.vocabulary_


def test_a_fitted_transformer_can_be_pickled() -> None:
    counts = Counts().fit(TEXTS)
    copy = pickle.loads(pickle.dumps(counts))
    assert (copy.transform(TEXTS) != counts.transform(TEXTS)).nnz == 0


def test_the_same_counts_as_countvectorizer() -> None:
    ours = Counts(language="porter")
    theirs = CountVectorizer(analyzer=Tokenizer("porter").words)
    X, Y = ours.fit_transform(TEXTS), theirs.fit_transform(TEXTS)
    assert ours.vocabulary_.keys() == theirs.vocabulary_.keys()
    columns = [theirs.vocabulary_[word] for word in ours.get_feature_names_out()]
    assert (X.toarray() == Y.toarray()[:, columns]).all()


@pytest.mark.parametrize(
    "kind",
    [list, tuple, iter, np.array, pl.Series, pd.Series, lambda texts: np.array(texts, dtype=object)],
    ids=["list", "tuple", "iterator", "array", "polars", "pandas", "object array"],
)
def test_texts_come_in_many_kinds(kind: Any) -> None:
    counts = Counts()
    expected = Counts().fit_transform(TEXTS).toarray()
    assert (counts.fit_transform(kind(TEXTS)).toarray() == expected).all()
    assert (counts.fit(kind(TEXTS)).transform(kind(TEXTS)).toarray() == expected).all()


def test_names_of_columns() -> None:
    counts = Counts().fit(TEXTS)
    assert counts.get_feature_names_out().tolist() == ["compani", "merg", "peac", "treati", "two"]
    assert counts.readable_names_.tolist() == ["company", "merged", "peace", "treaty", "two"]
    assert counts.vocabulary_["peac"] == 2
    assert counts.lexicon_.find("treaties") == 3


def test_one_document_is_a_corpus() -> None:
    assert Counts().fit_transform(["whale"]).toarray().tolist() == [[1]]


def test_parameters_are_stored_as_given_and_cloned() -> None:
    stop_words = ["whale"]
    counts = Counts(10, min_df=0.5, language=None, stem=False, stop_words=stop_words, n_jobs=1)
    assert counts.get_params()["stop_words"] is stop_words
    assert clone(counts).get_params() == counts.get_params()
    assert counts.set_params(vocabulary_size=2).vocabulary_size == 2


def test_a_pipeline_and_a_grid_search() -> None:
    texts = ["apple pear fruit", "engine wheel car"] * 6
    labels = ["food", "cars"] * 6
    pipeline = make_pipeline(Counts(), TfidfTransformer(), LogisticRegression())
    search = GridSearchCV(pipeline, {"counts__vocabulary_size": [1, 6], "counts__stem": [True]}, cv=2)
    search.fit(texts, labels)
    assert search.predict(["a car with an engine", "fruit: an apple"]).tolist() == ["cars", "food"]


@pytest.mark.parametrize(
    ("texts", "message"),
    [
        ("one text", r"got one str; put it in a list"),
        (["fine", None], "document 1 is None"),
        (["fine", 3.5], r"document 1 is 3\.5 \(float\)"),
        (["fine", b"bytes"], r"document 1 is b'bytes' \(bytes\)"),
        (pl.Series(["fine", None]), "document 1 is None"),
        (pl.Series([1, 2]), "series of Int64"),
        (pd.Series(["fine", np.nan]), r"document 1 is nan \(float\)"),
        (pd.DataFrame({"text": ["fine"]}), "got a DataFrame; pass its column"),
        (np.array([["fine"], ["too"]]), "got a ndarray; pass its column"),
        ({"text": "fine"}, "got a dict"),
        (7, "got int"),
    ],
)
@pytest.mark.parametrize("method", ["fit", "fit_transform", "transform"])
def test_what_is_no_list_of_texts_is_refused(texts: Any, message: str, method: str) -> None:
    counts = Counts().fit(TEXTS)
    with pytest.raises(TypeError, match=message):
        getattr(counts, method)(texts)


def test_half_a_character_is_refused_by_position() -> None:
    with pytest.raises(ValueError, match="document 2 holds a character that is not valid Unicode"):
        Counts().fit(["fine", "fine", "\ud800"])


def test_empty_corpora_and_vocabularies_say_so() -> None:
    with pytest.raises(ValueError, match="no documents"):
        Counts().fit([])
    with pytest.raises(ValueError, match="empty vocabulary"):
        Counts().fit(["the", "of 12"])


@pytest.mark.parametrize("ask", ["transform", "get_feature_names_out"])
def test_unfitted(ask: str) -> None:
    arguments = [TEXTS] if ask == "transform" else []
    with pytest.raises(NotFittedError):
        getattr(Counts(), ask)(*arguments)


def test_real_posts_give_the_counts_of_countvectorizer() -> None:
    texts: list[str] = []
    with tarfile.open(real_data_folder("20news-bydate.tar.gz") / "20news-bydate.tar.gz") as tar:
        for member in tar:
            if member.isfile() and (file := tar.extractfile(member)):
                texts.append(file.read().decode("latin-1"))
            if len(texts) == 150:
                break
    ours, theirs = Counts(None, n_jobs=2), CountVectorizer(analyzer=Tokenizer().words)
    X, Y = ours.fit_transform(texts), theirs.fit_transform(texts)
    columns = [theirs.vocabulary_[word] for word in ours.get_feature_names_out()]
    assert X.shape == Y.shape
    assert (Y[:, columns] != X).nnz == 0
