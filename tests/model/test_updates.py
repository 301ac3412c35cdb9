"""A model goes on with new documents: words, vectors, topics and what the report says of them."""

from __future__ import annotations

import json
import pickle
from pathlib import Path

import numpy as np
import pytest

import kate
from kate import TextModel
from kate.model import updating
from kate.model.training import KATETraining
from kate.model.updating import DocumentsSeen
from kate.topics import document_sketch
from topics.four_themes import THEMES, themed_texts

SPACE = ["rocket", "orbit", "astronaut", "moon", "satellite", "launch"]


def about_space(n: int, seed: int = 0) -> list[str]:
    random = np.random.default_rng(seed)
    return [" ".join(random.choice(SPACE, size=8)) for _ in range(n)]


def fitted(n: int = 160) -> TextModel:
    return TextModel(4, random_state=0, n_jobs=1, verbose=False).fit(themed_texts(n))


def theme_of(words: tuple[str, ...]) -> set[str]:
    themes = THEMES | {"space": SPACE}
    return {name for name, own in themes.items() if set(words) & set(own)}


@pytest.fixture(scope="module")
def saved(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("saved") / "model"
    fitted().save(folder)
    return folder


@pytest.fixture
def model(saved: Path) -> TextModel:
    loaded = kate.load(saved)
    loaded.n_jobs, loaded.verbose = 1, False
    return loaded


def same_model(one: TextModel, other: TextModel) -> None:
    texts = themed_texts(20, seed=5) + about_space(5)
    np.testing.assert_array_equal(one.encode(texts), other.encode(texts))
    assert list(one.vocabulary_.to_lines()) == list(other.vocabulary_.to_lines())
    for name, array in one.topic_space_.to_arrays().items():
        np.testing.assert_array_equal(array, other.topic_space_.to_arrays()[name])
    assert str(one.topics()) == str(other.topics())


def test_a_new_theme_is_the_one_new_topic(model: TextModel) -> None:
    before = {topic.number: topic for topic in model.topics(4)}
    report = model.update(about_space(60) + themed_texts(40, seed=1), n_topics=4)
    after = {topic.number: topic for topic in model.topics()}
    assert list(after) == [0, 1, 2, 3, 4]
    assert [topic.number for topic in report.new_topics] == [4]
    assert theme_of(after[4].words) == {"space"}
    for number, topic in before.items():
        assert after[number].name == topic.name
        assert theme_of(after[number].words) == theme_of(topic.words)
    assert report.vanished_topics == []
    assert after[4].share == pytest.approx(60 / 260, abs=0.01)
    assert sum(topic.of_new for topic in report.topics) == pytest.approx(1)


def test_without_a_new_theme_no_topic_is_new(model: TextModel) -> None:
    report = model.update(themed_texts(80, seed=1), n_topics=4)
    assert [(topic.number, topic.is_new, topic.vanished) for topic in report.topics] == [
        (number, False, False) for number in range(4)
    ]
    assert report.moved_topics == []


def test_changes_survive_and_new_ones_can_be_made(model: TextModel, tmp_path: Path) -> None:
    topics = model.topics(4)
    money, school = (
        next(topic.number for topic in topics if theme_of(topic.words) == {name})
        for name in ("money", "school")
    )
    ships = next(topic.number for topic in topics if theme_of(topic.words) == {"ships"})
    topics.merge(money, school).rename(money, "coins and classes").rename(ships, "the navy")
    model.update(about_space(60))
    after = model.topics()
    assert after.numbers == sorted({0, 1, 2, 3, 4} - {school})
    assert after[money].name == "coins and classes"
    assert theme_of(after[money].words) == {"money", "school"}
    assert after[ships].name == "the navy"
    assert after.edits()["edits"] == []
    after.rename(4, "space").drop(ships)
    model.save(tmp_path / "model")
    again = kate.load(tmp_path / "model")
    assert str(again.topics()) == str(model.topics())
    assert (again.topics()[4].name, again.topics()[money].name) == ("space", "coins and classes")
    assert ships not in again.topics()
    restored = again.topics().undo()
    assert restored[ships].name == "the navy"
    again.update(themed_texts(40, seed=2))
    assert again.topics().numbers == restored.numbers
    assert again.topics()[4].name == "space"


def test_other_numbers_of_topics_are_cuts_of_the_tree(model: TextModel) -> None:
    model.update(about_space(60), n_topics=4)
    assert len(model.topics()) == 5
    assert model.topics(3).numbers == [0, 1, 2]
    tree = model.topic_tree()
    assert tree.share == 1
    assert tree.as_dict()["children"]


def test_words_enter_with_vectors_of_their_own(model: TextModel) -> None:
    assert model.vocabulary_.find("rocket") is None
    report = model.update(about_space(60) + themed_texts(40, seed=1))
    assert set(report.entered) == set(SPACE)
    assert (report.faded, report.n_words) == ((), len(model.vocabulary_))
    assert {word for word, _ in model.similar_words("rocket", top=5)} <= set(SPACE)
    space, also_space, money = model.encode(["a rocket", "the moon", "gold and silver"], normalize=True)
    assert space @ also_space > 0.9
    assert abs(space @ money) < 0.5


def test_words_fade_where_there_is_no_room() -> None:
    model = TextModel(4, vocabulary_size=6, random_state=0, n_jobs=1, verbose=False).fit(themed_texts(40))
    report = model.update(about_space(200))
    assert set(model.vocabulary_.readable) == set(SPACE)
    assert len(report.faded) == 6
    assert model.encode(["a rocket"]).any()


def test_statistics_are_of_all_documents(model: TextModel) -> None:
    model.update(about_space(40))
    sketch, vocabulary = model.topic_space_.sketch, model.vocabulary_
    assert (len(sketch), sketch.n_seen, model.n_documents_) == (200, 200, 200)
    # every document is in the sketch, so that it counts what the vocabulary does
    np.testing.assert_array_equal(
        np.asarray((sketch.counts > 0).sum(axis=0)).ravel(), vocabulary.document_frequencies
    )
    assert np.asarray(sketch.counts.sum(axis=0)).ravel().tolist() == vocabulary.totals.tolist()
    weights = 1 + np.log((1 + 200) / (1 + vocabulary.document_frequencies))
    np.testing.assert_allclose(model.encoder_.weights, weights, rtol=1e-6)


@pytest.mark.parametrize("size", [20_000, 20])
def test_documents_seen_are_known_to_hold_words_that_enter_later(size: int, tmp_path: Path) -> None:
    """Otherwise documents of the first slices would look alike, and topics follow the time they came at."""
    both = [f"{one} {other}" for one, other in zip(themed_texts(60, seed=3), about_space(60), strict=True)]
    slices = [[*themed_texts(40, seed=1), both[0]], both[1:], themed_texts(200, seed=2)]
    given = {"vocabulary_size": size, "min_df": 3, "random_state": 0, "n_jobs": 1, "verbose": False}
    model = TextModel(4, **given).fit(slices[0])
    assert model.vocabulary_.find("rocket") is None
    for texts in slices[1:]:
        model.save(tmp_path / "model")
        reloaded = kate.load(tmp_path / "model")
        for one in (model, reloaded):
            one.set_params(n_jobs=1, verbose=False)
            one.update(texts)
        sketch, every = model.topic_space_.sketch, [text for part in slices for text in part]
        seen = every[: model.n_documents_]
        np.testing.assert_array_equal(sketch.counts.toarray(), model.vocabulary_.count(seen).toarray())
        assert model.vocabulary_.waiting is not None
        for column, stem in enumerate(model.vocabulary_.waiting.stems):
            held = [model.vocabulary_.tokenizer.words(text).count(stem) for text in seen]
            assert sketch.waiting.counts[:, [column]].toarray().ravel().tolist() == held
        same_model(model, reloaded)


def test_a_model_of_a_stream_knows_what_waits_from_its_first_update_on(tmp_path: Path) -> None:
    given = {"min_df": 3, "random_state": 0, "n_jobs": 1, "verbose": False}
    model = TextModel(4, **given).fit_stream(themed_texts(80))
    assert model.topic_space_.sketch.waiting is None
    rare = [f"{text} rocket" for text in themed_texts(2, seed=3)]
    model.update(themed_texts(40, seed=1) + rare)
    model.save(tmp_path / "model")
    sketch, waiting = (one := kate.load(tmp_path / "model")).topic_space_.sketch, one.vocabulary_.waiting
    assert waiting is not None
    assert sketch.waiting.counts.sum(axis=0).tolist() == [[2.0]]
    assert waiting.stems == ["rocket"]
    assert one.update(themed_texts(40, seed=2) + rare[:1]).entered == ("rocket",)
    column = one.vocabulary_.columns["rocket"]
    assert one.topic_space_.sketch.counts[:, [column]].sum() == 3


def learned(model: TextModel) -> float:
    """How far training has moved W from its start."""
    start = model._fitted().training.start
    return float(np.linalg.norm(model.neurons_.W - start) / np.linalg.norm(start))


def test_where_all_documents_are_at_hand_many_updates_learn_as_much_as_one_fit() -> None:
    slices = [themed_texts(60, seed=seed) for seed in range(6)]
    settings = {"random_state": 0, "n_jobs": 1, "verbose": False}
    whole = TextModel(8, **settings).fit([text for part in slices for text in part])
    model = TextModel(8, **settings).fit(slices[0])
    for part in slices[1:]:
        model.update(part)
    assert learned(model) == pytest.approx(learned(whole), rel=0.05)
    found = [row["documents_per_second"] * row["seconds"] for row in model.history_]
    assert np.rint(found).tolist() == [60 * n for n in range(1, 7) for _ in range(5)]


def test_what_documents_taught_that_are_gone_stays(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(document_sketch, "_MOST_DOCUMENTS", 40)
    monkeypatch.setattr(updating, "_LEAST_REPLAYED", 0)
    model = TextModel(4, random_state=0, n_jobs=1, verbose=False).fit(themed_texts(380))
    n_before = len(model.history_)
    model.update(themed_texts(20, seed=1))
    # 340 of 400 are gone: as many of the sketch as are new, in two epochs (2 + 3 · 0.15)
    rows = model.history_[n_before:]
    assert np.rint([row["documents_per_second"] * row["seconds"] for row in rows]).tolist() == [40, 40]
    assert learned(model) > 0.2


def test_a_small_sketch_is_a_sample_of_all(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(document_sketch, "_MOST_DOCUMENTS", 60)
    model = fitted()
    for seed in range(1, 4):
        model.update(themed_texts(80, seed=seed), n_topics=4)
    sketch = model.topic_space_.sketch
    assert (len(sketch), sketch.n_seen) == (60, 400)
    assert all(len(theme_of(topic.words)) == 1 for topic in model.topics())
    peace, also_peace, money = model.encode(["a treaty of peace", "the ambassador", "gold"], normalize=True)
    assert peace @ also_peace > 0.8
    assert abs(peace @ money) < 0.3


@pytest.mark.parametrize("name", ["fit", "fit_counts", "paper"])
def test_models_of_every_kind_go_on(name: str) -> None:
    texts = themed_texts(80)
    if name == "fit_counts":
        words = sorted({word for text in texts for word in text.split()})
        counts = [[text.split().count(word) for word in words] for text in texts]
        model = TextModel(4, random_state=0, n_jobs=1, verbose=False).fit_counts(counts, words)
    elif name == "paper":
        model = TextModel.paper(4, random_state=0, max_epochs=3, n_jobs=1, verbose=False).fit(texts)
    else:
        model = TextModel(4, random_state=0, weighting="none", n_jobs=1, verbose=False).fit(texts)
    columns = model.vocabulary_.words
    report = model.update(themed_texts(40, seed=1) + about_space(30))
    assert np.isfinite(model.encode(texts)).all()
    assert (report.entered == ()) == (name == "fit_counts")
    if name == "fit_counts":
        assert model.vocabulary_.words == columns


def test_an_update_goes_on_to_the_bit_after_a_reload(model: TextModel, tmp_path: Path) -> None:
    for seed in (1, 2):
        model.save(tmp_path / "model")
        loaded = kate.load(tmp_path / "model")
        loaded.n_jobs = 2  # threads change nothing
        new = about_space(30, seed) + themed_texts(30, seed)
        model.update(new)
        loaded.update(new)
        same_model(loaded, model)
    same_model(pickle.loads(pickle.dumps(model)), model)


@pytest.mark.parametrize("error", [KeyboardInterrupt, MemoryError])
def test_what_fails_leaves_the_model_as_it_was(
    model: TextModel, saved: Path, error: type[BaseException], monkeypatch: pytest.MonkeyPatch
) -> None:
    train_epoch = KATETraining.train_epoch

    def failing(self: KATETraining, epoch: int) -> float:
        train_epoch(self, epoch)
        raise error

    with monkeypatch.context() as patch:
        patch.setattr(KATETraining, "train_epoch", failing)
        with pytest.raises(error):
            model.update(about_space(30))
    untouched = kate.load(saved)
    same_model(model, untouched)
    new = about_space(30)
    model.update(new)
    untouched.update(new)
    same_model(model, untouched)


def test_a_model_without_what_it_takes_says_so(model: TextModel, tmp_path: Path) -> None:
    model.save(tmp_path / "small", resumable=False)
    names = {file.name for file in (tmp_path / "small").iterdir()}
    assert not names & {"training.safetensors", "waiting_words.txt"}
    with pytest.raises(kate.UpdateError, match="saved without what an update needs"):
        kate.load(tmp_path / "small").update(about_space(5))


def test_nothing_new_is_refused(model: TextModel) -> None:
    with pytest.raises(ValueError, match="there are no new documents"):
        model.update([])
    with pytest.raises(kate.NotFittedError):
        TextModel(2).update(about_space(5))


def test_documents_without_known_words_change_little(model: TextModel, saved: Path) -> None:
    report = model.update(["zebra", "", "1 2 3"])
    assert (report.n_new, report.n_unknown, report.entered) == (3, 2, ("zebra",))
    texts = themed_texts(20, seed=5)
    before, after = (one.encode(texts, normalize=True) for one in (kate.load(saved), model))
    agreement = [abs(np.corrcoef((one @ one.T).ravel(), (after @ after.T).ravel())[0, 1]) for one in [before]]
    assert min(agreement) > 0.95


def test_the_report_is_read_by_people_and_programs(model: TextModel) -> None:
    report = model.update(about_space(60), n_topics=4)
    shown = str(report)
    assert "documents  60 new; 220 seen" in shown
    assert "6 entered (" in shown
    assert "4 kept, 1 new, 0 vanished" in shown
    assert "make them anew" in shown
    assert max(map(len, shown.splitlines())) <= 80
    found = json.loads(json.dumps(report.as_dict()))
    assert found["topics"][4] | {"name": ""} == {
        "number": 4,
        "name": "",
        "before": None,
        "after": pytest.approx(60 / 220),
        "of_new": 1.0,
        "is_new": True,
    }
    assert -1 < report.cosine < 1
    assert 0 < report.neighbours_kept <= 1


def test_the_fields_of_the_documents_seen_are_counts_of_the_same_words(
    model: TextModel, monkeypatch: pytest.MonkeyPatch
) -> None:
    seen: list[DocumentsSeen] = []
    import kate.model.text_update as room

    update_network = room.update_network
    monkeypatch.setattr(
        room, "update_network", lambda *given: (seen.append(given[2]), update_network(*given))[1]
    )
    model.update(about_space(30))
    [given] = seen
    assert {part.shape[1] for part in (given.kept, given.new, given.after)} == {len(model.vocabulary_)}
    assert (given.n_before, given.n_documents) == (160, 190)


def test_an_index_tells_whether_it_is_of_a_model(model: TextModel, saved: Path) -> None:
    index = kate.Index.build(model, themed_texts(20))
    assert index.is_of(kate.load(saved))
    before = [(hit.id, hit.score) for hit in index.search("a treaty of peace", by="meaning")]
    model.partial_fit(about_space(20))
    assert not index.is_of(model)
    # it goes on with the model that made its vectors
    assert [(hit.id, hit.score) for hit in index.search("a treaty of peace", by="meaning")] == before
    assert kate.Index.build(model, themed_texts(20)).is_of(model)
