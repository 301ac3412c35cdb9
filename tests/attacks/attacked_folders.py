"""The folders that are attacked: how one of each kind is made, and answers that touch every file of it.

A kind that is not there yet, or whose package is not installed, says so by ``missing``.
"""

from __future__ import annotations

import hashlib
import importlib.util
import shutil
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from unittest.mock import patch

import numpy as np

import kate
from kate.model.model_folder import read_model
from kate.streaming.memory_limit import MemoryLimit
from kate.streaming.shard_counting import count_texts, shard_name
from kate.streaming.shard_files import Shard
from kate.streaming.work_folder import WorkFolder, WorkStopped
from kate.text.documents import Documents
from kate.text.tokenizer import Tokenizer

__all__ = ["FOLDERS", "AttackedFolder", "bits_of", "corpus", "fit_streamed", "small_model"]

_LOOKS_BEFORE_A_CHECKPOINT = 10
WORDS = [
    "gold",
    "silver",
    "coin",
    "peace",
    "treaty",
    "nations",
    "ships",
    "zombie",
    "1815",
    "Überraschung",
    "law",
]


def corpus(n: int = 120, seed: int = 0) -> Documents:
    random = np.random.default_rng(seed)
    texts = [" ".join(random.choice(WORDS[i % 4 :], size=9)) + f" number{i}" for i in range(n)]
    titles = [f"title {i}" for i in range(n)]
    frame = Documents.from_texts(texts, titles=titles, labels=[f"label {i % 3}" for i in range(n)]).frame
    return Documents(frame.with_columns(year=1900 + np.arange(n)))


def small_model(seed: int = 0) -> kate.TextModel:
    model = kate.TextModel(4, max_epochs=2, random_state=seed, n_jobs=1, verbose=False, device="cpu")
    return model.fit(corpus(seed=seed))


def _hash(*arrays: Any) -> str:
    digest = hashlib.sha256()
    for array in arrays:
        digest.update(np.ascontiguousarray(array).tobytes())
    return digest.hexdigest()[:16]


def _write_model(folder: Path, seed: int = 0) -> None:
    model = small_model(seed)
    model.topics(3).rename(0, "first")
    model.save(folder)


def _read_model(folder: Path) -> list[Any]:
    trained = read_model(folder)
    model = kate.load(folder)
    state = {} if trained.training is None else trained.training.to_arrays()
    return [
        _hash(model.encode(["gold coin of peace", "ships", "law 1815"])),
        model.similar_words("gold", top=3),
        [(topic.name, topic.words[:3]) for topic in model.topics(3)],
        [topic.name for topic in model.topics(2)],
        _hash(
            trained.neurons.W,
            trained.neurons.b,
            trained.output_bias,
            *[state[name] for name in sorted(state)],
        ),
        _hash(trained.responses.mean, trained.responses.deviation),
        trained.history,
        repr(model.settings_),
        trained.given,
        len(model.vocabulary_),
        model.n_documents_,
    ]


def _write_updated(folder: Path, seed: int = 0) -> None:
    """A model that went on with new documents: topics that were kept, words that wait, a changed topic."""
    model = small_model(seed)
    model.topics(3).rename(0, "first")
    model.update(corpus(40, seed + 7).texts)
    model.topics().rename(1, "second")
    model.save(folder)


def _read_updated(folder: Path) -> list[Any]:
    model = kate.load(folder)
    before = [(topic.number, topic.name) for topic in model.topics()]
    report = model.update(["gold coin of a zombie", "law of nations", "peace and banks"] * 5).as_dict()
    report.pop("seconds")
    return [*_read_model(folder), before, report, _hash(model.encode(["gold coin of peace", "law"]))]


def _write_estimator(folder: Path, seed: int = 0) -> None:
    counts = np.random.default_rng(seed).integers(0, 4, (40, 12))
    kate.KATE(3, max_epochs=2, random_state=seed, n_jobs=1, device="cpu").fit(counts).save(folder)


def _read_estimator(folder: Path) -> list[Any]:
    model = kate.KATE.load(folder)
    return [_hash(model.transform(np.eye(12))), sorted(model.get_params().items(), key=str)]


def _write_index(
    folder: Path, seed: int = 0, *, int8: bool = False, ann: bool = False, store: Any = "files"
) -> None:
    model = small_model(seed)
    kate.Index.build(model, corpus(300, seed), int8=int8, ann=ann, n_jobs=1).save(folder, store=store)


def _read_index(folder: Path) -> list[Any]:
    index = kate.Index.load(folder)
    return [
        index.search("gold zombie 1815"),
        index.search("gold", exact=True, where="year > 2000", sort="-year"),
        index.search('"gold silver" -peace'),
        index.search("number7").suggestions,
        index.search("gold zombi").suggestions,
        index.similar_documents("7"),
        index.similar_to_text("a treaty of peace"),
        len(index.duplicates(0.99)),
        len(index),
    ]


def _write_shards(folder: Path, seed: int = 0) -> None:
    folder.mkdir()
    for number in range(2):
        count_texts(corpus(1500, seed + number).texts, Tokenizer()).write(
            folder / shard_name(number), 1500 * number
        )


