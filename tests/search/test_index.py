"""Index: on a model whose weights are set by hand, so that every cosine is known."""

from __future__ import annotations

import errno
import json
import shutil
import sys
import threading
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pytest
from scipy.sparse import csr_matrix
from sklearn.exceptions import NotFittedError

from kate.model.encoder import EmptyDocumentsWarning, Encoder
from kate.model.model_folder import Trained, write_model
from kate.model.text_model import TextModel, UnknownWordError
from kate.search import Hit, Index, exact_search
from kate.search import index as index_module
from kate.storage.folders import FolderError
from kate.text.documents import Documents
from kate.text.vocabulary import Vocabulary
from kate.topics.document_sketch import DocumentSketch
from kate.topics.neuron_poles import Responses
from kate.topics.topic_space import TopicSpace

TEXTS = [
    "A treaty of peace.",
    "Gold and silver!",
    "The nations ratified the treaty;\n\tpeace\x1b[31m followed.",
    "Gold, " * 100,
    "Peace and gold.",
    "Gold and silver!",
]
LABELS = ["peace", "money", "peace", "money", None, "money"]
DOCUMENTS = Documents.from_texts(TEXTS, ids=list("abcdef"), labels=LABELS, titles=["First"] + [None] * 5)
# Peace points along the first axis, money along the second; the third neuron is silent.
DIRECTIONS = {
    "peace": (1, 0, 0),
    "treaty": (1, 0.2, 0),
    "nations": (1, 0, 0),
    "gold": (0, 1, 0),
    "silver": (0, 1, 0),
}


def model_by_hand(center: float | None = None) -> TextModel:
    """Vectors are a projection of the neurons; with a ``center`` they are the neurons themselves and keep that mean."""
    vocabulary, _ = Vocabulary.learn([" ".join(DIRECTIONS)] * 2)
    W = np.array([DIRECTIONS[word] for word in vocabulary.readable], dtype=np.float32)
    mean = np.full(3, center or 0.0, dtype=np.float32)
    neurons = Encoder(W, np.zeros(3, np.float32), np.zeros(3, np.float32), "max", "tanh", "preactivation")
    settings = {"n_components": 3, "scaling": "max", "activation": "tanh", "output": "projection"}
    if center is not None:
        settings |= {"output": "preactivation", "mean": "keep"}
    nothing = csr_matrix((2, len(vocabulary)), dtype=np.float32)
    sketch = DocumentSketch.take(nothing, lambda X: np.zeros((X.shape[0], 3), np.float32))
    return TextModel.from_trained(
        Trained(
            settings=settings,
            vocabulary=vocabulary,
            neurons=neurons,
            encoder=Encoder.of_map(W, "max", None) if center is None else neurons,
            output_bias=np.zeros(len(vocabulary), np.float32),
            responses=Responses(mean, np.ones(3, np.float32)),
            topics=TopicSpace(sketch, vocabulary.readable),
            history=[],
        )
    )


@pytest.fixture
def index() -> Index:
    return Index.build(model_by_hand(), DOCUMENTS)


@pytest.fixture
def folder(index: Index, tmp_path: Path) -> Path:
    index.save(tmp_path / "index")
    return tmp_path / "index"


def test_a_query_finds_the_documents_of_its_theme(index: Index) -> None:
    hits = index.search("silver", top=4)
    assert [hit.id for hit in hits] == ["b", "d", "f", "e"]  # of equals the earlier document
    assert [hit.rank for hit in hits] == [1, 2, 3, 4]
    assert [hit.score for hit in hits] == pytest.approx([1, 1, 1, 2**-0.5])
    assert [hit.label for hit in hits] == ["money", "money", "money", None]


