"""kate tune and kate evaluate --model all: what they print, what they leave, what they leave out."""

from __future__ import annotations

import json
import tomllib
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner

from kate.cli import app
from kate.cli.evaluation_tables import print_tables
from kate.extras import install_command
from kate.research.evaluation import CorpusSource, Score, Summary, corpus_of
from kate.research.registry import ModelEntry, models, tuned
from kate.research.registry.search_spaces import Choice
from research.evaluation.toys import Topicless, make_documents

Kate = Callable[..., tuple[int, str, str]]


@pytest.fixture
def kate(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Kate:
    """The command in an empty folder, with one toy data set, one quick model and one that cannot run."""
    monkeypatch.chdir(tmp_path)
    source = CorpusSource.of(corpus_of(make_documents(), "toy"))
    monkeypatch.setattr(CorpusSource, "dataset", lambda *_: source)
    quick = ModelEntry("quick", "", Topicless, space={"error": Choice("", "it broke")})
    far = ModelEntry("far", "", Topicless, needs=("no_such_package",))
    monkeypatch.setattr(models, "MODELS", {"quick": quick, "far": far})
    monkeypatch.setattr(tuned, "own_file", lambda: tmp_path / "tuned.toml")
    monkeypatch.setattr(models, "tuned_models", lambda: tuned.read_tuned(tmp_path / "tuned.toml"))
    (tmp_path / "tuned.toml").touch()

    def run(*arguments: Any) -> tuple[int, str, str]:
        result = CliRunner().invoke(app, [str(argument) for argument in arguments])
        return result.exit_code, result.stdout, result.stderr

    return run


def test_what_is_found_can_be_evaluated_as_tuned(kate: Kate, tmp_path: Path) -> None:
    pytest.importorskip("optuna", exc_type=ImportError)
    command = ("tune", "--model", "all", "--dataset", "toy", "--trials", 3, "--dimensions", 6, "-o", "out")
    code, out, err = kate(*command)
    assert code == 0, err
    assert f"kate: left out: far needs no_such_package: {install_command('paper')}" in err
    assert "quick, trial 1 of 3: accuracy" in err
    assert "--update makes them those of NAME:tuned" in err
    assert out.splitlines()[0].split() == ["model", "trials", "score", "best", "settings"]
    fragment = tomllib.loads((tmp_path / "out" / "toy-quick-6.toml").read_text())
    assert (fragment["quick"]["dataset"], fragment["quick"]["trials"]) == ("toy", 3)
    assert len((tmp_path / "out" / "toy-quick-6.jsonl").read_text().splitlines()) == 3

    code, out, err = kate(*command, "--update", "--json")
    assert code == 0, err
    assert err.count("there already") == 3
    assert json.loads(out)["quick"]["n_components"] == 6
    assert set(tuned.read_tuned(tmp_path / "tuned.toml")) == {"quick"}

    code, out, err = kate("evaluate", "--dataset", "toy", "--model", "all", "--dimensions", 6, "--seeds", 1)
    assert code == 0, err
    assert out.splitlines()[0].split() == ["toy", "quick", "6", "quick:tuned", "6"]
    lines = [json.loads(line) for line in (tmp_path / "results" / "results.jsonl").read_text().splitlines()]
    assert [line["model"]["variant"] for line in lines] == ["default", "tuned"]


def test_models_are_split_at_commas(kate: Kate, tmp_path: Path) -> None:
    pytest.importorskip("optuna", exc_type=ImportError)
    code, _, err = kate("tune", "--model", "quick,quick", "--dataset", "toy", "--trials", 2, "-o", "out")
    assert code == 0, err
    assert [path.name for path in sorted((tmp_path / "out").iterdir())] == [
        "toy-quick-128.jsonl",
        "toy-quick-128.toml",
    ]
    code, _, err = kate("tune", "--model", "quick,quack", "--dataset", "toy")
    assert (code, "no model is named 'quack'; did you mean quick?" in err) == (1, True)


def test_mistakes_are_told_before_the_first_search(kate: Kate) -> None:
    code, _, err = kate("tune", "--model", "quick", "--dataset", "toy", "--setting", "sped=3")
    assert (code, "the model quick has no setting 'sped'" in err) == (1, True)
    code, _, err = kate("tune", "--model", "quack", "--dataset", "toy")
    assert (code, "no model is named 'quack'; did you mean quick?" in err) == (1, True)


def summary(model: str, accuracy: float, seconds: float) -> Summary:
    scores = {
        "classification": {"accuracy": Score(accuracy, 0.001, 3)},
        "time": {"fit_seconds": Score(seconds, None, 1)},
    }
    return Summary(
        "20news",
        {"vocabulary_size": 2000},
        model,
        128,
        {},
        3,
        0,
        scores,
        {"multilabel": "multilabel needs labels:sets"},
    )


def test_many_models_are_rows_beside_the_paper_with_the_best_marked(
    capsys: pytest.CaptureFixture[str],
) -> None:
    names = ["kate", "kate-paper", "ae", "dae", "lda", "lsa", "nmf"]
    rows = [summary(name, 0.7 + 0.01 * place, 9.0 - place) for place, name in enumerate(names)]
    print_tables(rows)
    lines = capsys.readouterr().out.splitlines()
    assert lines[0].split() == [
        "20news,",
        "128",
        "dimensions",
        "runs",
        "paper",
        "accuracy",
        "accuracy",
        "fit",
        "s",
    ]
    cells = {line.split()[0]: line.split()[1:] for line in lines[1:8]}
    assert cells["kate-paper"][:2] == ["3", "*0.744"]
    assert cells["ae"][1] == "0.084"
    assert cells["nmf"] == ["3", "*0.760", "±", "0.001", "*3.000"]  # whoever wins
    assert lines[8].startswith("* the best of its column; paper: as Chen & Zaki (2017) report")
    assert lines[9] == "skipped: multilabel (needs a set of labels per document)"


def test_few_models_are_columns_with_the_papers_numbers_below(capsys: pytest.CaptureFixture[str]) -> None:
    print_tables([summary("kate-paper", 0.738, 100), summary("lsa", 0.735, 1)])
    lines = capsys.readouterr().out.splitlines()
    assert [line.split()[-1] for line in lines if "the paper reports" in line] == ["0.744"]


def test_ctrl_c_exits_with_130_and_an_interrupted_trial_is_none(
    kate: Kate, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    pytest.importorskip("optuna", exc_type=ImportError)

    def interrupted(*_: Any, **__: Any) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr(Topicless, "fit", interrupted)
    command = ("tune", "--model", "quick", "--dataset", "toy", "--trials", 2, "--update", "-o", "out")
    code, out, err = kate(*command)
    assert (code, out, err) == (130, "", "kate: interrupted\n")
    assert (tmp_path / "out" / "toy-quick-128.jsonl").read_text() == ""
    assert (tmp_path / "tuned.toml").read_text() == ""
