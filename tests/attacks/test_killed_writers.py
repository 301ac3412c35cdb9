"""Writers are killed before every file operation, and disks fail at every one: old or new, whole, then cleaned up."""

from __future__ import annotations

import errno
import sys
import time
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest

import kate
from attacks import killed_writers
from attacks.attack_budget import cases, is_long, seed
from attacks.attacked_folders import FOLDERS
from attacks.case_runner import Report, attack
from attacks.fault_layer import FaultLayer
from attacks.killed_writers import KilledWriter

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="the writers are forked")


@pytest.fixture(scope="module")
def new_folders(tmp_path_factory: pytest.TempPathFactory) -> Callable[[str], Path]:
    """Other folders of the same kinds."""
    root = tmp_path_factory.mktemp("new")

    def folder(kind: str) -> Path:
        if not (root / kind).exists():
            FOLDERS[kind].make(root / kind, seed=1)
        return root / kind

    return folder


@pytest.mark.parametrize(("kind", "quick", "share"), [("model", 24, 0.06), ("index", 8, 0.03)])
def test_a_killed_writer_leaves_the_old_or_the_new_folder(
    whole_folders: Callable[[str], Path],
    new_folders: Callable[[str], Path],
    place: Path,
    kind: str,
    quick: int,
    share: float,
) -> None:
    many = cases(quick, share)
    # in the quick mode steps of all parts of the writing, from mkdir to the removal of the old folder
    numbers = range(many) if many > quick else range(0, 31 * quick, 31)
    old, new = str(whole_folders(kind)), str(new_folders(kind))
    name = "attacks.killed_writers:KilledWriter"
    attack(name, numbers, seed(), kind, old, new, str(place / "work")).require_none()


def test_a_killed_writer_leaves_the_old_or_the_new_file(place: Path) -> None:
    old, new = place / "old", place / "new"
    old.write_bytes(b"old" * 5000)
    new.write_bytes(b"new" * 7000)
    name = "attacks.killed_writers:KilledWriter"
    work = str(place / "work")
    attack(name, range(cases(20, 0.01)), seed(), "file", str(old), str(new), work).require_none()


def test_a_fit_that_is_killed_anywhere_goes_on_to_the_same_bits(place: Path) -> None:
    """Before every file operation: of shards, the vocabulary and checkpoints."""
    many = cases(3, 0.005)
    # in the quick mode when work.json is first written, at a shard, and among the checkpoints
    numbers = range(many) if is_long() else (8, 57, 150)
    attack("attacks.killed_fits:KilledFit", numbers, seed(), str(place / "work")).require_none()


@pytest.mark.parametrize("what", ["ENOSPC", "EIO", "full"])
def test_an_error_at_any_step_of_a_save_leaves_a_whole_model_and_nothing_else(
    whole_folders: Callable[[str], Path], new_folders: Callable[[str], Path], place: Path, what: str
) -> None:
    """The old one; the new one only if nothing failed but to flush its name, or to remove the old one."""
    old, new, target = kate.load(whole_folders("model")), kate.load(new_folders("model")), place / "model"
    wholes = []
    for model in (new, old):
        with FaultLayer(place) as counted:
            model.save(target)
        wholes.append({path.name: path.read_bytes() for path in target.iterdir()})
    exchange = next(number for number, step in enumerate(counted.steps) if step.startswith("exchange"))
    for step in range(0, counted.n, 1 if is_long() else 3):
        failed = False
        try:
            with FaultLayer(place, step, what):
                new.save(target)
        except OSError as error:
            assert error.errno in (errno.ENOSPC, errno.EIO)
            failed = True
        found = {path.name: path.read_bytes() for path in target.iterdir()}
        assert found == wholes[step <= exchange], counted.steps[step]
        # closing a file that was flushed may fail, too; what failed before the exchange is told
        assert failed or step > exchange or counted.steps[step].startswith(("close", "exchange"))
        old.save(target)  # the next writer cleans up
        assert [path.name for path in place.iterdir()] == ["model"]


def test_cases_that_are_tried_again_are_counted_and_many_of_them_fail() -> None:
    report = Report("attacks.killed_writers:KilledWriter", 3, ("file",))
    for number in range(200):
        report.add(number, None, "old", 0.1, is_retried=number in {7, 60})
    report.require_none()
    line = report.as_dict()
    assert (line["kind"], line["retried"], line["version"]) == ("file", 2, kate.__version__)
    assert len(line["code"]) == 12
    report.add(200, None, "old", 0.1, is_retried=True)
    with pytest.raises(AssertionError, match=r"3 of 201 cases.*tried again:\n.*KilledWriter 3 7 file"):
        report.require_none()


def test_a_child_that_does_not_end_is_tried_again(place: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("old", "new"):
        (place / name).write_bytes(name.encode())
    writer = KilledWriter("file", str(place / "old"), str(place / "new"), str(place / "work"))
    monkeypatch.setattr(killed_writers, "_SECONDS", 2.0)
    fork, hangs = writer._fork, [True]

    def hanging_once(work: Callable[[], object]) -> int:
        return fork((lambda: time.sleep(60)) if hangs and hangs.pop() else work)

    monkeypatch.setattr(writer, "_fork", hanging_once)
    assert writer.case(2, np.random.default_rng(0)) is None
    assert writer.is_retried