def test_a_hit_shows_the_document_in_one_line(index: Index) -> None:
    hits = {hit.id: hit for hit in index.search("peace", top=100)}
    assert len(hits) == len(index) == 6
    assert hits["a"] == Hit(hits["a"].rank, hits["a"].score, "a", "peace", "First", "A treaty of peace.")
    assert hits["c"].title is None
    assert hits["c"].snippet == "The nations ratified the treaty; peace [31m followed."
    assert hits["d"].snippet == ("Gold, " * 33)[:-1] + "…"
    assert hits["a"].as_dict()["title"] == "First"


def test_any_form_of_the_words_and_unknown_ones_between_them_will_do(index: Index) -> None:
    assert index.search("Treaties, xyzzy & peace!", top=1)[0].id == "a"


def test_a_query_without_known_words_brings_close_ones(index: Index) -> None:
    with pytest.raises(UnknownWordError, match=r"no word of 'the silvr trety' is among.*silver, treaty"):
        index.search("the silvr trety")
    with pytest.raises(UnknownWordError, match="try a word of the texts"):
        index.search("")


def test_a_query_of_endless_apostrophes_and_one_of_thousands_of_unknown_words_are_answered(
    index: Index,
) -> None:
    strange = "gold ab" + "'s" * 990
    assert index.search(strange, top=1) == index.search("gold", top=1)
    assert len(Index.build(index.model, [strange, "gold"])) == 2
    with pytest.raises(UnknownWordError, match="did you mean silver") as caught:
        index.search("silvr " + " ".join(f"unknown{n}" for n in range(2000)))
    assert len(str(caught.value)) < 300


def test_vectors_of_queries_find_what_their_texts_find(index: Index) -> None:
    queries = ["silver", "peace", "peace and gold"]
    found = index.search_vectors(index.model.encode(queries), top=3)
    for query, hits in zip(queries, found, strict=True):
        expected = index.search(query, top=3)
        assert [hit.id for hit in hits] == [hit.id for hit in expected]
        assert [hit.score for hit in hits] == pytest.approx([hit.score for hit in expected])
    assert len(index.search_vectors(index.model.encode(["silver"])[0], top=3)) == 1


def test_scores_are_cosines_of_centred_vectors() -> None:
    model = model_by_hand(center=0.25)
    index = Index.build(model, DOCUMENTS)
    vectors = model.encode(TEXTS) - 0.25
    units = vectors / np.linalg.norm(vectors, axis=1, keepdims=True)
    scores = {hit.id: hit.score for hit in index.search_vectors(model.encode(["treaty"]))[0]}
    query = model.encode(["treaty"])[0] - 0.25
    assert list(scores) == [hit.id for hit in index.search("treaty")]
    for row, document in enumerate("abcdef"):
        assert scores[document] == pytest.approx(units[row] @ query / np.linalg.norm(query), abs=1e-6)


def test_a_vector_of_zeros_is_near_to_nothing(index: Index) -> None:
    [hits] = index.search_vectors(np.zeros((1, 3)), top=2)
    assert [(hit.id, hit.score) for hit in hits] == [("a", 0.0), ("b", 0.0)]


def test_documents_without_words_are_indexed_with_a_warning_and_never_found() -> None:
    with pytest.warns(EmptyDocumentsWarning, match="2 of 3 documents") as caught:
        index = Index.build(model_by_hand(center=0.25), ["", "gold", "xyzzy"])
    assert caught[0].filename == __file__
    assert [hit.id for hit in index.search("gold", top=3)] == ["1"]
    with pytest.raises(ValueError, match="nothing is similar"):
        index.similar_documents("0")


def test_neighbours_of_a_document_leave_it_out(index: Index) -> None:
    assert [hit.id for hit in index.similar_documents("b", top=2)] == ["d", "f"]
    assert [hit.id for hit in index.similar_documents("f", top=3)] == ["b", "d", "e"]
    assert len(index.similar_documents("f", top=100)) == 5
    with pytest.raises(ValueError, match=r"no document has the id 'z'.*look like 'a', 'b', 'c'"):
        index.similar_documents("z")


