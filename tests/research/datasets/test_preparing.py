"""The cache of counted corpora: quick, never stale, never trusted when damaged."""

from __future__ import annotations

import json
import os
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from kate.research.datasets.cache_dirs import prepared_folder
from kate.research.datasets.corpus import Corpus
from kate.research.datasets.corpus_files import CORPUS_FORMAT, DamagedCorpusError
from kate.research.datasets.dataset import DataSet, Expected, Preparation
from kate.research.datasets.download import Archive
from kate.research.datasets.preparing import prepare
from kate.research.datasets.raw_documents import count_documents, indicator


@dataclass
class Toy:
    """A data set of four lines, and how often it was read."""

    dataset: DataSet
    folder: Path
    reads: list[dict[str, Any]]

    def load(self, **settings: Any) -> Corpus:
        return prepare(self.dataset, data_home=self.folder, **settings)


@pytest.fixture(params=["classes", "sets", "number"])
def toy(request: pytest.FixtureRequest, tmp_path: Path) -> Toy:
    reads: list[dict[str, Any]] = []
    labels = {
        "classes": np.array(["b", "a", "b", "a"]),
        "sets": indicator([["x"], ["x", "y"], [], ["y"]], ["x", "y"]),
        "number": np.array([0.1, 0.2, 0.3, 1.0]),
    }[request.param]

    def read(recipe: Preparation, *, shout: bool = False) -> Corpus:
        reads.append({"shout": shout, "vocabulary_size": recipe.vocabulary_size, "seed": recipe.seed})
        lines = recipe.paths["toy.txt"].read_text(encoding="utf-8").splitlines()
        return count_documents(
            recipe,
            "toy",
            texts=lines,
            ids=[f"n° {number}" for number in range(4)],
            labels=labels,
            label_kind=request.param,
            classes=["x", "y"] if request.param == "sets" else (),
            train=np.array([0, 1, 3]),
            validation=np.array([3]),
            test=np.array([2]),
        )

    (tmp_path / "data").mkdir()
    (tmp_path / "data" / "toy.txt").write_text("red apple\ngreen apple\n\nblue naïve sky\n", encoding="utf-8")
    dataset = DataSet(
        name="toy",
        title="",
        task="",
        split="",
        licence="",
        sources=(Archive("toy.txt"),),
        expected=Expected(train=3, validation=1, test=1),
        vocabulary_size=100,
        prepare=read,
    )
    return Toy(dataset, tmp_path / "data", reads)


def arrays_of(corpus: Corpus) -> list[list[Any]]:
    labels = corpus.labels if isinstance(corpus.labels, np.ndarray) else corpus.labels.toarray()
    arrays = (corpus.X.toarray(), labels, corpus.train, corpus.validation, corpus.test)
    return [array.tolist() for array in arrays]


def test_the_second_load_is_the_first_one_again(toy: Toy) -> None:
    first, second = toy.load(keep_texts=True), toy.load(keep_texts=True)

    assert len(toy.reads) == 1
    assert arrays_of(first) == arrays_of(second)
    assert first.X.dtype == second.X.dtype
    assert first.labels.dtype == second.labels.dtype
    for name in ("name", "ids", "label_kind", "classes", "description", "settings", "texts"):
        assert getattr(first, name) == getattr(second, name)
    assert list(first.vocabulary.to_lines()) == list(second.vocabulary.to_lines())
    assert (
        first.vocabulary.count(["a naïve apple"]).toarray().tolist()
        == second.vocabulary.count(["a naïve apple"]).toarray().tolist()
    )


@pytest.mark.parametrize(
    "settings", [{"vocabulary_size": 2}, {"seed": 1}, {"options": {"shout": True}}, {"keep_texts": True}]
)
def test_other_settings_are_another_corpus(toy: Toy, settings: dict[str, Any]) -> None:
    toy.load()

    corpus = toy.load(**settings)

    assert len(toy.reads) == 2
    assert set(settings) - {"options"} <= set(corpus.settings)
    toy.load()
    toy.load(**settings)
    assert len(toy.reads) == 2  # both are kept side by side


