"""The command line does what the Python API does, in tables for people and in JSON for programs."""

from __future__ import annotations

import json
import os
import shlex
import subprocess
import sys
from pathlib import Path

import numpy as np
import polars as pl
import pytest
from typer.testing import CliRunner

import kate
from kate.cli import app

COMMANDS = [
    *("fit", "encode", "index", "topics", "neurons", "label", "trends"),
    *("words", "search", "info", "languages", "datasets", "demo"),
]
HEAVY = {"sklearn", "numba", "matplotlib", "torch", "pandas"}
SENTENCES = [
    ("peace", "The treaty of peace was signed and ratified by the nations."),
    ("peace", "Nations ratified a treaty, and peace was signed at last."),
    ("money", "Gold and silver coins are the currency of the treasury."),
    ("money", "The treasury counts its currency in silver and gold coins."),
    ("school", "Teachers read books with the children in the school."),
    ("school", "Children and teachers of the school love their books."),
]


def run(*arguments: object, stdin: str | None = None) -> tuple[int, str, str]:
    result = CliRunner().invoke(app, [str(argument) for argument in arguments], input=stdin)
    assert result.exception is None or isinstance(result.exception, SystemExit), result.exception
    return result.exit_code, result.stdout, result.stderr


def real(*command: object, folder: Path | None = None, columns: str | None = None) -> str:
    """What Python prints in a process of its own, as a shell starts it."""
    environment = os.environ | {"PYTHONPATH": str(Path(kate.__file__).parents[1])}
    environment.pop("COLUMNS", None)
    if columns is not None:
        environment["COLUMNS"] = columns
    done = subprocess.run(
        [sys.executable, *map(str, command)],
        cwd=folder,
        env=environment,
        capture_output=True,
        text=True,
        check=False,
        timeout=300,
    )
    assert (done.returncode, done.stderr) == (0, "")
    return done.stdout


