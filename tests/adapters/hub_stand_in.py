"""A stand-in of the Hugging Face hub's HTTP API on loopback: enough to create, upload, list and download."""

from __future__ import annotations

import base64
import hashlib
import json
import re
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

COMMIT = "0123456789abcdef0123456789abcdef01234567"


class Hub(ThreadingHTTPServer):
    def __init__(self) -> None:
        super().__init__(("127.0.0.1", 0), _Handler)
        self.files: dict[str, bytes] = {}
        self.created: list[dict[str, object]] = []

    @property
    def address(self) -> str:
        return f"http://127.0.0.1:{self.server_address[1]}"


class _Handler(BaseHTTPRequestHandler):
    server: Hub

    def log_message(self, *_: object) -> None:
        """Say nothing."""

    def do_POST(self) -> None:
        body = self.rfile.read(int(self.headers.get("Content-Length", 0)))
        if self.path.endswith("/repos/create"):
            self.server.created.append(json.loads(body))
            self._json({"url": f"{self.server.address}/somebody/model"})
        elif self.path.endswith("/validate-yaml"):
            head = json.loads(body)["content"].split("---")[1]  # the hub reads the card's first lines
            self._json(
                {"errors": [] if "library_name: kate" in head else [{"message": head}], "warnings": []}
            )
        elif "/preupload/" in self.path:
            files = [
                {"path": file["path"], "uploadMode": "regular", "shouldIgnore": False}
                for file in json.loads(body)["files"]
            ]
            self._json({"files": files})
        elif "/commit/" in self.path:
            for line in body.splitlines():
                row = json.loads(line)
                if row["key"] == "file":
                    self.server.files[row["value"]["path"]] = base64.b64decode(row["value"]["content"])
            url = f"{self.server.address}/somebody/model/commit/{COMMIT}"
            self._json({"success": True, "commitOid": COMMIT, "commitUrl": url, "hookOutput": ""})
        else:
            self.send_error(404)

    def do_GET(self) -> None:
        if self.path.startswith("/api/models/"):
            siblings = [{"rfilename": name} for name in self.server.files]
            facts = {"id": "somebody/model", "modelId": "somebody/model", "sha": COMMIT, "private": True}
            tree = [
                {"type": "file", "path": name, "size": len(data), "oid": hashlib.sha1(data).hexdigest()}
                for name, data in self.server.files.items()
            ]
            self._json(
                tree
                if "/tree/" in self.path
                else facts | {"siblings": siblings, "tags": [], "downloads": 0, "likes": 0}
            )
            return
        self._file(with_body=True)

    def do_HEAD(self) -> None:
        self._file(with_body=False)

    def _file(self, *, with_body: bool) -> None:
        found = re.fullmatch(r"/somebody/model/resolve/[^/]+/(.+)", self.path)
        data = self.server.files.get(found[1]) if found else None
        if data is None:
            self.send_error(404)
            return
        self.send_response(200)
        self.send_header("Content-Length", str(len(data)))
        self.send_header("ETag", f'"{hashlib.sha1(data).hexdigest()}"')
        self.send_header("X-Repo-Commit", COMMIT)
        self.end_headers()
        if with_body:
            self.wfile.write(data)

    def _json(self, value: object) -> None:
        data = json.dumps(value).encode()
        self.send_response(200)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(data)))
        self.end_headers()
        self.wfile.write(data)


@contextmanager
def hub() -> Iterator[Hub]:
    server = Hub()
    thread = threading.Thread(target=server.serve_forever, daemon=True)
    thread.start()
    try:
        yield server
    finally:
        server.shutdown()
        server.server_close()
        thread.join(10)
