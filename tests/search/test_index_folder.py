"""The folder of an index: damage is noticed before it can lie or crash, and readers keep what they opened."""

from __future__ import annotations

import shutil
import subprocess
import sys
import threading
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from folder_edits import edit_json
from hand_made import model_by_hand
from kate.model.text_model import TextModel, load
from kate.search import Index
from kate.search.index_folder import INDEX_FOLDER
from kate.storage.folders import FolderError
from kate.text.documents import Documents


@pytest.fixture(scope="module")
def whole(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """An index with everything that one can have, of some hundred documents."""
    words = ["gold", "silver", "peace", "treaty", "nations", "zombie", "1815", "Überraschung"]
    random = np.random.default_rng(0)
    texts = [" ".join(random.choice(words, size=12)) + f" number{n}" for n in range(300)]
    frame = Documents.from_texts(texts, titles=[f"title {n}" for n in range(300)]).frame
    documents = Documents(frame.with_columns(year=np.arange(300)))
    folder = tmp_path_factory.mktemp("whole") / "index"
    Index.build(model_by_hand(), documents, ann=True, n_jobs=1).save(folder)
    return folder


@pytest.fixture
def folder(whole: Path, tmp_path: Path) -> Path:
    return Path(shutil.copytree(whole, tmp_path / "index"))


def everything(folder: Path) -> list[Any]:
    """Answers that touch every file."""
    index = Index.load(folder)
    return [
        index.search("gold zombie 1815"),
        index.search("gold", exact=True, where="year > 100", sort="-year"),
        index.search('"gold silver" -peace'),
        index.similar_documents("7"),
        index.duplicates(0.99),
        index.search("number7").suggestions,
        index.search("gold zombi").suggestions,
    ]


def flip(path: Path, place: int) -> None:
    data = bytearray(path.read_bytes())
    data[place] ^= 0x41
    path.write_bytes(data)


NAMES = [
    "index.json", "checksums.bin", "vectors.npy", "documents.arrow", "texts.zst", "words.arrow", "word_rows.npy",
    "word_weights.npy", "word_starts.npy", "places.npy", "place_starts.npy", "document_starts.npy", "text_rows.npy",
    "text_offsets.npy", "graph.usearch",
]  # fmt: skip


def test_every_file_of_the_folder_is_damaged_below(whole: Path) -> None:
    assert sorted(NAMES) == sorted(path.name for path in whole.iterdir() if path.is_file())


@pytest.mark.parametrize("name", NAMES)
def test_a_flipped_byte_is_noticed(folder: Path, whole: Path, name: str) -> None:
    size = (folder / name).stat().st_size
    for share in (0, 0.013, 0.5, 0.97, 1):
        shutil.copy(whole / name, folder / name)
        flip(folder / name, min(size - 1, int(size * share)))
        with pytest.raises(FolderError):
            everything(folder)
    shutil.copy(whole / name, folder / name)
    assert everything(folder) == everything(whole)


@pytest.mark.parametrize("name", [name for name in NAMES if name != "index.json"])
@pytest.mark.parametrize("spoil", ["truncate", "remove", "lengthen"])
def test_a_file_of_another_length_is_noticed(folder: Path, name: str, spoil: str) -> None:
    path = folder / name
    data = path.read_bytes()
    path.unlink()
    if spoil != "remove":
        path.write_bytes(data[:-1] if spoil == "truncate" else data + b"x")
    with pytest.raises(FolderError, match=name):
        Index.load(folder)


def test_only_the_blocks_that_are_touched_are_checked(folder: Path) -> None:
    index = Index.load(folder)
    flip(folder / "vectors.npy", (folder / "vectors.npy").stat().st_size - 1)
    assert index.search("gold", by="words")  # no vector is read
    with pytest.raises(FolderError, match=r"vectors\.npy differs from what was written"):
        index.search("gold", by="meaning", exact=True)


def edit_config(folder: Path, **changes: Any) -> None:
    """Change index.json and make its own checksum fit again."""
    edit_json(folder / "index.json", **changes)


@pytest.mark.parametrize(
    ("spoil", "message"),
    [
        (lambda folder: edit_config(folder, format_version=9), "format version 9"),
        (lambda folder: edit_config(folder, format="other"), "not of a Kate index"),
        (lambda folder: edit_config(folder, n_documents=7), "does not hold together"),
        (lambda folder: edit_config(folder, graph={"colour": "blue"}), "strange entries"),
        (lambda folder: edit_config(folder, files={}), "expects None"),
        (lambda folder: edit_config(folder, files=[]), "expects None"),
        (lambda folder: edit_config(folder, store="stone"), "store 'stone'"),
        (lambda folder: (folder / "index.json").write_text("{"), "not valid JSON"),
        (lambda folder: (folder / "index.json").unlink(), r"no index\.json in it.*kate index"),
        (
            lambda folder: model_by_hand(center=0.5).save(folder / "model"),
            "not the model that made the vectors",
        ),
    ],
)
def test_a_folder_that_does_not_hold_together_is_refused(
    folder: Path, spoil: Callable[[Path], Any], message: str
) -> None:
    spoil(folder)
    with pytest.raises(FolderError, match=message):
        Index.load(folder)


def test_an_index_of_an_older_format_is_refused_with_what_to_do(folder: Path) -> None:
    edit_config(folder, format_version=2, kate_version="0.1.0")
    with pytest.raises(
        FolderError, match=r"written by Kate 0\.1 .*make one with `kate index MODEL CORPUS -o INDEX`"
    ):
        Index.load(folder)


def test_an_open_reader_keeps_its_snapshot(folder: Path) -> None:
    reader = Index.load(folder)  # nothing has been read yet but index.json and the model
    expected = everything(folder)
    Index.build(model_by_hand(), ["silver"] * 5).save(folder)
    assert len(Index.load(folder)) == 5
    assert reader.search("gold zombie 1815") == expected[0]
    assert reader.search("gold", exact=True, where="year > 100", sort="-year") == expected[1]
    assert reader.similar_documents("7") == expected[3]


def test_readers_while_it_is_replaced_again_and_again_see_one_or_the_other(tmp_path: Path) -> None:
    folder = tmp_path / "index"
    indexes = [Index.build(model_by_hand(), [word] * n) for word, n in (("gold", 3), ("silver", 40))]
    indexes[0].save(folder)
    stop = threading.Event()

    def replace() -> None:
        for turn in range(1, 13):
            indexes[turn % 2].save(folder)
        stop.set()

    writer = threading.Thread(target=replace)
    writer.start()
    seen = set()
    while not stop.is_set():
        index = Index.load(folder)
        seen.add((len(index), index.search("gold silver", by="words")[0].snippet))
    writer.join()
    assert seen <= {(3, "gold"), (40, "silver")}


def test_an_index_that_is_replaced_twice_while_it_is_read_is_read_again(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """By another and by itself again: every check of the parts holds, though the model read is the other's."""
    folder = tmp_path / "index"
    indexes = [Index.build(model_by_hand(center), ["gold", "silver", "peace"]) for center in (0.0, 0.5)]
    expected = indexes[0].search("gold silver")
    indexes[0].save(folder)
    models = []

    def load_in_a_bad_moment(place: Path) -> TextModel:
        if models:
            return load(place)
        indexes[1].save(folder)
        models.append(load(place))
        indexes[0].save(folder)
        return models[0]

    monkeypatch.setattr("kate.search.index_folder.load", load_in_a_bad_moment)
    index = Index.load(folder)
    assert index.model is not models[0]
    assert list(index.search("gold silver")) == list(expected)


def test_a_damaged_index_crashes_no_process(folder: Path) -> None:
    """In a process of its own: a segmentation fault would end this one."""
    flip(folder / "graph.usearch", 4000)
    flip(folder / "documents.arrow", 300)
    program = f"import kate; kate.Index.load({str(folder)!r}).search('gold')"
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=False)
    assert done.returncode == 1
    assert "FolderError" in done.stderr


def test_names_of_the_files_are_known_to_the_kind_of_folder(whole: Path) -> None:
    assert {path.name for path in whole.iterdir()} <= {*INDEX_FOLDER.files, INDEX_FOLDER.config}
