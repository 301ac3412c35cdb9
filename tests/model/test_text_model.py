"""TextModel on two themes that share no word: what belongs together is known."""

from __future__ import annotations

import inspect
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pytest
from sklearn.exceptions import NotFittedError

import kate
from kate.model import finishing
from kate.model.encoder import EmptyDocumentsWarning, Encoder
from kate.model.text_model import TextModel, UnknownWordError
from kate.text.documents import Documents

THEMES = {
    "peace": ["peace", "treaty", "nations", "embassy", "minister", "negotiation", "ratified", "allies"],
    "money": ["gold", "silver", "coin", "bank", "treasury", "currency", "mint", "dollars"],
}
QUICK = {
    "n_neurons": 4,
    "n_winners": 1,
    "amplification": 0.5,
    "max_epochs": 40,
    "batch_size": 10,
    "learning_rate": 0.02,
    "dropout": 0.3,
    "random_state": 0,
    "verbose": False,
}


def toy_texts(n_each: int = 40) -> list[str]:
    random = np.random.default_rng(0)
    words = [THEMES[theme] for _ in range(n_each) for theme in THEMES]
    return [" ".join(random.choice(theme, size=5, replace=False)) for theme in words]


@pytest.fixture(scope="module")
def model() -> TextModel:
    return TextModel(n_components=4, **QUICK).fit(toy_texts())


def test_a_topic_has_words_of_one_theme(model: TextModel) -> None:
    for topic in (topics := model.topics(2)):
        assert any(set(topic.words) <= set(words) for words in THEMES.values()), topic
        assert topic.coverage == 1
    assert [topic.share for topic in topics] == [0.5, 0.5]


def test_neurons_are_the_strongest_weights(model: TextModel) -> None:
    readable = np.array(model.vocabulary_.readable)
    for pole in model.neurons(top=1):
        column = model.neurons_.W[:, pole.neuron]
        assert pole.words == (readable[column.argmax() if pole.pole == "+" else column.argmin()],)


def test_similar_words_are_of_the_same_theme(model: TextModel) -> None:
    similar = model.similar_words("treaty", top=4)
    assert {word for word, _ in similar} <= set(THEMES["peace"]) - {"treaty"}
    W = model.encoder_.W / np.linalg.norm(model.encoder_.W, axis=1, keepdims=True)
    row = {word: W[column] for column, word in enumerate(model.vocabulary_.readable)}
    expected = sorted((float(row["treaty"] @ row[word]) for word in row if word != "treaty"), reverse=True)
    assert [cosine for _, cosine in similar] == pytest.approx(expected[:4], abs=1e-5)


@pytest.mark.parametrize("form", ["Treaties", "treati", " treaty "])
def test_any_form_of_a_word_will_do(model: TextModel, form: str) -> None:
    assert model.similar_words(form) == model.similar_words("treaty")


def test_there_are_only_so_many_other_words(model: TextModel) -> None:
    assert len(model.similar_words("gold", top=1000)) == 15


def test_an_unknown_word_brings_close_ones(model: TextModel) -> None:
    with pytest.raises(
        UnknownWordError, match=r"'currancy' is not among the 16 words.*did you mean currency"
    ):
        model.similar_words("currancy")
    with pytest.raises(ValueError, match="try a word of the texts"):
        model.similar_words("xyzzy")
    with pytest.raises(UnknownWordError, match="several words"):
        model.similar_words("gold coin")


def test_vectors_tell_the_themes_apart(model: TextModel) -> None:
    vectors = model.encode(["a treaty of peace", "ratified by allies", "gold and silver"])
    assert (vectors.shape, vectors.dtype) == ((3, 4), np.float32)
    units = vectors / np.linalg.norm(vectors, axis=1, keepdims=True)
    assert units[0] @ units[1] > 0.5 > units[0] @ units[2]


