"""Every file of every folder, damaged in every way: what is read is what was written, or it is refused by name."""

from __future__ import annotations

import json
import os
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import kate
from attacks.attack_budget import cases, seed
from attacks.case_runner import attack
from folder_edits import edit_json, seal_file

pytestmark = pytest.mark.skipif(
    sys.platform != "linux", reason="pipes, /proc and limits of memory are Linux's"
)
Attacked = Callable[[str], Path]


def spread(quick: int, share: float) -> range:
    """Numbers of cases; in the quick mode every few of them, so that all have their turn."""
    many = cases(quick, share)
    return range(many) if many > quick else range(0, 7 * quick, 7)


# quick: how many in CI; share: of the long mode
@pytest.mark.parametrize(
    ("kind", "quick", "share"),
    [
        ("model", 180, 0.2),
        ("updated", 24, 0.05),
        ("estimator", 50, 0.1),
        ("index", 180, 0.15),
        ("int8", 60, 0.05),
        ("ann", 60, 0.05),
        ("shards", 50, 0.1),
        ("work", 50, 0.05),
        ("streamed", 30, 0.05),
    ],
)
def test_a_damaged_folder_is_refused_or_read_as_it_was(
    attacked: Attacked, kind: str, quick: int, share: float
) -> None:
    name = "attacks.damaged_folders:DamagedFolder"
    attack(name, spread(quick, share), seed(), kind, str(attacked(kind))).require_none()


@pytest.mark.parametrize(
    ("kind", "quick", "share"),
    [
        ("model", 150, 0.1),
        ("updated", 24, 0.05),
        ("estimator", 40, 0.05),
        ("index", 80, 0.05),
        ("int8", 30, 0.02),
        ("ann", 50, 0.03),
    ],
)
def test_a_strangers_folder_is_refused_or_answers(
    attacked: Attacked, kind: str, quick: int, share: float
) -> None:
    """Every checksum fits: nothing crashes, hangs or fills the memory, and errors are Kate's own."""
    name = "attacks.damaged_folders:StrangersFolder"
    attack(name, spread(quick, share), seed(), kind, str(attacked(kind))).require_none()


@pytest.mark.skipif(os.environ.get("KATE_ATTACK_CASES") is None, reason="slow: LanceDB; make attack does it")
def test_damage_of_a_lance_table_ends_no_process(attacked: Attacked) -> None:
    """LanceDB's files have no checksums, so that answers may differ; but nothing crashes and nothing waits."""
    name = "attacks.damaged_folders:DamagedTable"
    attack(name, range(cases(100, 0.02)), seed(), "lance", str(attacked("lance"))).require_none()


@pytest.mark.parametrize(
    "changes",
    [
        {"columns": None},
        {"columns": {"year": []}},
        {"columns": 7},
        {"columns": {"id": "id", "label": "id", "title": "title"}},
        {"ann": 1},
        {"n_components": None},
    ],
)
def test_an_index_of_lance_that_does_not_say_its_columns_is_refused(
    attacked: Attacked, changes: dict[str, Any]
) -> None:
    folder = attacked("lance")
    edit_json(folder / "index.json", **changes)
    with pytest.raises(kate.FolderError, match=r"which columns|not that of this index"):
        kate.Index.load(folder)


@pytest.mark.skipif(os.environ.get("KATE_ATTACK_CASES") is None, reason="slow: LanceDB; make attack does it")
def test_a_strangers_index_of_lance_is_refused_or_answers(attacked: Attacked) -> None:
    """All but its table, whose files are LanceDB's to read."""
    arguments = "lance", str(attacked("lance")), "index.json"
    name = "attacks.damaged_folders:StrangersFolder"
    attack(name, range(cases(100, 0.01)), seed(), *arguments).require_none()


def test_a_pipe_in_a_lance_table_is_refused(attacked: Attacked) -> None:
    folder = attacked("lance")
    [data, *_] = (folder / "tables").rglob("data/*.lance")
    data.unlink()
    os.mkfifo(data)
    with pytest.raises(kate.FolderError, match="is not a plain file"):
        kate.Index.load(folder)


def test_a_panic_of_lancedb_and_rows_that_are_not_there_are_told_as_damage() -> None:
    from kate.search.lance_table import answer_of, places_of

    class Query:
        def to_arrow(self) -> None:
            raise type("RustPanic", (Exception,), {})("rust future panicked")

    with pytest.raises(kate.FolderError, match="it is damaged"):
        answer_of(Query())
    with pytest.raises(kate.FolderError, match="row 305, which is not there"):
        places_of(np.array([3, 305]), [3, 4])


