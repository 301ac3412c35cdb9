"""Downloads against a server on this machine that can break off, forget ranges or serve another file."""

from __future__ import annotations

import hashlib
import json
import os
import threading
from collections.abc import Iterator
from email.utils import parsedate_to_datetime
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import pytest

from kate.research.datasets.download import Archive, download

CONTENT = bytes(range(256)) * 2_000
SHA256 = hashlib.sha256(CONTENT).hexdigest()
MODIFIED = "Mon, 02 Jan 2006 15:04:05 GMT"


class Server(ThreadingHTTPServer):
    """Serves CONTENT; ``breaks_after`` bytes of an answer the connection ends, ``breaks`` times."""

    def __init__(self) -> None:
        super().__init__(("127.0.0.1", 0), Handler)
        self.content = CONTENT
        self.modified = MODIFIED
        self.breaks = 0
        self.breaks_after = 200_000
        self.knows_ranges = True
        self.says_length = True
        self.chunked = False
        self.shifts = 0  # answers that start a byte earlier than was asked for
        self.ranges: list[str | None] = []

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.server_port}/file.bin"


class Handler(BaseHTTPRequestHandler):
    server: Server

    def do_GET(self) -> None:
        server = self.server
        wanted = self.headers["Range"]
        server.ranges.append(wanted)
        start = 0
        if wanted and server.knows_ranges and self.headers["If-Range"] in (None, server.modified):
            start = int(wanted.removeprefix("bytes=").removesuffix("-"))
        if start >= len(server.content):
            self.send_response(416)
            self.send_header("Content-Range", f"bytes */{len(server.content)}")
            self.end_headers()
            return
        is_rest = start > 0
        if is_rest and server.shifts:
            server.shifts -= 1
            start -= 1
        self.send_response(206 if is_rest else 200)
        body = server.content[start:]
        if is_rest:
            size = len(server.content)
            self.send_header("Content-Range", f"bytes {start}-{size - 1}/{size}")
        if server.chunked:
            self.send_header("Transfer-Encoding", "chunked")
            body = b"%x\r\n%s\r\n0\r\n\r\n" % (len(body), body)
            self.close_connection = True
        elif server.says_length:
            self.send_header("Content-Length", str(len(body)))
        self.send_header("Last-Modified", server.modified)
        self.end_headers()
        if server.breaks:
            server.breaks -= 1
            body = body[: server.breaks_after]
        self.wfile.write(body)

    def log_message(self, *args: object) -> None:
        """Silence."""


@pytest.fixture
def server() -> Iterator[Server]:
    with Server() as running:
        thread = threading.Thread(target=running.serve_forever, kwargs={"poll_interval": 0.01})
        thread.start()
        yield running
        running.shutdown()
        thread.join()


def test_a_download_is_checked_and_reports_progress(server: Server, tmp_path: Path) -> None:
    seen: list[tuple[int, int | None]] = []
    target = tmp_path / "new" / "file.bin"

    download(server.url, target, sha256=SHA256, size=len(CONTENT), progress=lambda *now: seen.append(now))

    assert target.read_bytes() == CONTENT
    assert seen[-1] == (len(CONTENT), len(CONTENT))
    assert not list(target.parent.glob("*.part"))


def test_a_broken_connection_is_resumed_where_it_broke(server: Server, tmp_path: Path) -> None:
    server.breaks = 2

    download(server.url, tmp_path / "file.bin", sha256=SHA256)

    assert (tmp_path / "file.bin").read_bytes() == CONTENT
    assert server.ranges == [None, "bytes=200000-", "bytes=400000-"]


def test_a_partial_download_is_never_taken_for_a_whole_one(server: Server, tmp_path: Path) -> None:
    server.breaks, server.breaks_after = 99, 1_000

    with pytest.raises(ConnectionError, match=r"ended after 4,000 of 512,000 bytes; run it again to resume"):
        download(server.url, tmp_path / "file.bin")

    assert not (tmp_path / "file.bin").exists()
    server.breaks = 0
    download(server.url, tmp_path / "file.bin")  # the next run goes on from the .part file
    assert server.ranges[-1] == "bytes=4000-"
    assert (tmp_path / "file.bin").read_bytes() == CONTENT


def test_a_server_without_ranges_sends_the_whole_file_again(server: Server, tmp_path: Path) -> None:
    server.breaks, server.knows_ranges = 1, False

    download(server.url, tmp_path / "file.bin", sha256=SHA256)

    assert (tmp_path / "file.bin").read_bytes() == CONTENT


def test_the_tail_of_a_newer_file_is_not_glued_to_the_head_of_an_older(
    server: Server, tmp_path: Path
) -> None:
    server.breaks = 99
    with pytest.raises(ConnectionError):
        server.breaks_after = 1_000
        download(server.url, tmp_path / "file.bin")
    server.breaks = 0
    server.content, server.modified = CONTENT[::-1], "Tue, 03 Jan 2006 15:04:05 GMT"

    download(server.url, tmp_path / "file.bin")

    assert (tmp_path / "file.bin").read_bytes() == CONTENT[::-1]


