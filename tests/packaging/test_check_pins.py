"""The pins: every requirement has one that fits; yanked releases and advisories are told; silence is no all-clear."""

from __future__ import annotations

import importlib.util
import json
import threading
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest

ROOT = Path(__file__).resolve().parents[2]
FINE: dict[str, Any] = {"vulnerabilities": []}
FILES = (
    '<a href="../{0}-{1}.tar.gz#sha256=0"{2}>{0}</a><a href="{0}-{1}-py3-none-any.whl"{2}>{0}</a>'
    '<a href="{0}-0.1.zip">{0}</a>'
)
PINS = {"gold-coin": "2.1", "silver": "2.0", "tin": "1.0"}
PROJECT = """
[project]
name = "kate-text"
dependencies = ["gold_coin>=2", "silver>=1,<3"]
[project.optional-dependencies]
all = ["kate-text[more]"]
more = ["tin>=1; sys_platform == 'linux'"]
"""


@pytest.fixture(scope="module")
def checking() -> ModuleType:
    spec = importlib.util.spec_from_file_location("check_pins", ROOT / "packaging" / "check_pins.py")
    assert spec is not None and spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / "pyproject.toml").write_text(PROJECT, encoding="utf-8")
    (tmp_path / "constraints.txt").write_text(
        "# pins\ngold-coin==2.1\nsilver==2.0\ntin==1.0\n", encoding="utf-8"
    )
    return tmp_path


@pytest.fixture
def index() -> Iterator[tuple[str, dict[str, Any]]]:
    """A package index on this machine, and what it answers of each package."""
    answers: dict[str, Any] = {f"/pypi/{name}/{version}/json": FINE for name, version in PINS.items()}
    for name, version in PINS.items():
        answers[f"/simple/{name}/"] = FILES.format(name.replace("-", "_"), version, "")

    class Answering(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            known = answers.get(self.path)
            self.send_response(404 if known is None else 200)
            self.end_headers()
            self.wfile.write((known if isinstance(known, str) else json.dumps(known)).encode())

        def log_message(self, *_: object) -> None:
            pass

    server = ThreadingHTTPServer(("127.0.0.1", 0), Answering)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    yield f"http://127.0.0.1:{server.server_port}", answers
    server.shutdown()
    server.server_close()


def test_the_pins_of_this_project_fit_its_requirements(
    checking: ModuleType, capsys: pytest.CaptureFixture[str]
) -> None:
    assert checking.main(["--offline"]) == 0, capsys.readouterr().out


@pytest.mark.parametrize(
    ("pins", "told"),
    [
        ("gold-coin==2.1\nsilver==2.0", "extra more: tin has no pin"),
        ("gold-coin==1.9\nsilver==2.0\ntin==1.0", "the pin gold-coin==1.9 is not >=2"),
        ("gold-coin==2.1\nsilver>=2.0\ntin==1.0", "line 2: 'silver>=2.0' is no pin"),
        ("gold-coin==2.*\nsilver==2.0\ntin==1.0", "line 1: 'gold-coin==2.*' is no pin"),
        ("gold-coin==2.1\nsilver==2.0\ntin==1.0\nTin==1.1", "line 4: tin is pinned twice"),
    ],
)
def test_pins_that_do_not_fit_are_told(
    checking: ModuleType, folder: Path, capsys: pytest.CaptureFixture[str], pins: str, told: str
) -> None:
    (folder / "constraints.txt").write_text(f"{pins}\n", encoding="utf-8")
    assert checking.main(["--offline", "--folder", str(folder)]) == 1
    assert told in capsys.readouterr().out


def test_yanked_releases_and_advisories_are_told(
    checking: ModuleType,
    folder: Path,
    index: tuple[str, dict[str, Any]],
    capsys: pytest.CaptureFixture[str],
) -> None:
    address, answers = index
    run = ["--folder", str(folder), "--index", address]
    assert checking.main(run) == 0
    hole = {"id": "PYSEC-1", "aliases": ["CVE-1"], "fixed_in": ["2.2"], "withdrawn": None}
    gone = {"id": "PYSEC-2", "withdrawn": "2026-01-01"}
    answers["/pypi/gold-coin/2.1/json"] = FINE | {"vulnerabilities": [hole, gone]}
    answers["/simple/tin/"] = FILES.format("tin", "1.0", ' data-yanked="broken"')
    assert checking.main(run) == 1
    told = capsys.readouterr().out
    assert "gold-coin==2.1 has a known hole (PYSEC-1, CVE-1), mended in 2.2" in told
    assert "tin==1.0 is yanked: broken" in told and "PYSEC-2" not in told


def test_an_index_that_does_not_answer_is_no_all_clear(
    checking: ModuleType,
    folder: Path,
    index: tuple[str, dict[str, Any]],
    capsys: pytest.CaptureFixture[str],
) -> None:
    address, answers = index
    run = ["--folder", str(folder), "--index"]
    answers["/pypi/silver/2.0/json"] = {}  # a mirror that has no advisories
    assert checking.main([*run, address]) == 3
    assert "NOT CHECKED for advisories: " in capsys.readouterr().out
    assert checking.main([*run, "http://127.0.0.1:9"]) == 3
    assert "yanked releases: asked of 0 pins; advisories: asked of 0 pins" in capsys.readouterr().out
