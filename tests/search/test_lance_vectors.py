"""Vectors of a table of LanceDB that are kept in memory: the same hits, of the version that is asked."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from hand_made import DIRECTIONS, model_by_hand
from kate.search import Index
from kate.text.documents import Documents

pytest.importorskip("lancedb")

from kate.search import lance_vectors
from kate.search.lance_store import LanceStore
from kate.search.store import Selection
from kate.storage.folders import FolderError


@pytest.fixture
def texts() -> list[str]:
    random = np.random.default_rng(0)
    return [" ".join(random.choice([*DIRECTIONS], size=size)) for size in random.integers(1, 9, 400)]


@pytest.fixture
def index(texts: list[str], tmp_path: Path) -> Index:
    Index.build(model_by_hand(), texts).save(tmp_path / "index", store="lance")
    return Index.load(tmp_path / "index")


@pytest.fixture
def scans(index: Index, monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """What LanceDB is asked for by vectors: each time it reads all of them."""
    asked: list[str] = []
    assert isinstance(index.store, LanceStore)
    table = index.store.table
    search = type(table).search

    def noted(self: object, query: object = None, **options: object) -> object:
        if isinstance(query, np.ndarray):
            asked.append("scan")
        return search(self, query, **options)

    monkeypatch.setattr(type(table), "search", noted)
    return asked


def test_only_the_first_exact_search_of_a_version_reads_all_vectors_from_disk(
    index: Index, scans: list[str]
) -> None:
    for _ in range(4):
        index.search("gold nations", by="meaning")
    assert len(scans) == 1
    index.add(Documents.from_texts(["gold"], ids=["new"]))
    for _ in range(4):
        index.search("gold nations")
    assert len(scans) == 2


@pytest.mark.parametrize("few", [0, 50_000])
def test_the_hits_are_those_of_the_files(
    index: Index, texts: list[str], few: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(lance_vectors, "_FEW_ROWS", few)
    expected = Index.build(model_by_hand(), texts)
    for query in ("gold nations", 'peace "silver gold"', "treaty -gold"):
        for where in (None, "id >= '2' and length(id) = 3", "id = 'x'"):
            for by in ("both", "meaning"):
                found = [index.search(query, by=by, where=where, offset=5) for _ in range(3)]
                [hits] = {tuple((hit.id, hit.score) for hit in one) for one in found}
                wanted = expected.search(query, by=by, where=where, offset=5)
                assert [name for name, _ in hits] == [hit.id for hit in wanted]
                assert [score for _, score in hits] == pytest.approx([hit.score for hit in wanted], abs=1e-5)


def test_many_vectors_at_once(index: Index, texts: list[str], scans: list[str]) -> None:
    queries = index.model.encode(["gold nations", "peace", "treaty of silver"])
    expected = Index.build(model_by_hand(), texts).search_vectors(queries, where="id < '3'")
    assert index.search_vectors(queries, where="id < '3'") == expected
    assert not scans


def test_kept_vectors_are_of_the_version_that_is_asked(index: Index) -> None:
    for _ in range(3):
        index.search("gold", by="meaning")
    reader = Index.load(index.store.folder)  # type: ignore[attr-defined]
    for _ in range(2):
        before = reader.search("gold", by="meaning")
    index.remove([hit.id for hit in before])
    index.compact()
    for _ in range(3):
        after = index.search("gold", by="meaning")
        assert not {hit.id for hit in before} & {hit.id for hit in after}
        assert reader.search("gold", by="meaning") == before


def test_documents_that_come_during_a_search(index: Index) -> None:
    store = index.store
    assert isinstance(store, LanceStore)
    vector = index.model.encode("gold", normalize=True)
    old = np.array(list(store.rows_of(["3", "17"]).values()))
    for _ in range(2):
        found = store.by_meaning(vector, 5, 5, Selection(), exact=True)
    kept = store._kept(exact=True)
    index.add(Documents.from_texts(["gold", "silver peace"], ids=["x", "y"]))
    rows = np.array([*store.rows_of(["x", "y"]).values(), *old])
    np.testing.assert_array_equal(found.vectors_of(rows), store.vectors_of(rows))
    assert kept is not None
    assert set(kept.nearest(vector[np.newaxis], 5, rows)[0].rows) <= set(old)


def test_an_index_that_was_emptied(index: Index) -> None:
    index.remove(where="id >= ''")
    for _ in range(3):
        assert index.search("gold nations", by="meaning") == []


def test_too_many_vectors_stay_on_disk(
    index: Index, scans: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(lance_vectors, "_MOST_BYTES", 1000)
    for _ in range(3):
        index.search("gold nations", by="meaning")
    assert len(scans) == 3


def test_a_table_that_gives_fewer_vectors_than_it_has_rows_is_refused(
    index: Index, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert isinstance(index.store, LanceStore)
    index.search("gold", by="meaning")
    monkeypatch.setattr(type(index.store.table), "count_rows", lambda self: 401)
    with pytest.raises(FolderError, match="400 vectors of 401 rows"):
        index.search("gold", by="meaning")