@pytest.mark.parametrize("size", [1, 2, 7, 100])
def test_blocks_do_not_change_the_answer(monkeypatch: pytest.MonkeyPatch, size: int) -> None:
    random = np.random.default_rng(0)
    vectors = random.integers(-2, 3, size=(50, 3)).astype(np.float32)  # small whole numbers: many ties
    queries = random.integers(-2, 3, size=(9, 3)).astype(np.float32)
    documents = pl.LazyFrame(
        {"id": [str(row) for row in range(50)], "label": "x", "title": "y", "snippet": "z"}
    )
    index = Index(model_by_hand(), vectors, documents)
    monkeypatch.setattr(exact_search, "ROWS_AT_ONCE", size)
    monkeypatch.setattr(exact_search, "QUERIES_AT_ONCE", size)
    for query, hits in zip(queries, index._hits(queries, top=6, exact=True), strict=True):
        rows = np.flatnonzero(vectors.any(axis=1)).tolist()
        expected = sorted(rows, key=lambda row: (-(vectors[row] @ query), row))[:6]
        assert [int(hit.id) for hit in hits] == expected


def test_building_in_blocks_changes_nothing(index: Index, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(index_module, "_DOCUMENTS_AT_ONCE", 2)
    in_blocks = Index.build(model_by_hand(), DOCUMENTS)
    np.testing.assert_array_equal(in_blocks.vectors, index.vectors)


@pytest.mark.parametrize("asked", [{"n_jobs": 2}, {}], ids=["by the caller", "by the model"])
def test_building_encodes_with_all_threads_asked_for(
    index: Index, monkeypatch: pytest.MonkeyPatch, asked: dict[str, int]
) -> None:
    respond, together = Encoder.respond, threading.Barrier(2, timeout=30)

    def respond_with_another(self: Encoder, X: Any) -> Any:
        together.wait()  # fails unless a second thread encodes at the same time
        return respond(self, X)

    monkeypatch.setattr("kate.model.encoder._BLOCK", 3)
    monkeypatch.setattr(Encoder, "respond", respond_with_another)
    model = model_by_hand()
    model.n_jobs = None if asked else 2
    np.testing.assert_array_equal(Index.build(model, DOCUMENTS, **asked).vectors, index.vectors)


def test_a_saved_index_answers_alike_and_needs_nothing_else(index: Index, folder: Path) -> None:
    moved = folder.rename(folder.parent / "moved")
    loaded = Index.load(moved)
    assert repr(loaded) == "Index of 6 documents, 3 dimensions"
    assert loaded.search("peace treaty") == index.search("peace treaty")
    assert loaded.similar_documents("b") == index.similar_documents("b")
    np.testing.assert_array_equal(loaded.model.encode(TEXTS), index.model.encode(TEXTS))
    assert isinstance(loaded.vectors, np.memmap)


def test_a_loaded_index_may_be_saved_over_itself(folder: Path) -> None:
    loaded = Index.load(folder)
    before = loaded.search("gold")
    loaded.save(folder)
    assert Index.load(folder).search("gold") == loaded.search("gold") == before
    assert [path.name for path in folder.parent.iterdir()] == ["index"]


@pytest.mark.parametrize("where", ["vectors", "model", "index.json"])
def test_a_full_disk_leaves_the_old_index_and_nothing_else(
    index: Index, folder: Path, monkeypatch: pytest.MonkeyPatch, where: str
) -> None:
    def fail(*_: Any, **__: Any) -> None:
        raise OSError(errno.ENOSPC, "No space left on device")

    owner, name = {
        "vectors": (np, "save"),
        "model": (Path, "write_bytes"),
        "index.json": (Path, "write_text"),
    }[where]
    monkeypatch.setattr(owner, name, fail)
    for target in (folder, folder.parent / "new"):
        with pytest.raises(OSError, match="No space left"):
            index.save(target)
    assert [path.name for path in folder.parent.iterdir()] == ["index"]
    assert len(Index.load(folder).search("gold")) == 6


def test_only_an_index_is_replaced(index: Index, folder: Path, tmp_path: Path) -> None:
    index.model.save(tmp_path / "model")
    with pytest.raises(FileExistsError, match=r"no index\.json"):
        index.save(tmp_path / "model")
    with pytest.raises(FileExistsError, match=r"no config\.json"):
        index.model.save(folder)
    (folder / "notes.txt").write_text("mine")
    with pytest.raises(FileExistsError, match=r"notes\.txt"):
        index.save(folder)


@pytest.fixture
def with_graph() -> Index:
    return Index.build(model_by_hand(), DOCUMENTS, ann=True, n_jobs=1)


def test_an_index_with_a_graph_finds_the_same(with_graph: Index, index: Index, tmp_path: Path) -> None:
    assert with_graph.graph is not None
    assert with_graph.graph.facts.recall_at_10 == 1
    with_graph.save(tmp_path / "index")
    loaded = Index.load(tmp_path / "index")
    for graphed in (with_graph, loaded):
        for exact in (False, True):
            assert graphed.search("peace treaty", exact=exact) == index.search("peace treaty")
            assert graphed.similar_documents("b", top=2, exact=exact) == index.similar_documents("b", top=2)
            vectors = index.model.encode(TEXTS)
            assert graphed.search_vectors(vectors, exact=exact) == index.search_vectors(vectors)


def test_an_index_with_a_graph_can_be_saved_over_itself_or_by_one_without(
    with_graph: Index, index: Index, tmp_path: Path
) -> None:
    folder = tmp_path / "index"
    with_graph.save(folder)
    loaded = Index.load(folder)
    loaded.save(folder)
    assert Index.load(folder).search("gold") == loaded.search("gold") == index.search("gold")
    index.save(folder)
    assert not (folder / "graph.usearch").exists()
    assert Index.load(folder).graph is None


def test_exact_search_needs_no_graph_library(
    with_graph: Index, index: Index, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with_graph.save(tmp_path / "index")
    monkeypatch.setitem(sys.modules, "usearch.index", None)
    loaded = Index.load(tmp_path / "index")
    assert loaded.search("gold", exact=True) == index.search("gold")
    with pytest.raises(ImportError, match=r"pip install 'kate-text\[ann\]'"):
        loaded.search("gold")
    with pytest.raises(ImportError, match=r"pip install 'kate-text\[ann\]'"):
        Index.build(model_by_hand(), DOCUMENTS, ann=True)


@pytest.mark.parametrize(
    ("spoil", "message"),
    [
        (lambda folder: truncate(folder / "graph.usearch"), r"graph\.usearch is .* bytes long"),
        (lambda folder: (folder / "graph.usearch").unlink(), r"graph\.usearch is missing"),
        (lambda folder: edit_config(folder, graph={"colour": "blue"}), r"the graph in .*index\.json"),
        (lambda folder: edit_config(folder, graph=[1]), r"the graph in .*index\.json"),
    ],
)
def test_a_damaged_graph_is_refused(
    with_graph: Index, tmp_path: Path, spoil: Callable[[Path], Any], message: str
) -> None:
    with_graph.save(tmp_path / "index")
    spoil(tmp_path / "index")
    with pytest.raises(FolderError, match=message):
        Index.load(tmp_path / "index")


def edit_config(folder: Path, **changes: Any) -> None:
    config = json.loads((folder / "index.json").read_text())
    (folder / "index.json").write_text(json.dumps(config | changes))


def truncate(path: Path) -> None:
    path.write_bytes(path.read_bytes()[:-8])


def with_another_model(folder: Path) -> None:
    shutil.rmtree(folder / "model")
    model_by_hand(center=0.5).save(folder / "model")


def with_other_contents(folder: Path, name: str, data: bytes) -> None:
    (folder / name).write_bytes(data)
    files = json.loads((folder / "index.json").read_text())["files"]
    edit_config(folder, files=files | {name: {"bytes": len(data)}})


def with_fewer_documents(folder: Path) -> None:
    pl.read_ipc(folder / "documents.arrow").head(2).write_ipc(folder / "documents.arrow")
    with_other_contents(folder, "documents.arrow", (folder / "documents.arrow").read_bytes())


def with_other_columns(folder: Path) -> None:
    pl.DataFrame({"id": ["a"]}).write_ipc(folder / "documents.arrow")
    with_other_contents(folder, "documents.arrow", (folder / "documents.arrow").read_bytes())


@pytest.mark.parametrize(
    ("spoil", "message"),
    [
        (lambda folder: edit_config(folder, format_version=9), "format version 9"),
        (lambda folder: edit_config(folder, format="other"), "not of a Kate index"),
        (lambda folder: edit_config(folder, files={}), "expects None"),
        (lambda folder: edit_config(folder, files=[]), "expects None"),
        (lambda folder: edit_config(folder, n_documents=7), "does not hold together"),
        (lambda folder: (folder / "index.json").write_text("{"), "not valid JSON"),
        (lambda folder: (folder / "index.json").unlink(), r"no index\.json in it.*kate index"),
        (lambda folder: (folder / "vectors.npy").unlink(), r"vectors\.npy is missing"),
        (lambda folder: (folder / "documents.arrow").unlink(), r"documents\.arrow is missing"),
        (lambda folder: truncate(folder / "vectors.npy"), r"vectors\.npy is .* bytes long"),
        (lambda folder: truncate(folder / "documents.arrow"), r"documents\.arrow is .* bytes long"),
        (lambda folder: truncate(folder / "model" / "weights.safetensors"), r"weights\.safetensors is"),
        (lambda folder: with_other_contents(folder, "vectors.npy", b"no array"), "is not an array"),
        (lambda folder: with_other_contents(folder, "documents.arrow", b"no arrow"), "is not an Arrow file"),
        (with_another_model, "not the model that made the vectors"),
        (with_fewer_documents, "2 documents"),
        (with_other_columns, "has the columns id; expected id, label"),
    ],
)
def test_a_damaged_index_is_refused(folder: Path, spoil: Callable[[Path], Any], message: str) -> None:
    spoil(folder)
    with pytest.raises(FolderError, match=message):
        Index.load(folder)


def test_what_is_no_index_folder_is_refused(folder: Path, tmp_path: Path) -> None:
    with pytest.raises(FileNotFoundError, match="no index folder"):
        Index.load(tmp_path / "nowhere")
    with pytest.raises(NotADirectoryError, match="is a file; expected a Kate index folder"):
        Index.load(folder / "index.json")
    with pytest.raises(FileNotFoundError, match="no model folder"):
        shutil.rmtree(folder / "model")
        Index.load(folder)


@pytest.mark.parametrize(
    ("vectors", "message"),
    [
        (np.zeros((2, 4)), r"shape \(2, 4\); expected \(n_queries, 3\)"),
        (np.zeros((1, 2, 3)), "shape"),
        ([[np.nan, 0, 0]], "NaN"),
    ],
)
def test_vectors_that_are_no_queries_are_refused(index: Index, vectors: Any, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        index.search_vectors(vectors)


def test_none_at_all_is_not_a_number_of_hits(index: Index) -> None:
    for ask in (index.search, index.similar_documents):
        with pytest.raises(ValueError, match="top is 0"):
            ask("peace" if ask == index.search else "a", top=0)


def test_an_index_needs_documents_and_a_fitted_model() -> None:
    with pytest.raises(ValueError, match="no documents to index"):
        Index.build(model_by_hand(), [])
    with pytest.raises(NotFittedError):
        Index.build(TextModel(3), DOCUMENTS)


def test_a_model_folder_is_all_that_an_index_keeps_of_a_model(folder: Path, tmp_path: Path) -> None:
    write_model(tmp_path / "model", model_by_hand()._fitted())
    names = sorted(path.name for path in (folder / "model").iterdir())
    assert names == sorted(path.name for path in (tmp_path / "model").iterdir())
