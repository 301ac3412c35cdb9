"""Index: on a model whose weights are set by hand, so that every cosine is known."""

from __future__ import annotations

import errno
import json
import re
import shutil
import sys
import threading
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from sklearn.exceptions import NotFittedError

from hand_made import DOCUMENTS, TEXTS, WITH_COLUMNS, model_by_hand
from kate.extras import install_command
from kate.model.encoder import EmptyDocumentsWarning, Encoder
from kate.model.model_folder import write_model
from kate.model.text_model import TextModel, UnknownWordError
from kate.search import Hit, Index, building, exact_search
from kate.storage.checked_files import CheckedArray


@pytest.fixture
def index() -> Index:
    return Index.build(model_by_hand(), DOCUMENTS)


@pytest.fixture
def folder(index: Index, tmp_path: Path) -> Path:
    index.save(tmp_path / "index")
    return tmp_path / "index"


def test_a_query_finds_the_documents_of_its_theme(index: Index) -> None:
    hits = index.search("silver", top=4, by="meaning")
    assert [hit.id for hit in hits] == ["b", "d", "f", "e"]  # of equals the earlier document
    assert [hit.rank for hit in hits] == [1, 2, 3, 4]
    assert [hit.score for hit in hits] == pytest.approx([1, 1, 1, 2**-0.5])
    assert [hit.label for hit in hits] == ["money", "money", "money", None]


def test_rows_of_many_ids_are_those_of_each(index: Index) -> None:
    assert index.store.rows_of(["b", "nowhere", "a"]) == {
        name: index.store.row_of(name) for name in ("a", "b")
    }
    assert index.store.rows_of([]) == {}


def test_a_hit_shows_the_document_in_one_line(index: Index) -> None:
    hits = {hit.id: hit for hit in index.search("peace", top=100)}
    assert len(hits) == len(index) == 6
    assert hits["a"] == Hit(
        hits["a"].rank, hits["a"].score, "a", "peace", "First", "A treaty of peace.", ((12, 17),)
    )
    assert hits["c"].title is None
    assert hits["c"].snippet == "The nations ratified the treaty; peace [31m followed."
    assert hits["d"].snippet == ("Gold, " * 33)[:-1] + "…"
    assert hits["a"].as_dict()["title"] == "First"


def test_any_form_of_the_words_and_unknown_ones_between_them_will_do(index: Index) -> None:
    assert index.search("Treaties, xyzzy & peace!", top=1)[0].id == "a"


def test_a_query_without_known_words_brings_close_ones(index: Index) -> None:
    with pytest.raises(UnknownWordError, match=r"no word of 'silvr trety' is in a document.*silver, treaty"):
        index.search("silvr trety")
    with pytest.raises(UnknownWordError, match=r"'zzz' is in no document; try another word"):
        index.search("zzz")
    with pytest.raises(UnknownWordError, match=r"'silvr' is not among.*silver"):
        index.search("silvr", by="meaning")


def test_a_word_that_nobody_wrote_beside_one_that_somebody_did(index: Index) -> None:
    found = index.search("gold silvr")
    assert found.suggestions == {"silvr": ["silver"]}
    assert found[0].id in "bdf"
    assert index.search("gold").suggestions == {}


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
        expected = index.search(query, top=3, by="meaning")
        assert [hit.id for hit in hits] == [hit.id for hit in expected]
        assert [hit.score for hit in hits] == pytest.approx([hit.score for hit in expected])
    assert len(index.search_vectors(index.model.encode(["silver"])[0], top=3)) == 1


def test_scores_are_cosines_of_vectors_without_the_direction_of_the_mean() -> None:
    model = model_by_hand(center=0.25)
    index = Index.build(model, DOCUMENTS)

    def projected(texts: list[str]) -> Any:
        vectors = model.encode(texts)
        return vectors - vectors.mean(axis=1, keepdims=True)  # the mean is the same for all three neurons

    vectors = projected(TEXTS)
    units = vectors / np.linalg.norm(vectors, axis=1, keepdims=True)
    scores = {hit.id: hit.score for hit in index.search_vectors(model.encode(["treaty"]))[0]}
    query = projected(["treaty"])[0]
    assert list(scores) == [hit.id for hit in index.search("treaty", by="meaning")]
    for row, document in enumerate("abcdef"):
        assert scores[document] == pytest.approx(units[row] @ query / np.linalg.norm(query), abs=1e-6)


def test_a_vector_of_zeros_is_near_to_nothing(index: Index) -> None:
    [hits] = index.search_vectors(np.zeros((1, 3)), top=2)
    assert [(hit.id, hit.score) for hit in hits] == [("a", 0.0), ("b", 0.0)]