def test_all_kinds_of_texts_are_one(model: TextModel) -> None:
    texts = toy_texts(3)
    expected = model.encode(texts)
    kinds: list[Any] = [iter(texts), pl.Series(texts), np.array(texts), Documents.from_texts(texts)]
    for kind in kinds:
        np.testing.assert_array_equal(model.encode(kind), expected)


def test_fit_encode_is_fit_then_encode(model: TextModel) -> None:
    vectors = TextModel(n_components=4, **QUICK).fit_encode(Documents.from_texts(toy_texts()))
    np.testing.assert_array_equal(vectors, model.encode(toy_texts()))


def test_documents_without_words_get_one_vector_and_a_warning(model: TextModel) -> None:
    with pytest.warns(EmptyDocumentsWarning, match="2 of 3 documents") as caught:
        vectors = model.encode(["", "gold", "xyzzy"])
    assert caught[0].filename == __file__
    np.testing.assert_array_equal(vectors[0], vectors[2])
    assert model.encode([]).shape == (0, 4)


def test_the_topic_of_a_document_is_of_its_theme(model: TextModel) -> None:
    topics = model.topics(2)
    with pytest.warns(EmptyDocumentsWarning, match="1 of 3"):
        labelled = model.label([*toy_texts()[:2], "xyzzy"], n=2)
    for number, theme in zip(labelled["topic"][:2], ("peace", "money"), strict=True):
        assert set(topics[number].words) <= set(THEMES[theme])
    assert labelled["topic_share"][:2].min() > 0.5
    assert labelled.select("topic", "topic_name", "topic_share").row(2) == (None, None, None)
    assert model.label([], n=2).height == 0


def test_shares_count_the_documents_of_a_topic(model: TextModel) -> None:
    numbers = model.label(toy_texts(), n=3)["topic"].to_list()
    for topic in model.topics(3):
        assert numbers.count(topic.number) / len(numbers) == pytest.approx(topic.share)


def test_a_model_knows_what_it_was_made_of(model: TextModel) -> None:
    assert (model.n_components, model.n_documents_, len(model.vocabulary_)) == (4, 80, 16)
    assert model.output_bias_.shape == (16,)
    assert [row["epoch"] for row in model.history_] == list(range(1, 41))
    settings = model.settings_
    assert settings["n_winners"] is not None  # what was left to Kate is filled in
    assert settings["language"] == "english"
    assert not {"n_jobs", "verbose", "device"} & settings.keys()
    assert repr(model) == "TextModel(n_components=4), fitted on 80 documents, 16 words"


def test_settings_reach_counts_and_network() -> None:
    model = TextModel(
        n_components=np.int64(2),  # type: ignore[arg-type]
        vocabulary_size=10,
        stop_words={"gold", "coin"},
        n_jobs=1,
        max_epochs=1,
    )
    for _ in range(2):
        model.fit(toy_texts(), validation=toy_texts(2))
        assert len(model.vocabulary_) == 10
        assert not {"gold", "coin"} & set(model.vocabulary_.readable)
        assert model.settings_["stop_words"] == ["coin", "gold"]
        assert model.settings_["n_components"] == 2
        assert len(model.history_) == 1
        assert model.history_[0]["validation_loss"] is not None
    assert model.stop_words == {"gold", "coin"}
    generator = TextModel(2, random_state=np.random.RandomState(0), max_epochs=1).fit(toy_texts(2))
    assert generator.settings_["random_state"] is None


def test_stop_words_that_would_be_used_up_are_refused() -> None:
    with pytest.raises(TypeError, match=r"stop_words is an iterator.*give a list"):
        TextModel(2, stop_words=iter(["gold"])).fit(toy_texts())  # type: ignore[arg-type]


def test_one_topic_and_two_words_are_enough() -> None:
    model = TextModel(n_components=1, n_neurons=1, max_epochs=3, random_state=0).fit(
        ["gold gold", "peace", "gold", "peace"]
    )
    assert model.encode(["gold"]).shape == (1, 1)
    assert {pole.words for pole in model.neurons()} == {("gold",), ("peace",)}
    assert len(model.topics()) == 1
    assert len(model.similar_words("gold")) == 1
    lonely = TextModel(n_components=1, max_epochs=1).fit(["gold", "gold gold"])
    assert lonely.similar_words("gold") == []


