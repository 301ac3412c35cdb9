"""Topics are renamed, merged, split, dropped and put back; the model keeps that, and wrong changes change nothing."""

from __future__ import annotations

import json
import warnings
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import kate
from kate import FolderError, TextModel
from kate.model.model_folder import write_topic_edits
from kate.topics.topic_edits import TopicEdits
from kate.topics.topic_set import Topics
from topics.four_themes import fitted, themed_texts


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("edits") / "model"
    fitted().save(path)
    return path


@pytest.fixture
def model(folder: Path) -> TextModel:
    return kate.load(folder)


def test_a_topic_is_renamed_everywhere(model: TextModel) -> None:
    topics = model.topics(4)
    assert topics.rename(2, " law ")[2].name == "law"
    assert model.topics(4)[2].name == model.topics()[2].name == "law"
    assert "law" in model.label(themed_texts(4), n=4)["topic_name"].to_list()
    assert "2: law" in str(model.topic_tree(4))


def test_merged_topics_have_the_documents_of_both(model: TextModel) -> None:
    before = model.topics(4)
    expected = before[1].share + before[3].share
    after = model.topics(4).merge(1, 3)
    assert after.numbers == [0, 1, 2]
    assert after[1].share == pytest.approx(expected)
    assert {3} & set(model.label(themed_texts(8))["topic"]) == set()
    assert model.topics(4).numbers == model.topics().numbers == [0, 1, 2]


def test_several_are_merged_at_once_and_keep_the_name_of_the_first(model: TextModel) -> None:
    topics = model.topics(4).rename(1, "all but ships").merge(1, 0, 2, 1)
    assert topics.numbers == [1, 3]
    assert topics[1].name == "all but ships"


def test_halves_of_a_topic_are_its_documents(model: TextModel) -> None:
    before = model.topics(4)[0].share
    after = model.topics(4).split(0)
    assert after.numbers == [0, 1, 2, 3, 4]
    assert after[0].share + after[4].share == pytest.approx(before)
    assert len({topic.name for topic in after}) == 5


def test_documents_of_a_dropped_topic_go_to_others(model: TextModel) -> None:
    topics = model.topics(4).drop(2)
    assert topics.numbers == [0, 1, 3]
    assert sum(topic.share for topic in topics) == pytest.approx(1)
    assert model.label(themed_texts(8))["topic"].null_count() == 0


def test_changes_are_undone_one_by_one(model: TextModel) -> None:
    topics = model.topics(4)
    names = [topic.name for topic in topics]
    topics.rename(0, "law").merge(0, 1).split(2).drop(3)
    for numbers in ([0, 2, 3, 4], [0, 2, 3], [0, 1, 2, 3], [0, 1, 2, 3]):
        assert topics.undo().numbers == numbers
    assert [topic.name for topic in topics] == names
    with pytest.raises(ValueError, match="nothing to undo"):
        topics.undo()


def test_numbers_of_numpy_are_numbers(model: TextModel, tmp_path: Path) -> None:
    numbers = np.array([1, 3])
    model.topics(4).merge(*numbers)
    model.save(tmp_path / "model")
    assert kate.load(tmp_path / "model").topics().numbers == [0, 1, 2]


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (lambda topics: topics.rename(9, "law"), "there is no topic 9; the topics are 0 to 3"),
        (lambda topics: topics.rename(True, "law"), "True is not the number of a topic"),
        (lambda topics: topics.rename(0, ""), "cannot be the name of a topic"),
        (lambda topics: topics.rename(0, "a\x1b[31mb"), "cannot be the name of a topic"),
        (lambda topics: topics.rename(0, 5), "5 cannot be the name of a topic"),
        (lambda topics: topics.rename(0, topics[1].name), "topic 1 is named .* already"),
        (lambda topics: topics.merge(1, 1), "to merge takes two topics or more, got 1, 1"),
        (lambda topics: topics.merge(1), "to merge takes two topics or more, got 1"),
        (lambda topics: topics.merge(), "to merge takes two topics or more, got none"),
        (lambda topics: topics.merge(1, 9), "there is no topic 9"),
        (lambda topics: topics.merge("1,2"), "'1,2' is not the number of a topic"),
        (lambda topics: topics.split(9), "there is no topic 9"),
        (lambda topics: topics.drop(-1), "there is no topic -1"),
        (lambda topics: topics.apply({"n_topics": 4}), "are not changes of topics; expected"),
        (lambda topics: topics.apply({"n_topics": 999, "edits": []}), "999 topics were asked for"),
        (lambda topics: topics.apply(edits(("split", [9]))), "there is no topic 9"),
        (lambda topics: topics.apply(edits(("split", []))), "is not a change of topics"),
        (lambda topics: topics.apply(edits(("drop", [1, 2]))), "is not a change of topics"),
        (lambda topics: topics.apply(edits(("merge", [1]))), "is not a change of topics"),
        (lambda topics: topics.apply(edits(("rename", [1]))), "is not a change of topics"),
        (lambda topics: topics.apply(edits(("burn", [1]))), "is not a change of topics"),
        (lambda topics: topics.apply(edits(("split", [True]))), "is not a change of topics"),
    ],
)
def test_a_wrong_change_changes_nothing(
    model: TextModel, change: Callable[[Topics], Any], message: str
) -> None:
    topics = model.topics(4)
    before = str(topics)
    with pytest.raises(ValueError, match=message):
        change(topics)
    assert str(topics) == str(model.topics(4)) == before
    assert topics.edits() == {"n_topics": 4, "edits": []}