def test_another_archive_of_the_same_name_is_read(toy: Toy) -> None:
    toy.load()
    source = toy.folder / "toy.txt"
    os.utime(source, (1, 1))

    toy.load()

    assert len(toy.reads) == 2
    assert len(list(prepared_folder().iterdir())) == 1  # in the place of the stale one


def test_other_expectations_are_checked_anew(toy: Toy) -> None:
    toy.load()
    toy.dataset = replace(toy.dataset, expected=Expected(train=9, validation=1, test=1))

    toy.load()

    assert len(toy.reads) == 2


def test_damage_anywhere_is_noticed_and_mended(toy: Toy) -> None:
    expected = arrays_of(toy.load())
    (folder,) = prepared_folder().iterdir()
    whole = (folder / "arrays.npz").read_bytes()
    # A flipped bit, here and there all over the file.
    flipped = (
        whole[:at] + bytes([whole[at] ^ 4]) + whole[at + 1 :] for at in range(0, len(whole), len(whole) // 12)
    )
    damaged = [b"", b"not a zip", whole[: len(whole) // 2], *flipped]

    for content in damaged:
        (folder / "arrays.npz").write_bytes(content)
        assert arrays_of(toy.load()) == expected


def test_sequences_come_from_the_cache_when_asked_for_and_damage_is_told(toy: Toy) -> None:
    first, second = toy.load(), toy.load()
    assert [document.tolist() for document in second.sequences] == [
        document.tolist() for document in first.sequences
    ]
    np.testing.assert_array_equal(second.sequences.counts().toarray(), second.X.toarray())
    assert second.sequences.take(second.test).shape == (1, second.n_words)

    (folder,) = prepared_folder().iterdir()
    third = toy.load()
    (folder / "sequences.npz").write_bytes(b"not a zip")
    with pytest.raises(DamagedCorpusError, match="delete its folder and load the data set again"):
        _ = third.sequences


@pytest.mark.parametrize(
    "header", ["", "{", "[]", '{"format": 99}', f'{{"format": {CORPUS_FORMAT}, "fingerprint": "x"}}']
)
def test_a_damaged_or_foreign_header_is_noticed_and_mended(toy: Toy, header: str) -> None:
    toy.load()
    (folder,) = prepared_folder().iterdir()
    (folder / "corpus.json").write_text(header, encoding="utf-8")

    toy.load()

    assert len(toy.reads) == 2
    assert json.loads((folder / "corpus.json").read_text(encoding="utf-8"))["format"] == CORPUS_FORMAT


def test_a_cache_that_cannot_be_written_costs_only_time(
    toy: Toy, monkeypatch: pytest.MonkeyPatch, tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    (tmp_path / "file").touch()
    monkeypatch.setenv("KATE_CACHE", str(tmp_path / "file" / "cache"))  # a folder inside a file cannot be

    assert toy.load().n_docs == 4
    assert "could not be kept for next time" in caplog.text


def test_nothing_is_written_beside_the_archives(toy: Toy) -> None:
    toy.load()

    assert [file.name for file in toy.folder.iterdir()] == ["toy.txt"]


@pytest.mark.parametrize(
    ("settings", "error", "message"),
    [
        ({"options": {"whisper": True}}, TypeError, "toy has no option 'whisper'; its options are: shout"),
        ({"options": {"shout": "yes"}}, TypeError, "shout is 'yes'; expected a bool, such as False"),
        ({"vocabulary_size": 0}, ValueError, "vocabulary_size is 0; expected at least 1"),
    ],
)
def test_settings_that_mean_nothing_are_refused(
    toy: Toy, settings: dict[str, Any], error: type[Exception], message: str
) -> None:
    with pytest.raises(error, match=message):
        toy.load(**settings)