def test_a_sparse_giant_in_a_lance_table_is_refused(attacked: Attacked) -> None:
    """LanceDB asked for a TiB of memory, and the process ended."""
    folder = attacked("lance")
    path = next((folder / "tables").rglob("_indices/*/page_data.lance"))
    with path.open("wb") as giant:
        giant.truncate(1 << 40)
    with pytest.raises(kate.FolderError, match="is mostly a hole"):
        kate.Index.load(folder)


def test_nan_in_the_vectors_of_an_index_is_refused_when_they_are_read(attacked: Attacked) -> None:
    """A stranger's, whose checksums fit."""
    folder = attacked("index")
    data = bytearray((folder / "vectors.npy").read_bytes())
    data[-4:] = b"\xff\xff\xff\x7f"
    (folder / "vectors.npy").write_bytes(data)
    seal_file(folder, "vectors.npy")
    index = kate.Index.load(folder)
    with pytest.raises(kate.FolderError, match=r"vectors\.npy holds NaN or infinity"):
        index.search("gold", by="meaning", exact=True)


def test_nan_in_the_weights_of_a_model_is_refused(attacked: Attacked) -> None:
    import safetensors.numpy

    folder = attacked("model")
    arrays = safetensors.numpy.load_file(folder / "weights.safetensors")
    for name, value in (("map", float("nan")), ("W", float("inf")), ("response_mean", float("nan"))):
        changed = {other: array.copy() for other, array in arrays.items()}
        changed[name].flat[0] = value
        safetensors.numpy.save_file(changed, folder / "weights.safetensors")
        seal_file(folder, "weights.safetensors")
        with pytest.raises(kate.FolderError, match=f"{name} holds NaN or infinity"):
            kate.load(folder)


def _change_array(path: Path, name: str, new: Callable[[Any], Any]) -> None:
    """An array of a model or estimator as a stranger writes it, with a checksum that fits."""
    import safetensors.numpy

    arrays = dict(safetensors.numpy.load_file(path))
    arrays[name] = np.ascontiguousarray(new(arrays[name]))
    safetensors.numpy.save_file(arrays, path)
    seal_file(path.parent, path.name)


@pytest.mark.parametrize(
    ("file", "name", "new"),
    [
        ("topics", "words", lambda words: np.full(words.shape, -(2**27), np.int32)),
        ("topics", "words", lambda words: words * np.float64(-1e8)),
        ("topics", "starts", lambda starts: starts.astype(np.float64)),
        ("topics", "vectors", lambda vectors: vectors.astype(np.float64)),
        ("topics", "n_seen", lambda n_seen: n_seen + 2**62),
        ("topics", "joins", lambda joins: joins.astype(np.float64)),
        ("topics", "leaf_sizes", lambda sizes: sizes[:, None]),
        ("training", "generator.position", lambda position: position * 0 + 2_000_000_000),
        ("training", "generator.position", lambda position: position * 0 - 1),
        ("training", "generator.key", lambda key: key.astype(np.float64)),
        ("training", "optimizer.n_steps", lambda steps: steps * 0 - 7),
    ],
)
def test_numbers_that_lead_elsewhere_are_refused(
    attacked: Attacked, file: str, name: str, new: Callable[[Any], Any]
) -> None:
    """SciPy and NumPy would read wherever they point: topics and updates of such a model ended the process."""
    folder = attacked("updated")
    _change_array(folder / f"{file}.safetensors", name, new)
    with pytest.raises(kate.FolderError):
        kate.load(folder)


def test_settings_that_no_training_had_are_refused_by_an_update(attacked: Attacked) -> None:
    folder = attacked("updated")
    settings = json.loads((folder / "config.json").read_text())["settings"]
    odd = {"n_winners": 10**6, "n_neurons": 10**6, "batch_size": None, "loss": 7, "vocabulary_size": -1}
    changes: list[dict[str, Any]] = [settings | {name: value} for name, value in odd.items()]
    changes += [
        {other: value for other, value in settings.items() if other != name}
        for name in ("reconstruction_sampling", "warmup", "max_df")
    ]
    for changed in changes:
        edit_json(folder / "config.json", settings=changed)
        with pytest.raises(
            ValueError, match=r"cannot be trained on|does not say what its|vocabulary_size is"
        ):
            kate.load(folder).update(["a coin of gold"] * 5)