def test_an_unknown_setting_is_refused_at_once() -> None:
    with pytest.raises(TypeError, match="TextModel has no parameter 'max_epoch'; did you mean max_epochs"):
        TextModel(max_epoch=3)  # type: ignore[arg-type]
    with pytest.raises(TypeError, match="choose from activation, amplification"):
        TextModel(qqqqqqqq=1)  # type: ignore[arg-type]
    with pytest.raises(ValueError, match="TextModel has no parameter 'max_epoch'; did you mean max_epochs"):
        TextModel().set_params(max_epochs=3, max_epoch=3)


@pytest.mark.parametrize(
    ("texts", "message"),
    [
        ([], "no documents"),
        (["only one document"], "one document is not enough"),
        (["", "", ""], "empty vocabulary"),
        (["the of and", "12 34"], "empty vocabulary"),
    ],
)
def test_a_corpus_to_learn_nothing_from_is_refused(texts: list[str], message: str) -> None:
    with pytest.raises(ValueError, match=message):
        TextModel(n_components=2).fit(texts)


@pytest.mark.parametrize("texts", ["one string", [b"bytes", b"more"], [None, "text"], 3])
def test_what_is_no_list_of_texts_is_refused(texts: Any) -> None:
    with pytest.raises(TypeError):
        TextModel(n_components=2).fit(texts)


def test_validation_without_documents_is_refused() -> None:
    with pytest.raises(ValueError, match="validation holds no documents"):
        TextModel(n_components=2).fit(toy_texts(), validation=[])


def test_a_wrong_setting_is_found_before_texts_are_read() -> None:
    def texts() -> Iterator[str]:
        pytest.fail("the texts were read first")
        yield ""

    with pytest.raises(ValueError, match="n_winners=5 is more than the 4 neurons"):
        TextModel(n_components=4, n_neurons=4, n_winners=5).fit(texts())


def test_a_failed_fit_leaves_the_model_as_it_was() -> None:
    model = TextModel(n_components=2, max_epochs=1, random_state=0).fit(toy_texts(3))
    before = model.encode(["gold"])
    with pytest.raises(ValueError, match="no documents"):
        model.fit([])
    np.testing.assert_array_equal(model.encode(["gold"]), before)