def test_a_complete_part_of_a_run_that_died_is_kept(server: Server, tmp_path: Path) -> None:
    (tmp_path / "file.bin.part").write_bytes(CONTENT)
    stamp = parsedate_to_datetime(MODIFIED).timestamp()
    os.utime(tmp_path / "file.bin.part", (stamp, stamp))

    download(server.url, tmp_path / "file.bin", sha256=SHA256)

    assert server.ranges == ["bytes=512000-"]
    assert (tmp_path / "file.bin").read_bytes() == CONTENT


def test_a_part_longer_than_the_file_is_thrown_away(server: Server, tmp_path: Path) -> None:
    (tmp_path / "file.bin.part").write_bytes(CONTENT + b"more")

    download(server.url, tmp_path / "file.bin", sha256=SHA256)

    assert (tmp_path / "file.bin").read_bytes() == CONTENT


def test_a_part_other_than_the_one_asked_for_is_thrown_away(server: Server, tmp_path: Path) -> None:
    server.breaks, server.shifts = 1, 1

    download(server.url, tmp_path / "file.bin")

    assert (tmp_path / "file.bin").read_bytes() == CONTENT
    assert server.ranges == [None, "bytes=200000-", None]


def test_a_file_of_unknown_length_needs_a_checksum_or_a_size(server: Server, tmp_path: Path) -> None:
    server.says_length = False

    with pytest.raises(ConnectionError, match="the server does not say how long the file is"):
        download(server.url, tmp_path / "file.bin")
    assert not list(tmp_path.glob("file.bin*"))
    assert len(server.ranges) == 1

    download(server.url, tmp_path / "file.bin", size=len(CONTENT))
    download(server.url, tmp_path / "other.bin", sha256=SHA256)
    assert (tmp_path / "file.bin").read_bytes() == (tmp_path / "other.bin").read_bytes() == CONTENT


def test_a_chunked_answer_says_itself_where_it_ends(
    server: Server, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(Handler, "protocol_version", "HTTP/1.1")
    server.chunked = True

    download(server.url, tmp_path / "file.bin")

    assert (tmp_path / "file.bin").read_bytes() == CONTENT


@pytest.mark.parametrize(
    ("published", "message"),
    [
        ({"sha256": "0" * 64}, "its sha256 is .*, expected 0000"),
        ({"size": 7}, "got 512,000 bytes, expected 7"),
    ],
)
def test_another_file_than_the_published_one_is_refused(
    server: Server, tmp_path: Path, published: dict[str, str | int], message: str
) -> None:
    with pytest.raises(ValueError, match=message):
        download(server.url, tmp_path / "file.bin", **published)  # type: ignore[arg-type]

    assert not list(tmp_path.glob("file.bin*"))  # a wrong beginning must not be resumed


def test_an_archive_comes_from_the_first_address_that_works(server: Server, tmp_path: Path) -> None:
    archive = Archive("file.bin", ("http://127.0.0.1:9/none", server.url), sha256=SHA256)

    path = archive.obtain(tmp_path)

    assert path == tmp_path / "file.bin"
    assert archive.obtain(tmp_path) == path
    assert len(server.ranges) == 1


def test_what_a_person_put_there_is_used_without_a_checksum(server: Server, tmp_path: Path) -> None:
    (tmp_path / "unpacked").mkdir()

    found = Archive("file.bin", (server.url,), sha256=SHA256, also=("unpacked",)).obtain(tmp_path)

    assert found == tmp_path / "unpacked"
    assert not server.ranges


def test_without_network_the_error_says_which_file_to_put_where(tmp_path: Path) -> None:
    archive = Archive("file.bin", ("http://example.org/file.bin",))

    with pytest.raises(FileNotFoundError) as caught:
        archive.obtain(tmp_path / "mine")

    message = str(caught.value)
    assert "file.bin is not on this machine and could not be downloaded" in message
    assert "http://example.org/file.bin" in message
    assert f"put it into {tmp_path / 'mine'}" in message
    assert "KATE_DATA" in message
    assert not (tmp_path / "mine" / "file.bin").exists()


def test_the_first_download_is_trusted_and_later_ones_must_be_the_same(
    server: Server, tmp_path: Path
) -> None:
    """For files that nobody publishes a checksum of."""
    archive = Archive("file.bin", (server.url,))
    path = archive.obtain(tmp_path)
    assert json.loads((tmp_path / "first_downloads.json").read_text()) == {"file.bin": SHA256}
    path.unlink()
    assert archive.obtain(tmp_path).read_bytes() == CONTENT
    path.unlink()
    (tmp_path / "first_downloads.json").write_text(json.dumps({"file.bin": "0" * 64}))
    with pytest.raises(FileNotFoundError, match="not the published file"):
        archive.obtain(tmp_path)
    assert not path.exists()


def test_only_addresses_of_the_web_are_fetched(tmp_path: Path) -> None:
    (tmp_path / "secret").write_text("secret")
    with pytest.raises(ValueError, match="by http and https alone"):
        download((tmp_path / "secret").as_uri(), tmp_path / "file.bin")