def test_documents_without_known_words_are_indexed_with_a_warning_and_found_by_their_words() -> None:
    with pytest.warns(EmptyDocumentsWarning, match="2 of 3 documents") as caught:
        index = Index.build(model_by_hand(center=0.25), ["", "gold", "xyzzy"])
    assert caught[0].filename == __file__
    assert [hit.id for hit in index.search("gold", top=3)] == ["1"]
    assert [hit.id for hit in index.search("xyzzy", top=3)] == ["2"]
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
    index = Index.build(model_by_hand(), ["gold"] * 50)
    index.store.vectors = vectors
    monkeypatch.setattr(exact_search, "ROWS_AT_ONCE", size)
    monkeypatch.setattr(exact_search, "QUERIES_AT_ONCE", size)
    monkeypatch.setattr("kate.search.index.unit_rows", lambda rows: rows)
    for query, hits in zip(queries, index.search_vectors(queries, top=6), strict=True):
        rows = np.flatnonzero(vectors.any(axis=1)).tolist()
        expected = sorted(rows, key=lambda row: (-(vectors[row] @ query), row))[:6]
        assert [int(hit.id) for hit in hits] == expected


def test_building_in_blocks_changes_nothing(index: Index, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(building, "_DOCUMENTS_AT_ONCE", 2)
    in_blocks = Index.build(model_by_hand(), DOCUMENTS)
    np.testing.assert_array_equal(in_blocks.vectors, index.vectors)


@pytest.mark.parametrize("asked", [{"n_jobs": 2}, {}], ids=["by the caller", "by the model"])
def test_building_encodes_with_all_threads_asked_for(
    index: Index, monkeypatch: pytest.MonkeyPatch, asked: dict[str, int]
) -> None:
    respond, together = Encoder.respond, threading.Barrier(2, timeout=120)

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
    assert isinstance(loaded.vectors, CheckedArray)  # read when it is asked for


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
    with pytest.raises(ImportError, match=re.escape(install_command("ann"))):
        loaded.search("gold")
    with pytest.raises(ImportError, match=re.escape(install_command("ann"))):
        Index.build(model_by_hand(), DOCUMENTS, ann=True)


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


@pytest.fixture(scope="module", params=["memory", "files", "lance"])
def columns(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Index:
    """The same documents in memory and in both stores: every test with it is a test of all three."""
    if request.param == "lance":
        pytest.importorskip("lancedb")
    index = Index.build(model_by_hand(), WITH_COLUMNS)
    if request.param == "memory":
        return index
    folder = tmp_path_factory.mktemp(request.param) / "index"
    index.save(folder, store=request.param)
    return Index.load(folder)


def ids(hits: Any) -> str:
    return "".join(hit.id for hit in hits)


def test_words_and_meaning_and_both(columns: Index) -> None:
    assert ids(columns.search("silver", by="words")) == "bf"
    assert ids(columns.search("silver", by="meaning", top=4)) == "bdfe"
    assert ids(columns.search("silver")) == "bfdeac"
    assert ids(columns.search("ratified", by="words")) == "c"  # a word that the model does not know
    assert [hit.score for hit in columns.search("ratified")] == [1.0]
    assert ids(columns.search("followed nations")) == "caebdf"
    assert ids(columns.search("first")) == "a"  # a word of a title


def test_phrases_must_occur_and_others_must_not(columns: Index) -> None:
    assert ids(columns.search('"treaty of peace"')) == "a"
    assert ids(columns.search('"peace treaty"')) == ""
    assert ids(columns.search('"gold and silver" -peace')) == "bf"
    assert not set("bf") & set(ids(columns.search("gold -silver")))
    assert set(ids(columns.search('gold -"peace and gold"', by="words"))) == set("bdf")
    assert not set("cde") - set(ids(columns.search('peace -"treaty of peace"', top=6)))


def test_only_stop_words_are_looked_for_as_they_are(columns: Index) -> None:
    assert set(ids(columns.search("and"))) == set("bef")
    with pytest.raises(UnknownWordError, match="among the 5 words"):
        columns.search("and", by="meaning")


@pytest.mark.parametrize("by", ["both", "words", "meaning"])
def test_filters(columns: Index, by: Any) -> None:
    found = columns.search("gold", by=by, where="year >= 1848 and label = 'money'")
    assert set(ids(found)) == set("bdf")
    assert ids(columns.search("gold", by=by, where="place = 'O''Brien'")) == "b"
    assert columns.search("gold", by=by, where="year > 3000") == []
    with pytest.raises(ValueError, match=r"no column is named 'yaer'; did you mean year\?"):
        columns.search("gold", by=by, where="yaer > 3000")


def test_hits_have_their_columns(columns: Index) -> None:
    [hit] = columns.search("ratified")
    assert hit.columns == {"year": 1919, "Place": "w"}
    assert json.loads(json.dumps(hit.as_dict()))["columns"] == {"year": 1919, "Place": "w"}


def test_hits_are_sorted_by_a_column(columns: Index) -> None:
    assert ids(columns.search("gold", by="words", sort="year")) == "bdfe"  # e has no year
    assert ids(columns.search("gold", by="words", sort="-year")) == "fdbe"
    assert ids(columns.search("gold", by="words", sort="year desc", top=2, offset=1)) == "db"
    assert ids(columns.search("gold", by="words", sort="score")) == ids(columns.search("gold", by="words"))
    with pytest.raises(ValueError, match=r"no column is named 'yaer'; did you mean year\?"):
        columns.search("gold", sort="yaer")


def test_pages_follow_each_other(columns: Index) -> None:
    whole = columns.search("gold", top=6)
    pages = [columns.search("gold", top=2, offset=offset) for offset in (0, 2, 4)]
    assert [hit for page in pages for hit in page] == whole
    assert [hit.rank for hit in pages[2]] == [5, 6]
    assert columns.search("gold", offset=100) == []
    with pytest.raises(ValueError, match="offset is -1"):
        columns.search("gold", offset=-1)


def test_documents_like_a_document_and_like_a_text(columns: Index) -> None:
    assert ids(columns.similar_documents("b", top=3)) == "dfe"
    assert ids(columns.similar_documents("b", top=3, where="year > 1896")) == "fc"
    assert ids(columns.similar_documents("b", top=1, offset=1)) == "f"
    assert ids(columns.similar_to_text("Nations and their treaties", top=2)) == "ac"
    with pytest.raises(UnknownWordError):
        columns.similar_to_text("xyzzy")
    with pytest.raises(ValueError, match=r"no document has the id 'z'"):
        columns.similar_documents("z")


def test_near_duplicates(columns: Index) -> None:
    [group] = columns.duplicates()
    assert (group.ids, group.titles, group.overlap) == (("b", "f"), (None, None), 1.0)
    assert columns.duplicates(1.0) == [group]
    [wide] = columns.duplicates(0.3)
    assert set(wide.ids) == set("bdf")
    for threshold in (0, 1.1):
        with pytest.raises(ValueError, match="threshold"):
            columns.duplicates(threshold)


def test_all_stores_find_the_same(columns: Index) -> None:
    index = Index.build(model_by_hand(), WITH_COLUMNS)
    for query in ("gold", "peace treaty", "gold silver nations", "treaty -peace", '"gold and silver"'):
        expected, found = index.search(query), columns.search(query)
        assert ids(found) == ids(expected)
        assert [hit.score for hit in found] == pytest.approx([hit.score for hit in expected], abs=1e-5)
        assert [(hit.snippet, hit.marks) for hit in found] == [(hit.snippet, hit.marks) for hit in expected]
    assert len(columns) == 6
    assert repr(columns) == repr(index)


def test_a_way_to_find_that_is_not_known_is_refused(index: Index) -> None:
    with pytest.raises(ValueError, match="by='magic' is not known"):
        index.search("gold", by="magic")  # type: ignore[arg-type]
    with pytest.raises(ValueError, match="store='stone' is not known"):
        index.save("nowhere", store="stone")  # type: ignore[arg-type]


def test_a_folder_of_files_does_not_change(index: Index) -> None:
    for change in (index.add, index.update, index.remove):
        with pytest.raises(ValueError, match="--store lance"):
            change(["x"])
    with pytest.raises(ValueError, match="--store lance"):
        index.compact()


def test_eight_bits_find_the_same(tmp_path: Path) -> None:
    small = Index.build(model_by_hand(), WITH_COLUMNS, int8=True)
    small.save(tmp_path / "index")
    loaded = Index.load(tmp_path / "index")
    whole = Index.build(model_by_hand(), WITH_COLUMNS)
    for index in (small, loaded):
        assert index.vectors.facts.recall_at_10 == 1
        assert ids(index.search("silver nations")) == ids(whole.search("silver nations"))
    assert np.load(tmp_path / "index" / "vectors.npy").dtype == np.int8


def test_one_word_that_means_the_same_in_another_form(index: Index) -> None:
    assert ids(index.search("Treaties", by="words")) == "ac"
