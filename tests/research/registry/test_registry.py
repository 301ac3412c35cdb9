"""The registry: names, tuned variants, what cannot run here and why."""

from __future__ import annotations

import re
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from kate.extras import install_command
from kate.research.registry import (
    MODELS,
    ModelEntry,
    Tuned,
    choose_models,
    lazily,
    make_model,
    models,
    settings_of,
    variant_of,
)
from kate.research.registry.search_spaces import Choice, Int, Log, Uniform
from kate.research.registry.tuned import read_tuned, update_tuned

TUNED = {"kate": Tuned({"dropout": 0.25, "max_epochs": 7}, "toy", 4, 3, 1, "accuracy", 0.5)}


@pytest.fixture
def tuned(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(models, "tuned_models", lambda: TUNED)


def test_a_tuned_variant_starts_from_what_was_found_and_can_be_changed(tuned: None) -> None:
    parameters = make_model("kate:tuned", 4, {"max_epochs": 9}).get_params()
    assert (parameters["dropout"], parameters["max_epochs"]) == (0.25, 9)
    assert make_model("kate", 4).get_params()["dropout"] != 0.25
    assert [variant_of(name) for name in ("kate:tuned", "kate", "kate-paper")] == [
        "tuned",
        "default",
        "paper",
    ]
    with pytest.raises(ValueError, match="lsa has no tuned settings yet; find some: kate tune --model lsa"):
        make_model("lsa:tuned")


def test_a_setting_with_the_name_of_a_model_is_for_it_alone() -> None:
    settings = {"kate.dropout": 0.1, "lsa.nothing": 1}
    assert settings_of("kate", settings) == {"dropout": 0.1}
    assert make_model("kate", 4, settings).get_params()["dropout"] == 0.1
    with pytest.raises(ValueError, match="the model lsa has no setting 'nothing'"):
        make_model("lsa", 4, settings)


def test_all_are_those_that_can_run_and_the_others_say_why(
    monkeypatch: pytest.MonkeyPatch, tuned: None
) -> None:
    without = ModelEntry(
        "far", "not installed", lazily("kate.research.rivals.lsa:LSA"), needs=("no_such_package",)
    )
    unset = ModelEntry(
        "bare", "lacks a file", lazily("kate.research.rivals.lsa:LSA"), must_set={"path": "a file"}
    )
    some = {name: MODELS[name] for name in ("kate", "lsa")} | {"far": without, "bare": unset}
    monkeypatch.setattr(models, "MODELS", some)

    assert choose_models(["all", "lsa"]) == (
        ["kate", "kate:tuned", "lsa"],
        {
            "far": f"far needs no_such_package: {install_command('paper')}",
            "bare": "bare needs a file: set bare.path=…",
        },
    )
    assert "bare" in choose_models(["all"], {"bare.path": "here"}).names
    with pytest.raises(ImportError, match=re.escape(install_command("paper"))):
        make_model("far")
    with pytest.raises(ValueError, match="bare needs a file"):
        make_model("bare")


def test_a_file_of_tuned_settings_is_read_and_a_strange_one_refused(tmp_path: Path) -> None:
    path = tmp_path / "tuned.toml"
    path.write_text(
        '[kate]\ndataset = "toy"\nn_components = 4\ntrials = 3\nseeds = 1\nobjective = "accuracy"\nscore = 0.5\n'
        "[kate.settings]\ndropout = 0.25\nmax_epochs = 7\n"
    )
    assert read_tuned(path) == TUNED
    path.write_text("[kate]\ndropout = 0.25\n")
    with pytest.raises(ValueError, match=r"tuned\.toml: the table of kate is not what kate tune writes"):
        read_tuned(path)


def test_every_model_is_in_the_page_of_models() -> None:
    page = (Path(__file__).parents[3] / "docs" / "models.md").read_text(encoding="utf-8")
    assert [name for name in MODELS if f"`{name}`" not in page] == []


def test_models_that_are_tuned_side_by_side_lose_nothing(tmp_path: Path) -> None:
    path = tmp_path / "tuned.toml"
    names = [f"model-{number:02}" for number in range(16)]
    with ThreadPoolExecutor(8) as pool:
        list(pool.map(lambda name: update_tuned(path, name, TUNED["kate"]), names))
    assert list(read_tuned(path)) == names
    update_tuned(path, names[3], Tuned({"alpha": "auto", "deep": True}, "toy", 4, 9, 2, "r2", -0.25))
    assert read_tuned(path)[names[3]].settings == {"alpha": "auto", "deep": True}
    assert read_tuned(path)[names[4]] == TUNED["kate"]


def test_settings_are_those_that_were_found_with_the_nearest_number_of_components(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "tuned.toml"
    for size, dropout in ((4, 0.1), (64, 0.2), (64, 0.3)):
        update_tuned(path, "kate", Tuned({"dropout": dropout}, "toy", size, 3, 1, "accuracy", 0.5))
    found = read_tuned(path)
    assert list(found) == ["kate", "kate/64"]
    monkeypatch.setattr(models, "tuned_models", lambda: found)
    chosen = {size: make_model("kate:tuned", size).get_params()["dropout"] for size in (2, 4, 15, 17, 512)}
    assert chosen == {2: 0.1, 4: 0.1, 15: 0.1, 17: 0.3, 512: 0.3}
    assert "kate/64" not in choose_models(["all"]).names

    update_tuned(path, "ae", Tuned({"batch_size": 7}, "toy", 512, 3, 1, "accuracy", 0.5))
    assert "ae/512" in read_tuned(path)  # the package's own were found with 128


@pytest.mark.parametrize("name", MODELS)
def test_what_may_be_tried_of_a_model_are_settings_that_it_has(name: str) -> None:
    entry = MODELS[name]
    if entry.why_not() is not None:
        pytest.skip(str(entry.why_not()))
    parameters = entry.make(8, random_state=0).get_params()
    assert set(entry.space) <= set(parameters)
    for values in entry.space.values():
        if isinstance(values, Choice):
            assert values.options  # one alone is a setting that every trial has
            assert None not in values.options
        else:
            assert isinstance(values, Log | Uniform | Int)
            assert values.low < values.high
