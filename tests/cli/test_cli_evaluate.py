"""kate evaluate and kate datasets prepare: exit codes, tables, JSON, resuming; the real data where it is."""

from __future__ import annotations

import gzip
import json
import re
import statistics
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner

from kate.cli import app
from kate.research.evaluation import GridProgress, read_results
from kate.research.evaluation import grid as grid_module
from real_data import real_data_folder
from research.evaluation.toys import make_documents

Kate = Callable[..., tuple[int, str, str]]


@pytest.fixture
def kate(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Kate:
    """The command in an empty folder, with a corpus mine.jsonl, no data sets and a cache of its own."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.delenv("KATE_DATA", raising=False)
    monkeypatch.setenv("KATE_CACHE", str(tmp_path / "cache"))
    documents = make_documents()
    lines = [
        json.dumps({"body": text, "topic": label, "price": number / 7})
        for number, (text, label) in enumerate(zip(documents.texts, documents.labels or [], strict=True))
    ]
    (tmp_path / "mine.jsonl").write_text("\n".join(lines))

    def run(*arguments: object) -> tuple[int, str, str]:
        result = CliRunner().invoke(app, [str(argument) for argument in arguments])
        assert result.exception is None or isinstance(result.exception, SystemExit), result.exception
        return result.exit_code, result.stdout, result.stderr

    return run


MINE = (
    "evaluate",
    "--corpus",
    "mine.jsonl",
    "--label",
    "topic",
    "--dimensions",
    4,
    "--setting",
    "max_epochs=2",
)
QUICK = (*MINE, "--seeds", 2, "--tasks", "classification,time")


def test_a_file_of_ones_own_is_scored_and_the_table_says_mean_and_deviation(kate: Kate) -> None:
    code, out, err = kate(*MINE, "--seeds", 2, "--model", "kate", "--model", "kate-paper")

    assert (code, err) == (0, "kate: 4 runs made, 0 were there → results/results.jsonl\n")
    runs = read_results("results/results.jsonl")
    assert [(run["model"]["name"], run["seed"]) for run in runs] == [
        ("kate", 0), ("kate", 1), ("kate-paper", 0), ("kate-paper", 1),
    ]  # fmt: skip
    lines = {line.rsplit("  ", 2)[0].strip(): line for line in out.splitlines()}
    assert re.match(r"mine.jsonl +kate 4 +kate-paper 4$", out.splitlines()[0])
    for task, name in (("classification", "accuracy"), ("retrieval", "map"), ("neurons", "mscd")):
        [line] = [line for line in out.splitlines() if line.startswith(f"{task} {name} ")]
        values = [run["scores"][task][name] for run in runs[:2]]
        assert f"{sum(values) / 2:.3f} ± {statistics.stdev(values):.3f}" in line
    assert any("retrieval centred_map" in name for name in lines)  # kate-paper's vectors are not centred
    assert "precision@50%" not in out  # a curve, for figures


def test_what_is_there_is_not_run_again_and_json_has_the_same_numbers(kate: Kate) -> None:
    assert kate(*QUICK)[0] == 0
    before = Path("results/results.jsonl").read_bytes()
    code, out, err = kate(*QUICK, "--json")

    assert (code, err) == (0, "kate: 0 runs made, 2 were there → results/results.jsonl\n")
    assert Path("results/results.jsonl").read_bytes() == before
    [row] = json.loads(out)
    values = [run["scores"]["classification"]["accuracy"] for run in read_results("results/results.jsonl")]
    accuracy = row["scores"]["classification"]["accuracy"]
    assert accuracy == {"mean": pytest.approx(sum(values) / 2), "sd": statistics.stdev(values), "n": 2}
    assert (row["dataset"], row["model"], row["n_components"], row["n_runs"]) == ("mine.jsonl", "kate", 4, 2)


def test_numbers_are_a_regression(kate: Kate) -> None:
    code, out, _ = kate(
        "evaluate", "--corpus", "mine.jsonl", "--label", "price", "--dimensions", 3, "--seeds", 1,
        "--setting", "max_epochs=1", "--tasks", "regression", "--tasks", "classification", "-o", "elsewhere",
    )  # fmt: skip

    assert code == 0
    assert "regression r2" in out
    assert out.splitlines()[-1] == "skipped: classification (needs one class per document)"
    [run] = read_results("elsewhere/results.jsonl")
    assert run["skipped"] == {"classification": "classification needs labels:classes"}
    assert run["dataset"]["label_kind"] == "number"


def test_a_data_set_that_is_not_here_fails_and_the_rest_goes_on(
    kate: Kate, monkeypatch: pytest.MonkeyPatch
) -> None:
    from kate.research.datasets import download

    def no_network(*_: Any, **__: Any) -> None:
        raise OSError("no network in tests")

    monkeypatch.setattr(download, "urlopen", no_network, raising=False)
    monkeypatch.setattr("socket.create_connection", no_network)
    code, out, err = kate(*QUICK, "--dataset", "movies", "-q")

    assert code == 1
    assert "2 (2 failed)" in out
    assert "mine.jsonl" in out
    assert (
        err.count("kate: failed: movies, kate, 4 dimensions, seed 0 (and 1 more): load: FileNotFoundError")
        == 1
    )
    assert "scale_data.tar.gz is not on this machine" in err
    assert len(err.splitlines()) == 1


def test_an_interrupt_exits_130_keeps_the_finished_runs_and_says_how_to_go_on(
    kate: Kate, monkeypatch: pytest.MonkeyPatch
) -> None:
    evaluate = grid_module.evaluate

    def interrupted(*arguments: Any, **named: Any) -> Any:
        if named["random_state"] == 1:
            raise KeyboardInterrupt
        return evaluate(*arguments, **named)

    with monkeypatch.context() as patch:
        patch.setattr(grid_module, "evaluate", interrupted)
        code, out, err = kate(*QUICK)
    assert (code, out) == (130, "")
    assert err == (
        "kate: finished runs are kept in results/results.jsonl (1 made now); "
        "the same command goes on from there\n"
        "kate: interrupted\n"
    )

    assert kate(*QUICK)[2].startswith("kate: 1 runs made, 1 were there")


@pytest.mark.parametrize(
    ("arguments", "code", "message"),
    [
        ((), 2, "give a data set or files of your own"),
        (("--dataset", "movies", "--dimensions", "8,x"), 2, "'x' is not a whole number of at least 1"),
        (("--dataset", "movies", "--dimensions", "0"), 2, "'0' is not a whole number of at least 1"),
        (("--dataset", "movies", "--model", "lsa,lada"), 1, "no model is named 'lada'; did you mean lda"),
        (("--dataset", "movies,film"), 1, "no data set is named 'film'"),
        (("--dataset", "movies", "--tasks", "clustering"), 2, "no task 'clustering'; there are classif"),
        (("--dataset", "movies", "--option", "headers=false"), 2, "movies has no option 'headers'"),
        (("--dataset", "movies", "--option", "whole"), 2, "'whole' is not of the form name=value"),
        (("--dataset", "movies", "--model", "lada"), 1, "no model is named 'lada'; did you mean lda"),
        (("--dataset", "movies", "--setting", "epochs=3"), 1, "did you mean max_epochs?"),
        (("--dataset", "movies", "--setting", "dropout=high"), 1, "dropout='high'"),
        (("--dataset", "film"), 1, "no data set is named 'film'"),
        (("--corpus", "mine.jsonl", "--label", "nonsense"), 1, "mine.jsonl has no field 'nonsense'"),
        (("--corpus", "mine.jsonl"), 0, ""),
        (("--corpus", "mine.jsonl", "--label", "price", "--test-share", "2"), 1, "test_share is 2.0"),
    ],
)
def test_mistakes_are_told_in_one_line_before_anything_is_run(
    kate: Kate, arguments: tuple[str, ...], code: int, message: str
) -> None:
    given = (
        *arguments,
        *(("--setting", "max_epochs=1", "--seeds", 1, "--dimensions", 2) if not code else ()),
    )
    found, _, err = kate("evaluate", *given)

    assert found == code, err
    assert message in err
    assert len(err.splitlines()) == 1
    assert Path("results").exists() == (code == 0)  # --label is guessed from the field's name


def test_progress_is_for_terminals(kate: Kate, monkeypatch: pytest.MonkeyPatch) -> None:
    from kate.cli import evaluate as command

    with command._progress_bar(quiet=False) as show:
        run = grid_module.plan_runs([grid_module.CorpusSource.dataset("movies")], ["kate"], [2], [0])[0]
        show(GridProgress(0, 1, run, "fit", None))
    assert kate(*QUICK, "--quiet")[2] == ""


def test_datasets_lists_and_prepares(kate: Kate) -> None:
    code, out, _ = kate("datasets")
    assert code == 0
    lines = out.splitlines()
    assert re.match("name +train +validation +test +words +here$", lines[0].rstrip())
    [movies] = [line for line in lines if line.startswith("movies  ")]
    assert re.match(r"movies +3,337 +300 +1,669 +2,000 +no", movies)
    [about] = [line for line in lines if line.startswith("movies: ")]
    assert "for regression; " in about
    assert about.endswith("no licence stated; the reviews belong to their authors; cite Pang and Lee (2005)")
    [hint] = [line for line in lines if line.startswith("movies is not here: put ")]
    assert "scale_data.tar.gz" in hint
    assert lines.index(hint) == lines.index(about) + 1
    assert "prepare" in kate("datasets", "--help")[1]
    code, out, err = kate("datasets", "prepare", "--help")
    assert (code, err) == (0, "")
    assert "Example:\n    kate datasets prepare" in out


def test_datasets_prepare_says_what_is_wrong(kate: Kate) -> None:
    assert kate("datasets", "prepare", "film")[::2] == (
        1,
        "kate: no data set is named 'film'; choose from 20news, rcv1, wiki10, movies, reuters21578, sotu\n",
    )
    code, _, err = kate("datasets", "prepare", "movies", "--option", "headers=false")
    assert code == 2
    assert "movies has no option 'headers'" in err


def test_the_real_movies_from_the_archive_to_the_table(kate: Kate, monkeypatch: pytest.MonkeyPatch) -> None:
    folder = real_data_folder()
    monkeypatch.setenv("KATE_DATA", str(folder))
    assert kate("datasets", "prepare", "movies") == (
        0,
        "Corpus 'movies': 5,006 documents (3,337 train, 300 of them validation, 1,669 test), "
        "2,000 words, a number\n",
        "",
    )
    code, out, _ = kate(
        "evaluate", "--dataset", "movies", "--dimensions", 8, "--seeds", 1, "--setting", "max_epochs=1"
    )

    assert code == 0
    assert "regression r2" in out
    [run] = read_results("results/results.jsonl")
    assert set(run["details"]["words"]) == {"christian", "compani", "comput", "space"}
    assert run["dataset"]["documents"] == {"fitting": 3037, "validation": 300, "test": 1669}


def test_models_and_dimensions_are_split_at_commas(kate: Kate) -> None:
    code, out, err = kate(
        "evaluate", "--corpus", "mine.jsonl", "--label", "topic", "--seeds", 1, "--tasks", "time",
        "--model", "lsa,tfidf", "--model", "nmf", "--dimensions", "2, 3",
    )  # fmt: skip

    assert code == 0, err
    runs = [run["model"] for run in read_results("results/results.jsonl")]
    assert [(run["name"], run["n_components"]) for run in runs] == [
        ("lsa", 2), ("lsa", 3), ("tfidf", 2), ("tfidf", 3), ("nmf", 2), ("nmf", 3),
    ]  # fmt: skip
    assert re.sub(" +", " ", out.splitlines()[0]) == "mine.jsonl lsa 2 lsa 3 tfidf 2 tfidf 3 nmf 2 nmf 3"


def test_lsa_stands_in_the_same_table(kate: Kate) -> None:
    code, out, err = kate(
        "evaluate",
        "--corpus",
        "mine.jsonl",
        "--label",
        "topic",
        "--dimensions",
        4,
        "--seeds",
        1,
        "--model",
        "lsa",
    )

    assert code == 0, err
    for line in (
        "classification accuracy",
        "retrieval map",
        "neurons mscd",
        "neurons npmi",
        "time fit_seconds",
    ):
        assert line in out


QUESTIONS = [
    *({"kind": "document", "id": f"w{n}", "text": f"wings lift and drag of a wing {n}"} for n in range(8)),
    *({"kind": "document", "id": f"h{n}", "text": f"heat flow and boiling water {n}"} for n in range(8)),
    {"kind": "query", "text": "what lifts a wing?", "relevant": [f"w{n}" for n in range(8)]},
    {"kind": "query", "text": "how does heat flow?", "relevant": ["h0", "not there"]},
]


@pytest.mark.parametrize("name", ["asked.jsonl", "asked.jsonl.gz"])
def test_questions_with_judgements_are_scored(kate: Kate, name: str) -> None:
    text = "\n".join(json.dumps(row) for row in QUESTIONS)
    with gzip.open(name, "wt") if name.endswith(".gz") else Path(name).open("w") as file:
        file.write(text)
    code, _, err = kate("evaluate", "--questions", name, "--model", "lsa", "--dimensions", 2, "--seeds", 1)
    assert code == 0, err
    [run] = read_results("results/results.jsonl")
    assert (run["dataset"]["name"], run["scores"]["questions"]["precision@10"]) == (name, 0.45)


@pytest.mark.parametrize(
    ("row", "message"),
    [
        ("{", "asked.jsonl, line 19: not JSON"),
        (
            '{"kind": "query", "text": "why?"}',
            "asked.jsonl: a query has no relevant; expected text and relevant",
        ),
        ('{"kind": "document", "id": "x"}', "asked.jsonl: a document has no text; expected id and text"),
    ],
)
def test_what_is_wrong_with_questions_is_named(kate: Kate, row: str, message: str) -> None:
    Path("asked.jsonl").write_text("\n".join([*(json.dumps(one) for one in QUESTIONS), row]))
    code, _, err = kate("evaluate", "--questions", "asked.jsonl", "--model", "lsa", "--dimensions", 2)
    assert (code, message in err) == (1, True), err


def test_topics_are_compared_at_the_same_number(kate: Kate) -> None:
    asked = (*MINE[:7], "--seeds", 2, "--tasks", "clusters,topics")
    code, out, err = kate(*asked, "--model", "kate,nmf,lsa", "--topics", 3)
    assert (code, err) == (0, "kate: 6 runs made, 0 were there → results/results.jsonl\n")
    assert re.match(r"mine.jsonl, 3 topics +kate 4 +nmf 4 +lsa 4$", out.splitlines()[0])
    for line in ("clusters nmi", "clusters purity", "topics npmi", "topics coverage"):
        assert re.search(rf"^{line} +\S+ ± \S+ +\S+ ± \S+ +\S+ ± ", out, re.MULTILINE), line
    assert re.search(r"^topics seeds_ari +\S+ +\S+ +\S+$", out, re.MULTILINE)  # of one pair of seeds
    runs = read_results("results/results.jsonl")
    assert {run["n_topics"] for run in runs} == {3}
    assert {len(run["details"]["topics"]["words"]) for run in runs} == {3}
    assert "2 runs made" in kate(*asked, "--model", "nmf", "--topics", 4)[2]