def _read_shards(folder: Path) -> list[Any]:
    found: list[Any] = []
    for number in range(2):
        shard = Shard.open(folder / shard_name(number))
        for piece in shard.pieces:
            counts = shard.read(piece)
            found.append(_hash(counts.data, counts.indices, counts.indptr))
        tables = [shard.table(name).rows() for name in ("stems", "forms")]
        found += [shard.n_documents, shard.n_entries, shard.n_words, dict(shard.facts), tables]
    return found


def _write_parquet(folder: Path, seed: int = 0) -> None:
    folder.mkdir()
    corpus(200, seed).frame.write_parquet(folder / "corpus.parquet")


def _read_parquet(folder: Path) -> list[Any]:
    return kate.read_corpus(folder / "corpus.parquet").frame.rows()


def _write_work(folder: Path, seed: int = 0) -> None:
    """The folder of a fit that was stopped after it had counted."""
    with suppress(WorkStopped), WorkFolder(folder) as work:
        work.begin({"seed": 0})
        count_texts(corpus(1500, seed).texts, Tokenizer()).write(work.counts / shard_name(0), 0)
        work.keep({"vocabulary.txt": b"gold\npeace\n" * 50}, phase="vocabulary", facts={"n_documents": 1500})
        raise WorkStopped


def _read_work(folder: Path) -> list[Any]:
    found: list[Any] = []
    with suppress(WorkStopped), WorkFolder(folder, resume=True) as work:
        work.begin({"seed": 0})
        shard = Shard.open(work.counts / shard_name(0))
        found = [work.phase, dict(work.facts), work.read("vocabulary.txt")]
        found += [_hash(shard.read(piece).data) for piece in shard.pieces]
        raise WorkStopped
    return found


def fit_streamed(folder: Path, seed: int = 0, *, stop_after: int = 10**9) -> kate.TextModel:
    """A fit in a work folder, the beginning of one or what is left; ``stop_after`` so many looks it is stopped."""
    looks = iter(range(stop_after))
    model = kate.TextModel(
        3, n_neurons=8, max_epochs=2, random_state=seed, n_jobs=1, verbose=False, device="cpu"
    )
    many_shards = patch.object(MemoryLimit, "text_at_once", 6_000)
    with many_shards, WorkFolder(folder, resume=True) as work:
        return model.fit_stream(
            corpus(200, seed).texts, memory="1GB", work=work, stop=lambda: next(looks, None) is None
        )


def bits_of(model: kate.TextModel) -> str:
    return _hash(model.neurons_.W, model.neurons_.b, model.output_bias_, model.encoder_.W)


def _write_streamed(folder: Path, seed: int = 0) -> None:
    """The folder of a fit that was stopped in the middle of its training."""
    with suppress(WorkStopped):
        fit_streamed(folder, seed, stop_after=_LOOKS_BEFORE_A_CHECKPOINT)
    assert any(folder.glob("checkpoint-*"))


def _read_streamed(folder: Path) -> list[Any]:
    return [bits_of(fit_streamed(folder))]


@dataclass(frozen=True)
class AttackedFolder:
    """A kind of folder. ``config`` is its JSON file; ``unchecked`` files may say what they want.

    ``is_used_up``: reading it goes on with it, and removes it when all is done.
    """

    name: str
    write: Callable[..., None]
    read: Callable[[Path], list[Any]]
    config: str | None = None
    unchecked: frozenset[str] = frozenset()
    needs: str | None = None
    is_used_up: bool = False

    @property
    def missing(self) -> str | None:
        if self.needs and not importlib.util.find_spec(self.needs):
            return f"{self.needs} is not installed"
        return None

    def make(self, folder: Path, seed: int = 0) -> None:
        shutil.rmtree(folder, ignore_errors=True)
        self.write(folder, seed)


_CARD = frozenset({"README.md", "model/README.md"})

FOLDERS = {
    one.name: one
    for one in (
        AttackedFolder("model", _write_model, _read_model, "config.json", _CARD),
        AttackedFolder("updated", _write_updated, _read_updated, "config.json", _CARD),
        AttackedFolder("estimator", _write_estimator, _read_estimator, "config.json", needs="sklearn"),
        AttackedFolder("index", _write_index, _read_index, "index.json", _CARD),
        AttackedFolder(
            "int8", lambda folder, seed=0: _write_index(folder, seed, int8=True), _read_index, "index.json", _CARD
        ),
        AttackedFolder(
            "ann",
            lambda folder, seed=0: _write_index(folder, seed, ann=True),
            _read_index,
            "index.json",
            _CARD,
            needs="usearch",
        ),
        AttackedFolder(
            "lance",
            lambda folder, seed=0: _write_index(folder, seed, store="lance"),
            _read_index,
            "index.json",
            _CARD | {"writer.lock"},
            needs="lancedb",
        ),
        AttackedFolder("shards", _write_shards, _read_shards),
        AttackedFolder("work", _write_work, _read_work, "work.json", frozenset({"lock"})),
        AttackedFolder(
            "streamed", _write_streamed, _read_streamed, "work.json", frozenset({"lock"}), is_used_up=True
        ),
    )
}  # fmt: skip