def edits(*changes: tuple[str, list[Any]]) -> dict[str, Any]:
    return {"n_topics": 4, "edits": [{"kind": kind, "topics": topics} for kind, topics in changes]}


def test_a_topic_is_split_until_it_is_one_small_group(model: TextModel) -> None:
    topics = model.topics(4)
    with pytest.raises(ValueError, match="is one small group of documents and cannot be split"):
        for _ in range(200):
            topics.split(0)
    assert len(topics) > 5


def test_all_but_the_last_can_be_dropped(model: TextModel) -> None:
    topics = model.topics(3).drop(0).drop(1)
    with pytest.raises(ValueError, match="topic 2 is the last one"):
        topics.drop(2)
    assert topics[2].share == 1


def test_another_cut_after_a_merge_is_that_of_the_tree(model: TextModel) -> None:
    model.topics(4).rename(2, "law").merge(0, 1)
    with pytest.warns(UserWarning, match="merged, split or dropped in the cut at 4 topics"):
        other = model.topics(6)
    assert other.numbers == list(range(6))
    with pytest.raises(ValueError, match="changed in a cut at 4 topics, and these are another cut, at 6"):
        other.rename(0, "peace")
    assert len(model.topics()) == 3


def test_the_tree_after_a_merge_is_as_it_was(model: TextModel) -> None:
    model.topics(4).rename(2, "law").merge(0, 1)
    for n in (None, 4):
        with pytest.warns(UserWarning, match="merged, split or dropped"):
            shown = str(model.topic_tree(n))
        assert all(f" {number}: " in shown for number in range(4))
        assert "2: law" in shown


def test_names_are_kept_in_other_cuts_where_the_topic_is_the_same(model: TextModel) -> None:
    model.topics(4).rename(2, "law")
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        names = [topic.name for topic in model.topics(5)]
    leaves = {tuple(one) for one in model.topics(5)._cut.leaves}
    assert ("law" in names) == (tuple(model.topics(4)._cut.leaves[2]) in leaves)


def test_changes_are_saved_and_loaded(model: TextModel, tmp_path: Path) -> None:
    shown = str(model.topics(4).rename(0, "law").merge(1, 3))
    model.save(tmp_path / "model")
    again = kate.load(tmp_path / "model")
    assert str(again.topics()) == shown
    assert again.topics().edits() == model.topics().edits()
    assert "law" in (tmp_path / "model" / "README.md").read_text()
    again.topics().undo().undo()
    again.save(tmp_path / "model")
    assert not (tmp_path / "model" / "topic_edits.json").exists()


def test_changes_are_applied_to_a_model_of_the_same_documents(model: TextModel, folder: Path) -> None:
    changes = model.topics(4).rename(0, "law").split(2).edits()
    assert json.loads(json.dumps(changes)) == changes
    other = kate.load(folder)
    assert str(other.topics().apply(changes)) == str(model.topics())
    assert other.topics().apply({"n_topics": 3, "edits": []}).numbers == [0, 1, 2]
    assert other.topics().edits()["edits"] == []


@pytest.mark.parametrize(
    ("spoil", "message"),
    [
        (lambda text: text[: len(text) // 2], "is damaged"),
        (lambda text: text.replace("law", "tax"), "is damaged .its checksum is another"),
        (lambda text: "[]", "is damaged"),
        (lambda text: "\ufffe", "is damaged"),
    ],
)
def test_damaged_changes_are_refused(
    model: TextModel, tmp_path: Path, spoil: Callable[[str], str], message: str
) -> None:
    model.topics(4).rename(0, "law")
    model.save(tmp_path / "model")
    path = tmp_path / "model" / "topic_edits.json"
    path.write_text(spoil(path.read_text(encoding="utf-8")), encoding="utf-8")
    with pytest.raises(FolderError, match=f"topic_edits.json {message}.*delete it"):
        kate.load(tmp_path / "model")
    path.unlink()
    assert kate.load(tmp_path / "model").topics(4)[0].name != "law"


def test_changes_of_another_model_are_refused(model: TextModel, tmp_path: Path) -> None:
    model.save(tmp_path / "model")
    write_topic_edits(tmp_path / "model", TopicEdits.from_dict(edits(("split", [9]))))
    with pytest.raises(FolderError, match=r"does not belong to this model .there is no topic 9.*delete it"):
        kate.load(tmp_path / "model")


def test_only_the_small_file_is_written(model: TextModel, tmp_path: Path) -> None:
    path = tmp_path / "model"
    model.save(path)
    before = {file.name: (file.stat().st_mtime_ns, file.read_bytes()) for file in path.iterdir()}
    write_topic_edits(path, TopicEdits.from_dict(edits(("split", [0]))))
    after = {file.name: (file.stat().st_mtime_ns, file.read_bytes()) for file in path.iterdir()}
    assert set(after) - set(before) == {"topic_edits.json"}
    assert {name: after[name] for name in before} == before
    assert len(kate.load(path).topics()) == 5
    write_topic_edits(path, None)
    assert not (path / "topic_edits.json").exists()
    with pytest.raises(FileNotFoundError):
        write_topic_edits(tmp_path / "nowhere", None)