@pytest.fixture(scope="module")
def home(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A corpus with a model and an index made of it, by the commands themselves."""
    folder = tmp_path_factory.mktemp("cli")
    rows = [
        {"id": f"d{number}", "text": text, "label": label, "title": f"Document {number}"}
        for number, (label, text) in enumerate(SENTENCES * 10)
    ]
    (folder / "corpus.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
    corpus, model = folder / "corpus.jsonl", folder / "model"
    code, out, err = run("fit", corpus, "-o", model, "--dimensions", 4, "--epochs", 30)
    assert code == 0, err
    assert "60 documents" in out
    assert run("index", model, corpus, "-o", folder / "index")[0] == 0
    return folder


def test_the_version() -> None:
    assert run("--version") == (0, f"kate {kate.__version__}\n", "")


def test_the_examples_of_the_help_work(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    words = "the doctor asks a price", "a late delivery and a rude answer", "no price for the doctor"
    (tmp_path / "reviews.csv").write_text("review,stars\n" + "".join(f"{text},5\n" for text in words * 10))
    (tmp_path / "new.jsonl").write_text("".join(json.dumps({"text": text}) + "\n" for text in words))
    monkeypatch.chdir(tmp_path)
    for command in (
        "fit",
        "encode",
        "index",
        "topics",
        "neurons",
        "label",
        "explore",
        "trends",
        "words",
        "search",
        "info",
    ):
        example = run(command, "--help")[1].split("Example:\n")[1].splitlines()[0].strip()
        assert example.startswith(f"kate {command} ")
        code, out, err = run(*shlex.split(example)[1:])
        assert (code, err) == (0, ""), example
        assert out
    assert {"model", "vectors.parquet", "index", "labelled.csv"} <= {path.name for path in tmp_path.iterdir()}


@pytest.mark.parametrize("command", COMMANDS)
def test_every_command_has_help_with_an_example(command: str) -> None:
    code, out, _ = run(command, "--help")
    assert code == 0
    assert f"Example:\n    kate {command}" in out
    assert max(map(len, out.splitlines())) <= 80


def test_no_command_shows_the_help() -> None:
    code, out, _ = run()
    assert code == 0
    assert all(f"\n  {command} " in out for command in COMMANDS)


def test_fitting_again_gives_the_same_model_and_replaces_it(home: Path, tmp_path: Path) -> None:
    weights = []
    for _ in range(2):
        code, out, _ = run(
            "fit", home / "corpus.jsonl", "-o", tmp_path / "m", "--dimensions", 4, "--epochs", 2, "-q"
        )
        assert (code, out) == (0, "")
        weights.append((tmp_path / "m" / "weights.safetensors").read_bytes())
    assert weights[0] == weights[1]


def test_the_shell_and_python_learn_the_same(home: Path, tmp_path: Path) -> None:
    texts = [text for _, text in SENTENCES * 10]
    for seed, model in (
        ([], kate.TextModel(4, max_epochs=2)),
        (["--seed", 3], kate.TextModel(4, max_epochs=2, random_state=3)),
    ):
        options = ["--dimensions", 4, "--epochs", 2, *seed]
        assert run("fit", home / "corpus.jsonl", "-o", tmp_path / "m", *options)[0] == 0
        assert np.array_equal(kate.load(tmp_path / "m").encode(texts), model.fit(texts).encode(texts))


def test_fit_takes_its_settings(tmp_path: Path) -> None:
    (tmp_path / "stop.txt").write_text("gold\nsilver coins")
    text = "\n".join(text for _, text in SENTENCES * 5)
    code, _, err = run(
        *("fit", "-", "--format", "txt", "-o", tmp_path / "m", "--paper", "--dimensions", 4, "--epochs", 2),
        *("--no-stem", "--stop-words", tmp_path / "stop.txt", "--min-df", 2, "--vocabulary-size", 12),
        *("--seed", 7, "--jobs", 1),
        stdin=text,
    )
    assert code == 0, err
    model = kate.load(tmp_path / "m")
    assert {"gold", "silver", "coins"}.isdisjoint(model.vocabulary_.words)
    assert len(model.vocabulary_) == 12
    expected = {
        "loss": "cross-entropy",
        "optimizer": "adadelta",
        "max_epochs": 2,
        "random_state": 7,
        "stem": False,
    }
    assert expected.items() <= model.settings_.items()


def test_a_saved_model_does_not_follow_a_newer_list_of_stop_words(
    home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    texts = [text for _, text in SENTENCES]
    before = kate.load(home / "model").encode(texts)
    monkeypatch.setattr("kate.text.tokenizer.stop_words_of", lambda language: frozenset({"gold", "peace"}))
    assert np.array_equal(kate.load(home / "model").encode(texts), before)


def test_encode_writes_parquet_and_npy(home: Path, tmp_path: Path) -> None:
    for name in ("v.parquet", "v.npy"):
        code, out, err = run("encode", home / "model", home / "corpus.jsonl", "-o", tmp_path / name)
        assert (code, err) == (0, "")
        assert out.startswith("60 vectors of 4 numbers")
    expected = kate.load(home / "model").encode([text for _, text in SENTENCES * 10])
    assert np.array_equal(np.load(tmp_path / "v.npy"), expected)
    table = pl.read_parquet(tmp_path / "v.parquet")
    assert table.columns == ["id", "label", "vector"]
    assert table["id"][:2].to_list() == ["d0", "d1"]
    assert np.array_equal(np.array(table["vector"].to_list(), dtype=np.float32), expected)


def test_encode_keeps_the_first_dimensions_and_divides_by_the_length(home: Path, tmp_path: Path) -> None:
    arguments = ("encode", home / "model", home / "corpus.jsonl", "-o", tmp_path / "v.npy")
    code, out, _ = run(*arguments, "--dimensions", 3, "--normalize")
    assert (code, out.startswith("60 vectors of 3 numbers")) == (0, True)
    texts = [text for _, text in SENTENCES * 10]
    expected = kate.load(home / "model").encode(texts, truncate_dim=3, normalize=True)
    vectors = np.load(tmp_path / "v.npy")
    assert np.array_equal(vectors, expected)
    assert np.allclose(np.linalg.norm(vectors, axis=1), 1, atol=1e-6)
    code, _, err = run(*arguments, "--dimensions", 5)
    assert code == 2
    assert "5 is more than the 4 numbers" in " ".join(err.replace("│", " ").split())


def test_words(home: Path) -> None:
    code, out, _ = run("words", home / "model", "treaties", "coin", "--top", 2)
    assert code == 0
    assert [line.split()[0] for line in out.splitlines()] == ["word", "treaties", "coin"]
    found = json.loads(run("words", home / "model", "coin", "--top", 2, "--json")[1])
    assert list(found) == ["coin"]
    assert [set(row) for row in found["coin"]] == [{"word", "similarity"}] * 2


def test_an_index_with_a_graph_tells_its_recall(home: Path, tmp_path: Path) -> None:
    code, out, err = run(
        "index", home / "model", home / "corpus.jsonl", "-o", tmp_path / "i", "--ann", "--jobs", 1
    )
    assert (code, err) == (0, "")
    assert "recall@10 1.000 against exact search, 30 documents as queries" in out
    query = ["gold", "--top", 3, "--json"]
    expected = run("search", home / "index", *query)
    assert (
        run("search", tmp_path / "i", *query) == run("search", tmp_path / "i", *query, "--exact") == expected
    )


def test_search(home: Path) -> None:
    code, out, _ = run("search", home / "index", "silver", "and", "gold", "--top", 3)
    assert code == 0
    assert out.startswith("rank  score  document")
    assert "[money]" in out
    hits = json.loads(run("search", home / "index", "silver and gold", "--top", 3, "--json")[1])
    assert [hit["rank"] for hit in hits] == [1, 2, 3]
    assert {hit["label"] for hit in hits} == {"money"}


def test_info(home: Path) -> None:
    code, out, _ = run("info", home / "model")
    assert code == 0
    assert "documents         60\n" in out
    facts = json.loads(run("info", home / "model", "--json")[1])
    assert (facts["documents"], facts["dimensions"], facts["epochs"]) == (60, 4, 30)
    assert facts["settings"]["max_epochs"] == 30


def test_datasets() -> None:
    code, out, _ = run("datasets")
    assert code == 0
    names = {row["name"] for row in json.loads(run("datasets", "--json")[1])}
    assert {"20news", "rcv1", "sotu"} <= names
    assert all(name in out for name in names)


def test_piped_tables_have_one_line_per_row_and_obey_a_given_width(home: Path) -> None:
    wide = real("-m", "kate", "neurons", home / "model")
    assert len(wide.splitlines()) == 1 + 2 * 256
    narrow = real("-m", "kate", "search", home / "index", "gold", columns="60")
    assert max(map(len, narrow.splitlines())) <= 60


@pytest.mark.parametrize(
    "arguments",
    [
        ["--help"],
        ["info", "model"],
        ["topics", "model", "-n", "3"],
        ["topics", "model", "-n", "3", "--tree"],
        ["neurons", "model"],
        ["label", "model", "corpus.jsonl", "-n", "3", "-o", "labelled.csv"],
        ["trends", "model", "corpus.jsonl", "-n", "3", "--by", "label"],
        ["words", "model", "gold"],
        ["search", "index", "gold"],
    ],
    ids=lambda arguments: arguments[0],
)
def test_looking_loads_nothing_heavy(home: Path, arguments: list[str]) -> None:
    require_not_loaded(home, arguments, HEAVY)


@pytest.mark.parametrize("by", ["both", "words", "meaning"])
def test_a_search_loads_no_more_than_it_needs(home: Path, by: str) -> None:
    """All of these were loaded once, and together took a fifth of the time of a search."""
    needless = {
        "scipy",
        "numpy.ma",
        "numpy.f2py",
        "numpy.testing",
        "numpy.polynomial",
        "numpy.fft",
        "unittest",
    }
    ours = {
        "kate.topics.topic_set",
        "kate.text.corpus_batches",
        "kate.model.model_card",
        "kate.model.fitting",
    }
    require_not_loaded(home, ["search", "index", "gold", "and silver", "--by", by], HEAVY | needless | ours)


def require_not_loaded(home: Path, arguments: list[str], modules: set[str]) -> None:
    script = (
        "import sys\n"
        "from kate.cli import main\n"
        f"sys.argv = ['kate', *{arguments!r}]\n"
        "try:\n    main()\nexcept SystemExit as end:\n    assert end.code == 0, end.code\n"
        f"loaded = {modules!r} & set(sys.modules)\n"
        "assert not loaded, loaded\n"
    )
    real("-c", script, folder=home)