@pytest.mark.parametrize(
    ("n", "message"),
    [
        (0, "expected a whole number"),
        (2.0, "expected a whole number"),
        (999, "999 topics were asked for; .* at most 20"),
    ],
)
def test_topics_that_do_not_exist_are_refused(model: TextModel, n: Any, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        model.topics(n)


def test_none_at_all_is_not_a_number_of_answers(model: TextModel) -> None:
    with pytest.raises(ValueError, match="top is 0"):
        model.neurons(top=0)
    with pytest.raises(ValueError, match="top is 0"):
        model.similar_words("gold", top=0)


@pytest.mark.parametrize(
    "use",
    [
        lambda model: model.encode(["text"]),
        lambda model: model.topics(),
        lambda model: model.similar_words("word"),
        lambda model: model.label(["text"]),
        lambda model: model.neurons(),
        lambda model: model.save("folder"),
        lambda model: model.vocabulary_,
        lambda model: model.n_documents_,
        lambda model: model.settings_,
        lambda model: model.get_feature_names_out(),
    ],
)
def test_an_unfitted_model_says_so(use: Any) -> None:
    model = TextModel(n_components=3)
    assert repr(model) == "TextModel(n_components=3), not fitted"
    with pytest.raises(NotFittedError, match=r"call fit\(texts\)"):
        use(model)


def test_a_loaded_model_can_be_fitted_anew(model: TextModel, tmp_path: Path) -> None:
    model.save(tmp_path / "model")
    again = kate.load(tmp_path / "model").fit(toy_texts())
    np.testing.assert_array_equal(again.encode(toy_texts()), model.encode(toy_texts()))


def test_a_loaded_model_is_fitted_with_what_was_given_not_with_what_it_came_to(tmp_path: Path) -> None:
    small = TextModel(2, n_winners=1).fit(toy_texts(4))
    given = small.get_params()
    assert (small.settings_["batch_size"], small.settings_["max_epochs"]) == (16, 5)
    small.save(tmp_path / "model")
    loaded = kate.load(tmp_path / "model")
    assert loaded.get_params() == given
    assert (loaded.batch_size, loaded.max_epochs, loaded.n_winners) == (None, None, 1)
    assert loaded.settings_ == small.settings_
    assert loaded.fit(toy_texts(2000)).settings_["batch_size"] == 200


def test_the_parameters_of_the_machine_are_no_part_of_a_model(tmp_path: Path) -> None:
    model = TextModel(2, n_jobs=1, device="cpu", verbose=False, max_epochs=1).fit(toy_texts(2))
    assert model.settings_["precision"] == "float32"
    model.save(tmp_path / "model")
    loaded = kate.load(tmp_path / "model")
    assert (loaded.n_jobs, loaded.device, loaded.verbose) == (None, "auto", None)


def test_the_seed_is_that_of_the_shell_and_is_saved(tmp_path: Path) -> None:
    from kate.cli.corpus_commands import fit

    assert TextModel().random_state == inspect.signature(fit).parameters["seed"].default == 0
    drawn = TextModel(2, random_state=None, max_epochs=1).fit(toy_texts(2))
    drawn.save(tmp_path / "model")
    seed = kate.load(tmp_path / "model").settings_["random_state"]
    again = TextModel(2, random_state=seed, max_epochs=1).fit(toy_texts(2))
    np.testing.assert_array_equal(again.encode(["gold"]), drawn.encode(["gold"]))


def test_two_passes_over_the_documents_after_a_fit(monkeypatch: pytest.MonkeyPatch) -> None:
    respond, products, seen = Encoder.respond, finishing.response_products, []

    def counting(self: Encoder, X: Any) -> Any:
        seen.append(X.shape[0])
        return respond(self, X)

    def counting_products(T: Any, *rest: Any, **how: Any) -> Any:
        seen.append(T.shape[0])
        return products(T, *rest, **how)

    monkeypatch.setattr(Encoder, "respond", counting)
    monkeypatch.setattr(finishing, "response_products", counting_products)
    TextModel(2, max_epochs=1).fit(toy_texts())
    # the map of the vectors, the sketch for the topics, and two halves of (at most 2,000 of) the documents
    assert seen == [80, 80, 80, 80]
    seen.clear()
    TextModel(2, max_epochs=1).fit_transform(toy_texts())
    assert seen == [80] * 5  # the vectors themselves


def test_a_saved_model_answers_without_scikit_learn_a_compiler_or_training(
    model: TextModel, tmp_path: Path
) -> None:
    model.save(tmp_path / "model")
    kate.Index.build(model, Documents.from_texts(toy_texts(2))).save(tmp_path / "index")
    code = f"""
import sys, kate
model = kate.load({str(tmp_path / "model")!r})
model.topics(), model.topic_tree(3), model.neurons(), model.encode(["gold"]), model.label(["gold"])
model.similar_words("gold"), kate.Index.load({str(tmp_path / "index")!r}).search("gold")
heavy = {{"sklearn", "numba", "llvmlite", "torch", "matplotlib", "pandas", "pyarrow", "rich"}}
heavy |= {{"kate.model.fitting", "kate.model.streamed_fitting", "kate.model.text_update"}}
sys.exit(", ".join(sorted(heavy & sys.modules.keys())) or 0)
"""
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    assert (done.returncode, done.stderr) == (0, "")
