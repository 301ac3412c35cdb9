"""Addresses: read through fsspec from its memory, from file:// and from a server on this machine."""

from __future__ import annotations

import gzip
import sys
import threading
from collections.abc import Iterator
from functools import partial
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import polars as pl
import pytest

import kate

fsspec = pytest.importorskip("fsspec", reason="needs the extra remote")


@pytest.fixture
def memory() -> Iterator[object]:
    """An empty file system in memory."""
    system = fsspec.filesystem("memory")
    system.store.clear()
    yield system
    system.store.clear()


def test_rows_and_tables_are_read_from_an_address(memory: object, tmp_path: Path) -> None:
    fsspec.filesystem("memory").pipe("/news/a.jsonl.gz", gzip.compress(b'{"text": "gold", "n": 1}\n'))
    pl.DataFrame({"text": ["silver"], "n": [2]}).write_parquet(tmp_path / "b.parquet")
    fsspec.filesystem("memory").pipe("/news/b.parquet", (tmp_path / "b.parquet").read_bytes())
    documents = kate.read_corpus(["memory://news/a.jsonl.gz", "memory://news/b.parquet"])
    assert documents.frame.select("id", "text", "n").rows() == [("a:1", "gold", 1), ("b:1", "silver", 2)]
    batches = kate.iter_corpus("memory://news/a.jsonl.gz")
    assert [batch.texts.to_list() for batch in batches] == [["gold"]]
    assert batches.share == 1.0


def test_patterns_folders_and_datasets_of_an_address(memory: object, tmp_path: Path) -> None:
    system = fsspec.filesystem("memory")
    for year in (1999, 2000):
        pl.DataFrame({"text": [f"in {year}"]}).write_parquet(tmp_path / "part.parquet")
        system.pipe(f"/data/year={year}/part.parquet", (tmp_path / "part.parquet").read_bytes())
    documents = kate.read_corpus("memory://data")
    assert documents.frame.select("id", "text", "year").rows() == [
        ("year=1999/part:1", "in 1999", 1999),
        ("year=2000/part:1", "in 2000", 2000),
    ]
    assert len(kate.read_corpus("memory://data/*/part.parquet")) == 2
    system.pipe("/texts/money/a.txt", b"gold")
    system.pipe("/texts/peace/b.txt", b"a treaty")
    texts = kate.read_corpus("memory://texts/")
    assert (texts.ids, texts.labels) == (["money/a.txt", "peace/b.txt"], ["money", "peace"])
    with pytest.raises(FileNotFoundError, match=r"no file has a name like memory://data/\*\.csv"):
        kate.read_corpus("memory://data/*.csv")


def test_an_address_of_this_machine(tmp_path: Path) -> None:
    (tmp_path / "a.txt").write_text("gold\n")
    assert kate.read_corpus(f"file://{tmp_path}/a.txt").texts.to_list() == ["gold"]
    assert kate.read_corpus(f"file://{tmp_path}/*.txt").ids == ["a:1"]


def test_an_address_of_a_server(tmp_path: Path) -> None:
    pytest.importorskip("aiohttp", reason="fsspec reads http with aiohttp")
    (tmp_path / "a.jsonl").write_text('{"text": "gold"}\n')
    handler = partial(_Silent, directory=str(tmp_path))
    with ThreadingHTTPServer(("127.0.0.1", 0), handler) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        host = f"http://127.0.0.1:{server.server_port}"
        try:
            assert kate.read_corpus(f"{host}/a.jsonl?signature=secret").ids == ["a:1"]
            with pytest.raises(FileNotFoundError, match=r"/b\.jsonl does not exist") as caught:
                kate.read_corpus(f"{host}/b.jsonl?signature=secret")
            assert "secret" not in str(caught.value)
        finally:
            server.shutdown()


class _Silent(SimpleHTTPRequestHandler):
    def log_message(self, *_: object) -> None:
        pass


def test_what_is_wrong_with_an_address(memory: object, monkeypatch: pytest.MonkeyPatch) -> None:
    with pytest.raises(kate.CorpusError, match=r"zeppelin://x/a\.txt: nobody knows the scheme zeppelin://"):
        kate.read_corpus("zeppelin://x/a.txt")
    with pytest.raises(FileNotFoundError, match=r"memory://news/no\.txt does not exist"):
        kate.read_corpus("memory://news/no.txt")
    fsspec.filesystem("memory").pipe("/news/a.txt", b"gold\n")

    def broken(*_: object, **__: object) -> object:
        raise RuntimeError("the line\nis dead")

    monkeypatch.setattr("fsspec.implementations.memory.MemoryFileSystem.open", broken)
    with pytest.raises(kate.CorpusError, match=r"a\.txt cannot be read \(RuntimeError: the line is dead\)"):
        kate.read_corpus("memory://news/a.txt")


def test_without_fsspec_the_command_that_installs_it_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "fsspec", None)
    message = r"s3://bucket/a\.jsonl needs the package fsspec: pip install .*\[remote\]'"
    with pytest.raises(ImportError, match=message):
        kate.read_corpus("s3://name:password@bucket/a.jsonl")


def test_a_file_system_whose_package_is_missing_names_it(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "s3fs", None)
    with pytest.raises(ImportError, match=r"s3://bucket/a\.jsonl cannot be read here: .*s3fs"):
        kate.read_corpus("s3://bucket/a.jsonl")
