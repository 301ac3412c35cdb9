"""Nothing that comes from documents, ids, labels or a stranger's model is obeyed by a terminal, or read as markup."""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from pathlib import Path

import polars as pl
import pytest
from typer.testing import CliRunner

import kate
from attacks.attacked_folders import corpus, small_model
from folder_edits import edit_json, seal_file
from kate.cli.app import app
from kate.text.documents import Documents

# Copy to the clipboard (OSC 52), clear the screen, an eight-bit CSI, a change of direction, a bell.
ESCAPES = "\x1b]52;c;AAAA\x07\x1b[2J\x9b31m\u202e\x07"
OBEYED = re.compile("[\x00-\x09\x0b-\x1f\x7f-\x9f\u200e\u200f\u202a-\u202e\u2066-\u2069]")
MARKUP = "[bold]gold[/bold] [/] [link=http://a]silver"


@pytest.fixture(scope="module")
def hostile(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """An index whose documents, columns and model are full of escapes."""
    root = tmp_path_factory.mktemp("hostile")
    model = small_model()
    frame = corpus(40).frame.with_columns(
        text=pl.col("text") + f" {MARKUP} {ESCAPES}",
        id=pl.lit(ESCAPES) + pl.col("id"),
        label=pl.lit(f"{MARKUP}{ESCAPES}") + pl.col("label"),
        title=pl.lit(f"{MARKUP}{ESCAPES}") + pl.col("title"),
        **{f"col{ESCAPES}": pl.lit(f"x{ESCAPES}")},
    )
    kate.Index.build(model, Documents(frame), n_jobs=1).save(root / "index")
    frame.select("text", "id", "label").write_parquet(root / "corpus.parquet")
    folder = root / "index" / "model"
    words = (folder / "vocabulary.txt").read_text().split("\n")
    words[:9] = [line.replace("\t", f"\t{ESCAPES}{MARKUP}", 1) for line in words[:9]]
    (folder / "vocabulary.txt").write_text("\n".join(words))
    seal_file(root / "index", "model/vocabulary.txt")
    settings = json.loads((folder / "config.json").read_text())["settings"]
    edit_json(folder / "config.json", settings=settings | {f"a{ESCAPES}": ESCAPES})
    seal_file(root / "index", "model/vocabulary.txt")
    return root


COMMANDS: list[Callable[[Path], list[str]]] = [
    lambda root: ["search", f"{root}/index", "gold"],
    lambda root: ["search", f"{root}/index", "gold", "--json"],
    lambda root: ["search", f"{root}/index", "gold", "--show", f"col{ESCAPES}"],
    lambda root: ["search", f"{root}/index", "gold", "--where", "yaer = 1"],
    lambda root: ["similar", f"{root}/index", "--id", f"{ESCAPES}7"],
    lambda root: ["similar", f"{root}/index", "--id", f"{ESCAPES}none"],
    lambda root: ["duplicates", f"{root}/index", "--threshold", "0.1"],
    lambda root: ["topics", f"{root}/index/model"],
    lambda root: ["topics", f"{root}/index/model", "--tree"],
    lambda root: ["topics", f"{root}/index/model", "--json"],
    lambda root: ["topics", f"{root}/index/model", "--documents", f"{root}/corpus.parquet", "--topic", "0"],
    lambda root: ["neurons", f"{root}/index/model"],
    lambda root: ["words", f"{root}/index/model", "gold", "peace"],
    lambda root: ["words", f"{root}/index/model", f"zzz{ESCAPES}"],
    lambda root: ["info", f"{root}/index/model"],
    lambda root: ["fit", f"{root}/{ESCAPES}", "-o", f"{root}/m"],
    lambda root: ["label", f"{root}/index/model", f"{root}/corpus.parquet", "-o", f"{root}/out.csv"],
    lambda root: ["trends", f"{root}/index/model", f"{root}/corpus.parquet", "--by", "label"],
]


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("command", COMMANDS, ids=lambda make: " ".join(make(Path("x"))[:1]))
def test_a_terminal_is_told_nothing_to_obey(hostile: Path, command: Callable[[Path], list[str]]) -> None:
    done = CliRunner().invoke(app, command(hostile), env={"COLUMNS": "80"})
    shown = done.stdout + done.stderr
    assert shown.strip()
    refused = any(part in " ".join(command(hostile)) for part in ("yaer", "none", "zzz", "fit"))
    assert done.exit_code == int(refused), shown
    assert not OBEYED.search(shown), repr(OBEYED.findall(shown))
    assert "this is a bug in Kate" not in shown


def test_markup_in_texts_is_shown_as_it_is(hostile: Path) -> None:
    done = CliRunner().invoke(app, ["search", f"{hostile}/index", "gold"])
    assert "[bold]gold[/bold] [/]" in done.stdout
