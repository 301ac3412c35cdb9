"""The store of lance: documents come and go, and the hits are those of an index that is made anew."""

from __future__ import annotations

import re
import shutil
import sys
import warnings
from pathlib import Path

import numpy as np
import polars as pl
import pytest

from hand_made import DIRECTIONS, TEXTS, WITH_COLUMNS, model_by_hand
from kate.extras import install_command
from kate.search import Index
from kate.search.lance_table import stored_names
from kate.storage.files import only_writer
from kate.storage.folders import FolderError
from kate.text.documents import Documents

pytest.importorskip("lancedb")


@pytest.fixture(scope="module")
def whole(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("lance") / "index"
    Index.build(model_by_hand(), WITH_COLUMNS).save(folder, store="lance")
    return folder


@pytest.fixture
def folder(whole: Path, tmp_path: Path) -> Path:
    return Path(shutil.copytree(whole, tmp_path / "index"))


def more(**columns: list) -> Documents:
    frame = Documents.from_texts(["Silver treaty", "Gold peace"], ids=["g", "h"]).frame
    return Documents(frame.with_columns(pl.Series(name, values) for name, values in columns.items()))


def ids(hits: object) -> str:
    return "".join(hit.id for hit in hits)  # type: ignore[attr-defined]


def test_added_documents_are_found_by_words_meaning_and_columns(folder: Path) -> None:
    index = Index.load(folder)
    assert index.add(more(year=["2001", "2002"])) == 2  # a file may have written numbers as text
    for reader in (index, Index.load(folder)):
        assert len(reader) == 8
        assert set(ids(reader.search("silver", by="words"))) == set("bfg")
        assert ids(reader.search("peace gold", where="year > 2000")) == "hg"
        assert set(ids(reader.search("peace", by="meaning", top=8))) == set("abcdefgh")
        assert reader.search("gold", where="id = 'h'")[0].columns == {"year": 2002, "Place": None}


def test_the_hits_are_those_of_an_index_that_is_made_anew(folder: Path) -> None:
    index = Index.load(folder)
    index.add(more(year=[2001, 2002]))
    index.compact()
    frame = pl.concat([WITH_COLUMNS.frame, more(year=[2001, 2002]).frame], how="diagonal_relaxed")
    anew = Index.build(model_by_hand(), Documents(frame))
    for query in ("gold", "treaty peace", "silver nations", "ratified", '"gold and silver"'):
        found, expected = index.search(query), anew.search(query)
        assert ids(found) == ids(expected)
        assert [hit.score for hit in found] == pytest.approx([hit.score for hit in expected], abs=1e-5)


def test_documents_are_replaced_by_their_ids(folder: Path) -> None:
    index = Index.load(folder)
    changed = Documents.from_texts(["A treaty of nations", "New gold"], ids=["b", "n"])
    assert index.update(changed) == (1, 1)
    assert len(index) == 7
    assert ids(index.search("silver", by="words")) == "f"
    assert set(ids(index.search("treaty", by="words"))) == set("abc")


def test_documents_are_removed(folder: Path) -> None:
    index = Index.load(folder)
    assert index.remove(["b"]) == 1
    assert ids(index.search("silver", by="words")) == "f"
    assert index.remove(where="label = 'money'") == 2
    assert set(ids(index.search("gold", top=10))) == set("ace")
    with pytest.raises(ValueError, match="no document has the id 'b'; nothing was removed"):
        index.remove(["a", "b"])
    assert len(index) == 3


def test_an_id_with_a_quote_is_no_condition(folder: Path) -> None:
    index = Index.load(folder)
    with pytest.raises(ValueError, match="no document has the id"):
        index.remove(["x' or 1 = 1 or id = '"])
    index.add(Documents.from_texts(["gold"], ids=["it's"]))
    assert index.remove(["it's"]) == 1
    assert len(index) == 6


def test_an_id_that_is_there_already_is_refused(folder: Path) -> None:
    index = Index.load(folder)
    with pytest.raises(ValueError, match="has a document with the id 'a' already"):
        index.add(Documents.from_texts(["gold", "silver"], ids=["z", "a"]))
    assert len(index) == 6


def test_columns_that_do_not_fit(folder: Path) -> None:
    index = Index.load(folder)
    with pytest.raises(ValueError, match="the column 'year' of the index holds Int64"):
        index.add(more(year=["soon", "later"]))
    with pytest.warns(UserWarning, match="no column 'colour'"):
        index.add(more(colour=["blue", "red"]))
    assert len(index) == 8


def test_readers_keep_their_version(folder: Path) -> None:
    reader, writer = Index.load(folder), Index.load(folder)
    before = reader.search("gold")
    writer.remove(where="label = 'money'")
    writer.add(more())
    writer.compact()
    assert len(reader) == 6
    assert reader.search("gold") == before
    assert len(Index.load(folder)) == 5


def test_a_writer_sees_what_others_wrote(folder: Path) -> None:
    first, second = Index.load(folder), Index.load(folder)
    first.add(more())
    with pytest.raises(ValueError, match="id 'g' already"):
        second.add(more())
    assert second.remove(["g"]) == 1


def test_one_program_writes_at_a_time(folder: Path) -> None:
    index = Index.load(folder)
    with only_writer(folder / "writer.lock"), pytest.raises(BlockingIOError, match="another program"):
        index.add(more())
    assert index.add(more()) == 2


def test_many_additions_get_their_indexes(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("kate.search.lance_store._UNINDEXED", 1)
    index = Index.load(folder)
    index.add(more())
    assert index.store.table.index_stats("kate_words_idx").num_unindexed_rows == 0


def test_a_word_that_nobody_wrote_gets_a_suggestion(folder: Path) -> None:
    assert Index.load(folder).search("gold silvr").suggestions == {"silvr": ["silver"]}


def test_its_own_index_of_vectors(tmp_path: Path) -> None:
    random = np.random.default_rng(0)
    texts = [" ".join(random.choice([*DIRECTIONS], size=6)) for _ in range(6_000)]
    index = Index.build(model_by_hand(), texts)
    index.save(tmp_path / "index", store="lance", ann=True)
    loaded = Index.load(tmp_path / "index")
    expected = index.search("gold nations", by="meaning", top=5)
    found = loaded.search("gold nations", by="meaning", top=5)
    assert [hit.score for hit in found] == pytest.approx([hit.score for hit in expected], abs=0.01)
    assert loaded.search("gold nations", by="meaning", top=5, exact=True) == expected


def test_strange_names_of_columns(tmp_path: Path) -> None:
    frame = Documents.from_texts(["gold", "silver"]).frame
    frame = frame.with_columns(
        pl.Series("a.b c", [1, 2]), pl.Series("kate_text", ["x", "y"]), pl.Series("Größe", [1, 2])
    )
    Index.build(model_by_hand(), Documents(frame)).save(tmp_path / "index", store="lance")
    index = Index.load(tmp_path / "index")
    [hit] = index.search("gold silver", where="\"a.b c\" = 2 and kate_text = 'y' and größe = 2")
    assert hit.columns == {"a.b c": 2, "kate_text": "y", "Größe": 2}
    assert index.search("gold silver", sort="-a.b c")[0].id == "1"
    assert stored_names(["a", "A"]) == {"a": "a", "A": "column_1"}


def test_a_table_that_is_not_there_or_another_is_refused(folder: Path) -> None:
    shutil.rmtree(folder / "tables")
    with pytest.raises(FolderError, match="no table that LanceDB can read"):
        Index.load(folder)


def test_files_that_lancedb_cannot_read_are_told_in_our_words(folder: Path) -> None:
    refused = 0
    for path in sorted(path for path in (folder / "tables").rglob("*.lance") if path.is_file()):
        data = path.read_bytes()
        path.write_bytes(bytes(len(data)))
        for ask in (
            lambda index: index.search("gold treaty"),
            lambda index: index.search("gold treaty", by="meaning"),
            lambda index: index.similar_documents("b"),
            lambda index: index.search_vectors(np.eye(3)),
            lambda index: index.duplicates(),
        ):
            try:
                ask(Index.load(folder))
            except FolderError as error:
                refused += 1
                assert "is damaged" in str(error)
        path.write_bytes(data)
    assert refused > 5


def test_an_index_of_lance_is_saved_already(folder: Path, tmp_path: Path) -> None:
    index = Index.load(folder)
    with pytest.raises(ValueError, match="saved already"):
        index.save(tmp_path / "copy")
    with pytest.raises(ValueError, match="are in its table"):
        _ = index.vectors
    assert index.graph is None


def test_a_reader_of_a_replaced_index_is_told_and_gets_no_other_documents(folder: Path) -> None:
    reader = Index.load(folder)
    for _ in range(3):
        reader.search("gold")  # its vectors are in memory then
    Index.build(model_by_hand(), WITH_COLUMNS).save(folder, store="lance")
    for ask in (
        lambda: reader.search("gold"),
        lambda: reader.search("gold", where="year > 0"),
        lambda: reader.search("gold", by="meaning"),
        lambda: reader.similar_documents("b"),
    ):
        with pytest.raises(FolderError, match="it was replaced, or is damaged; open it again"):
            ask()
    assert Index.load(folder).search("gold")


def test_one_store_replaces_the_other(folder: Path) -> None:
    Index.build(model_by_hand(), TEXTS).save(folder)
    assert not (folder / "tables").exists()
    assert len(Index.load(folder).search("gold")) == 6


def test_without_the_extra_the_error_says_what_to_install(
    folder: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(sys.modules, "lancedb", None)
    for attempt in (
        lambda: Index.load(folder),
        lambda: Index.build(model_by_hand(), TEXTS).save(tmp_path / "new", store="lance"),
    ):
        with pytest.raises(ImportError, match=re.escape(install_command("lance"))), warnings.catch_warnings():
            attempt()
    assert not (tmp_path / "new").exists()
