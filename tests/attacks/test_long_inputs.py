"""No error repeats a long input whole: of what was given, a line of it is shown at most."""

from __future__ import annotations

import ast
import json
import warnings
from collections.abc import Callable
from pathlib import Path
from typing import Any

import polars as pl
import pytest

import kate
from attacks.attacked_folders import small_model
from kate.spelling import did_you_mean

SOURCE = Path(kate.__file__).parent

# The second is shown by ten letters for each character.
LONG_TEXTS = ("x" * 100_000, "\U0010ffff" * 20_000)
LONGEST_ERROR = 700

TEXTS = ["peace treaty signed", "treaty of peace", "gold and silver coin", "silver or gold"] * 5
FIT: dict[str, Any] = {"n_components": 3, "max_epochs": 1, "n_jobs": 1, "device": "cpu", "verbose": False}


@pytest.fixture(scope="module")
def model() -> kate.TextModel:
    return small_model()


@pytest.fixture(scope="module")
def index(model: kate.TextModel) -> kate.Index:
    return kate.Index.build(model, TEXTS)


def require_short_refusal(call: Callable[[], object]) -> None:
    with pytest.raises((ValueError, TypeError, ImportError)) as refused, warnings.catch_warnings():
        warnings.simplefilter("ignore")
        call()
    assert 10 < len(str(refused.value)) < LONGEST_ERROR


@pytest.mark.parametrize("long", LONG_TEXTS, ids=["x", "odd"])
@pytest.mark.parametrize(
    "name",
    [
        *("output", "mean", "precision", "language", "min_df", "max_df", "stop_words", "clean", "tokenizer"),
        *("n_components", "random_state", "max_epochs", "batch_size", "device", "patience", "n_jobs"),
    ],
)
def test_a_long_setting(name: str, long: str) -> None:
    if name not in kate.TextModel(2).get_params():
        require_short_refusal(lambda: kate.TextModel(2).set_params(**{name + long: 1}))
    else:
        require_short_refusal(lambda: kate.TextModel(**(FIT | {name: long})).fit(TEXTS))


@pytest.mark.parametrize("long", LONG_TEXTS, ids=["x", "odd"])
def test_a_long_question_to_a_model(model: kate.TextModel, long: str) -> None:
    require_short_refusal(lambda: model.similar_words(long))
    require_short_refusal(lambda: model.similar_words(f"{long} {long}"))
    require_short_refusal(lambda: model.encode([long, 3]))  # type: ignore[list-item]
    require_short_refusal(lambda: model.encode(TEXTS, batch_size=long))  # type: ignore[arg-type]
    require_short_refusal(lambda: model.encode(TEXTS, truncate_dim=long))  # type: ignore[arg-type]
    require_short_refusal(lambda: model.label(TEXTS, {long: [long]}))
    require_short_refusal(lambda: model.topics(long))  # type: ignore[arg-type]


@pytest.mark.parametrize("long", LONG_TEXTS, ids=["x", "odd"])
@pytest.mark.parametrize(
    "options",
    [
        {"by": "{}"}, {"sort": "{}"}, {"where": "{}"}, {"where": '"{}" = 1'}, {"where": "text = '{}' = 3 like"},
        {"where": "text + '{}'"}, {"where": "{}(3)"}, {"top": "{}"}, {"offset": "{}"},
        {"query": "{}"}, {"query": "-{}"}, {"query": '"{}'}, {"query": "{}", "by": "meaning"},
    ],
    ids=str,
)  # fmt: skip
def test_a_long_search(index: kate.Index, options: dict[str, str], long: str) -> None:
    given: dict[str, Any] = {"query": "gold"} | {
        name: shape.replace("{}", long) for name, shape in options.items()
    }
    require_short_refusal(lambda: index.search(**given))


@pytest.mark.parametrize("long", LONG_TEXTS, ids=["x", "odd"])
@pytest.mark.parametrize("option", ["encoding", "format", "text", "id", "label", "title", "on_error"])
def test_a_long_option_of_reading(tmp_path: Path, option: str, long: str) -> None:
    for name, data in (
        ("a.jsonl", json.dumps({"text": "gold", "more": 1})),
        ("a.csv", "text,more\ngold,1"),
        ("a.txt", "gold"),
    ):
        (tmp_path / name).write_text(f"{data}\n", encoding="utf-8")
        if (name, option) != ("a.txt", "format"):
            require_short_refusal(lambda name=name: kate.read_corpus(tmp_path / name, **{option: long}))


def test_long_rows_and_names_of_a_file(tmp_path: Path) -> None:
    long = LONG_TEXTS[0]
    files = {
        "twice.jsonl": (json.dumps({"text": "a", "id": long}) + "\n") * 2,
        "row.jsonl": f'{{"text": "a"}}\n{long}\n',
        "kind.jsonl": json.dumps({"text": [long]}) + "\n",
        "fields.jsonl": json.dumps({f"field {number}": number for number in range(5000)}) + "\n",
        "moved.jsonl": json.dumps({"text": "a"}) + "\n" + json.dumps({long: 1, f"{long}2": 1}) + "\n",
    }
    for name, data in files.items():
        (tmp_path / name).write_text(data, encoding="utf-8")
        id_field = "id" if name == "twice.jsonl" else None
        require_short_refusal(lambda name=name, field=id_field: kate.read_corpus(tmp_path / name, id=field))


def test_many_or_long_names_are_not_all_listed() -> None:
    assert len(did_you_mean("zebra", [f"{number:x}" * 9 for number in range(10_000)])) < 5000
    assert did_you_mean("zebra", map(str, range(100))).endswith("38, 39 and 60 more")
    assert len(did_you_mean("a" * 10_000, ["a" * 9_999])) < 100


def test_a_parquet_file_at_whose_schema_polars_panics_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "a.parquet"
    pl.DataFrame({"text": ["gold", "coin"]}).write_parquet(path)

    def panic(*_: object, **__: object) -> object:
        raise pl.exceptions.PanicException("not yet implemented")

    with pytest.MonkeyPatch.context() as patch, pytest.raises(kate.CorpusError, match="or is damaged"):
        patch.setattr(pl, "scan_parquet", panic)
        kate.read_corpus(path)


def test_errors_repeat_what_was_given_through_quoted_alone() -> None:
    """An f-string with !r in an error repeats all of a long value."""
    known = {"__init__.py", "errors.py"}  # an attribute's name, already cut; the function itself
    found = []
    for path in sorted(SOURCE.rglob("*.py")):
        if path.name in known:
            continue
        for raised in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if isinstance(raised, ast.Raise):
                found += [
                    f"{path.name}:{node.lineno}"
                    for node in ast.walk(raised)
                    if isinstance(node, ast.FormattedValue) and node.conversion == ord("r")
                ]
    assert not found, "take kate.errors.quoted instead of !r"