def test_numbers_of_topics_have_a_bound(attacked: Attacked) -> None:
    folder = attacked("updated")
    kept = json.loads((folder / "config.json").read_text())["kept_topics"]
    edit_json(folder / "config.json", kept_topics=kept | {"next_number": 10**30})
    with pytest.raises(kate.FolderError, match="do not hold together"):
        kate.load(folder)


def test_nan_in_an_estimator_is_refused(attacked: Attacked) -> None:
    folder = attacked("estimator")
    _change_array(folder / "weights.safetensors", "map", lambda rows: np.full_like(rows, np.nan))
    with pytest.raises(kate.FolderError, match="map holds NaN or infinity"):
        kate.KATE.load(folder)


@pytest.mark.parametrize(
    ("kind", "name", "new"),
    [
        ("index", "word_starts.npy", lambda starts: starts.astype(np.uint64)),
        ("index", "place_starts.npy", lambda starts: starts.astype(np.float64)),
        ("index", "word_rows.npy", lambda rows: rows.astype(np.float32)),
        ("index", "word_weights.npy", lambda weights: weights.astype(np.int32)),
        ("index", "text_rows.npy", lambda rows: rows[None]),
        ("int8", "scales.npy", lambda scales: np.concatenate([scales, scales])),
    ],
)
def test_arrays_of_an_index_of_another_kind_are_refused(
    attacked: Attacked, kind: str, name: str, new: Callable[[Any], Any]
) -> None:
    folder = attacked(kind)
    np.save(folder / name, new(np.load(folder / name)))
    seal_file(folder, name, describe=True)
    with pytest.raises(kate.FolderError):
        kate.Index.load(folder)


def test_an_edited_config_is_noticed(attacked: Attacked) -> None:
    """0.1 had no checksum of it: 114 changes went unnoticed."""
    for kind, name in (("model", "config.json"), ("index", "index.json")):
        path = attacked(kind) / name
        path.write_text(path.read_text().replace("0", "1", 1))
        with pytest.raises(kate.FolderError, match=r"checksum differs|format version"):
            (kate.load if kind == "model" else kate.Index.load)(path.parent)


def test_numbers_and_letters_that_are_none_are_refused(attacked: Attacked) -> None:
    folder = attacked("model")
    config = folder / "config.json"
    text = config.read_text()
    for new, message in (
        ("1e999", "1e999 is not a number"),
        ("NaN", "NaN is not a number"),
        ('"\\ud800"', "surrogates"),
    ):
        config.write_text(text.replace('"n_documents": 120', f'"n_documents": {new}', 1))
        with pytest.raises(kate.FolderError, match=message):
            kate.load(folder)


def test_links_of_a_graph_lead_nowhere_else(attacked: Attacked) -> None:
    """usearch would follow them anywhere in memory."""
    pytest.importorskip("usearch")
    folder = attacked("ann")
    path = folder / "graph.usearch"
    data = bytearray(path.read_bytes())
    data[-128:-124] = b"\xfe\xff\xff\xff"  # the first of at most 32 links of the last node
    path.write_bytes(data)
    seal_file(folder, "graph.usearch")
    with pytest.raises(kate.FolderError, match="its links lead nowhere"):
        kate.Index.load(folder).search("gold", by="meaning")


def test_an_index_of_another_store_is_refused(attacked: Attacked) -> None:
    folder = attacked("index")
    edit_json(folder / "index.json", store=None)
    with pytest.raises(kate.FolderError, match="has the store None"):
        kate.Index.load(folder)


def test_a_vocabulary_with_a_word_twice_is_refused(attacked: Attacked) -> None:
    folder = attacked("model")
    lines = (folder / "vocabulary.txt").read_text().split("\n")
    (folder / "vocabulary.txt").write_text("\n".join([lines[1], *lines[1:]]))
    seal_file(folder, "vocabulary.txt")
    with pytest.raises(kate.FolderError, match="has a word twice"):
        kate.load(folder)


def test_the_damaged_head_of_a_small_frame_does_not_fill_the_memory(attacked: Attacked) -> None:
    """A frame of zstd announces how many bytes it gives; a shard knows how many there must be."""
    import zstandard

    from kate.streaming.shard_files import Shard

    path = attacked("shards") / "000000.shard"
    piece = Shard.open(path).pieces[0]
    data = bytearray(path.read_bytes())
    bomb = zstandard.ZstdCompressor(level=1).compress(bytes(1 << 26))
    data[piece.offset : piece.offset + len(bomb)] = bomb
    path.write_bytes(data)
    with pytest.raises(kate.FolderError, match="announces too many bytes"):
        Shard.open(path).read(piece)
