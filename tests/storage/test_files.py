"""Files and folders appear whole or not at all."""

from __future__ import annotations

import errno
import os
import subprocess
import sys
from pathlib import Path

import pytest

from kate.storage import replacing
from kate.storage.files import only_writer, scratch_folder, whole_file, whole_folder

FULL = OSError(errno.ENOSPC, "No space left on device")


def names(folder: Path) -> list[str]:
    return sorted(path.name for path in folder.iterdir())


def test_a_file_appears_when_it_is_whole(tmp_path: Path) -> None:
    with whole_file(tmp_path / "vectors.npy") as part:
        part.write_bytes(b"new")
        assert not (tmp_path / "vectors.npy").exists()
        assert (part.suffix, part.parent) == (".npy", tmp_path)
    assert names(tmp_path) == ["vectors.npy"]
    assert (tmp_path / "vectors.npy").read_bytes() == b"new"


@pytest.mark.parametrize("failure", [FULL, KeyboardInterrupt()])
def test_a_failing_write_keeps_the_old_file(tmp_path: Path, failure: BaseException) -> None:
    (tmp_path / "file").write_text("old")

    def write_half() -> None:
        with whole_file(tmp_path / "file") as part:
            part.write_text("ne")
            raise failure

    with pytest.raises(type(failure)):
        write_half()
    assert names(tmp_path) == ["file"]
    assert (tmp_path / "file").read_text() == "old"


def test_a_file_gets_the_rights_of_any_new_file(tmp_path: Path) -> None:
    (tmp_path / "plain").write_text("")
    with whole_file(tmp_path / "file") as part:
        part.write_text("new")
    assert (tmp_path / "file").stat().st_mode == (tmp_path / "plain").stat().st_mode


def test_a_file_needs_a_folder_and_a_name_of_its_own(tmp_path: Path) -> None:
    with pytest.raises(FileNotFoundError, match="create it"), whole_file(tmp_path / "no" / "file"):
        pytest.fail("nothing should be written")
    with pytest.raises(IsADirectoryError, match="is a folder"), whole_file(tmp_path):
        pytest.fail("nothing should be written")


def test_a_scratch_folder_goes_with_its_work_and_that_of_a_killed_program_too(tmp_path: Path) -> None:
    target = tmp_path / "out.csv"
    code = (
        "import os, sys; from kate.storage.files import scratch_folder\n"
        "with scratch_folder(sys.argv[1]) as folder:\n"
        "    (folder / 'waiting').write_text('...'); os._exit(9)"
    )
    assert subprocess.run([sys.executable, "-c", code, target], check=False).returncode == 9
    [left] = names(tmp_path)
    with pytest.raises(RuntimeError), whole_file(target) as part, scratch_folder(target) as folder:
        assert not (tmp_path / left).exists()
        assert folder.parent == tmp_path
        part.write_text("half")
        (folder / "waiting").write_text("...")
        raise RuntimeError
    assert not names(tmp_path)


def test_a_folder_appears_when_it_is_whole(tmp_path: Path) -> None:
    with whole_folder(tmp_path / "model") as part:
        (part / "inner").mkdir()
        (part / "inner" / "file").write_text("new")
        assert not (tmp_path / "model").exists()
    assert names(tmp_path) == ["model"]
    assert (tmp_path / "model" / "inner" / "file").read_text() == "new"


def test_a_folder_of_the_same_kind_is_replaced(tmp_path: Path) -> None:
    for content in ("first", "second"):
        with whole_folder(tmp_path / "model", replaces="config.json") as part:
            (part / "config.json").write_text(content)
            (part / content).write_text("")
    assert names(tmp_path) == ["model"]
    assert names(tmp_path / "model") == ["config.json", "second"]


@pytest.mark.parametrize("failure", [FULL, KeyboardInterrupt()])
def test_a_failing_write_keeps_the_old_folder(tmp_path: Path, failure: BaseException) -> None:
    (tmp_path / "model").mkdir()
    (tmp_path / "model" / "config.json").write_text("old")

    def write_half() -> None:
        with whole_folder(tmp_path / "model", replaces="config.json") as part:
            (part / "config.json").write_text("new")
            (part / "weights").write_text("hal")
            raise failure

    with pytest.raises(type(failure)):
        write_half()
    assert names(tmp_path) == ["model"]
    assert names(tmp_path / "model") == ["config.json"]
    assert (tmp_path / "model" / "config.json").read_text() == "old"


def test_a_disk_that_fails_to_flush_keeps_the_old_folder(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "model").mkdir()
    (tmp_path / "model" / "config.json").write_text("old")

    def fail(descriptor: int) -> None:
        raise FULL

    monkeypatch.setattr(os, "fsync", fail)
    with (
        pytest.raises(OSError, match="No space left"),
        whole_folder(tmp_path / "model", replaces="config.json") as part,
    ):
        (part / "config.json").write_text("new")
    assert names(tmp_path) == ["model"]
    assert (tmp_path / "model" / "config.json").read_text() == "old"


def test_a_folder_that_cannot_be_moved_in_leaves_the_old_one(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(replacing, "exchanged", lambda one, other: False)  # as on systems that cannot
    (tmp_path / "model").mkdir()
    (tmp_path / "model" / "config.json").write_text("old")
    rename = Path.rename

    def rename_all_but_the_new(path: Path, target: Path) -> Path:
        if path.parent == tmp_path and path.name != "model":
            raise OSError(errno.EIO, "Input/output error")
        return rename(path, target)

    monkeypatch.setattr(Path, "rename", rename_all_but_the_new)
    with (
        pytest.raises(OSError, match="Input/output"),
        whole_folder(tmp_path / "model", replaces="config.json") as part,
    ):
        (part / "config.json").write_text("new")
    assert names(tmp_path) == ["model"]
    assert (tmp_path / "model" / "config.json").read_text() == "old"


def test_an_empty_folder_is_filled(tmp_path: Path) -> None:
    (tmp_path / "model").mkdir()
    with whole_folder(tmp_path / "model") as part:
        (part / "file").write_text("new")
    assert names(tmp_path / "model") == ["file"]


def test_anything_else_is_never_replaced(tmp_path: Path) -> None:
    (tmp_path / "home").mkdir()
    (tmp_path / "home" / "thesis").write_text("years of work")
    for marker in (None, "config.json"):
        with (
            pytest.raises(FileExistsError, match="holds something else"),
            whole_folder(tmp_path / "home", replaces=marker),
        ):
            pytest.fail("nothing should be written")
    with (
        pytest.raises(NotADirectoryError, match="a file of that name"),
        whole_folder(tmp_path / "home/thesis"),
    ):
        pytest.fail("nothing should be written")
    with pytest.raises(FileNotFoundError, match="create it"), whole_folder(tmp_path / "no" / "model"):
        pytest.fail("nothing should be written")
    assert (tmp_path / "home" / "thesis").read_text() == "years of work"
    assert names(tmp_path) == ["home"]


def write_new(folder: Path) -> None:
    with whole_folder(folder, replaces="config.json") as part:
        (part / "config.json").write_text("new")


def test_an_interrupt_between_the_two_renames_puts_the_old_folder_back(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(replacing, "exchanged", lambda one, other: False)  # as on systems that cannot
    (tmp_path / "model").mkdir()
    (tmp_path / "model" / "config.json").write_text("old")
    rename, calls = Path.rename, []

    def interrupted(self: Path, target: Path) -> Path:
        calls.append(target)
        if len(calls) == 2:  # the first moves the old folder aside, the second would bring the new one in
            raise KeyboardInterrupt
        return rename(self, target)

    monkeypatch.setattr(Path, "rename", interrupted)
    with pytest.raises(KeyboardInterrupt):
        write_new(tmp_path / "model")
    assert names(tmp_path) == ["model"]
    assert (tmp_path / "model" / "config.json").read_text() == "old"


def test_what_cannot_be_put_back_is_not_deleted(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(replacing, "exchanged", lambda one, other: False)
    (tmp_path / "model").mkdir()
    (tmp_path / "model" / "config.json").write_text("old")
    rename, calls = Path.rename, []

    def failing(self: Path, target: Path) -> Path:
        calls.append(target)
        if len(calls) > 1:
            raise OSError("the disk is gone")
        return rename(self, target)

    monkeypatch.setattr(Path, "rename", failing)
    with (
        pytest.raises(OSError, match="the disk is gone"),
        whole_folder(tmp_path / "model", replaces="config.json") as part,
    ):
        (part / "config.json").write_text("new")
    assert [file.read_text() for file in tmp_path.rglob("config.json")] == ["old"]


def test_a_second_writer_is_refused_and_the_next_one_is_not(tmp_path: Path) -> None:
    pytest.importorskip("fcntl", reason="files are not locked on Windows")
    path = tmp_path / "results.jsonl"
    with only_writer(path):
        path.write_text("a line")  # whoever holds the file writes as always
        with (
            pytest.raises(BlockingIOError, match=r"results\.jsonl is being written by another program"),
            only_writer(path),
        ):
            pass
    with only_writer(path):
        assert path.read_text() == "a line"


def test_a_writer_that_was_killed_keeps_nobody_out(tmp_path: Path) -> None:
    pytest.importorskip("fcntl", reason="files are not locked on Windows")
    path = tmp_path / "results.jsonl"
    holds = "with only_writer(sys.argv[1]): print(flush=True); time.sleep(60)"
    code = f"import sys, time; from kate.storage.files import only_writer\n{holds}"
    with subprocess.Popen([sys.executable, "-c", code, str(path)], stdout=subprocess.PIPE) as other:
        assert other.stdout is not None
        other.stdout.readline()
        with pytest.raises(BlockingIOError), only_writer(path):
            pass
        other.kill()
    with only_writer(path):
        assert path.read_bytes() == b""  # it was held, not written


@pytest.mark.parametrize("can_exchange", [True, False])
def test_a_folder_is_replaced_and_nothing_is_left_of_the_old_one(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, can_exchange: bool
) -> None:
    if not can_exchange:
        monkeypatch.setattr(replacing, "exchanged", lambda one, other: False)
    for content in ("old", "new"):
        with whole_folder(tmp_path / "model", replaces="config.json") as part:
            (part / "config.json").write_text(content)
    assert (tmp_path / "model" / "config.json").read_text() == "new"
    assert names(tmp_path) == ["model"]


@pytest.mark.skipif(sys.platform != "linux", reason="only Linux exchanges two folders in one step")
def test_on_linux_two_folders_are_exchanged_in_one_step(tmp_path: Path) -> None:
    for name in "ab":
        (tmp_path / name).mkdir()
        (tmp_path / name / "file").write_text(name)
    assert replacing.exchanged(tmp_path / "a", tmp_path / "b")
    assert (tmp_path / "a" / "file").read_text() == "b"
    assert not replacing.exchanged(tmp_path / "a", tmp_path / "nowhere")


def test_a_reader_through_a_link_puts_back_what_a_kill_left_aside(tmp_path: Path) -> None:
    """Found by killing the writer between its two renames."""
    (tmp_path / "link").symlink_to("model")
    aside = tmp_path / ".model.kate-old-0123abcd" / "was"
    aside.mkdir(parents=True)
    (aside / "config.json").write_text("old")
    assert replacing.recover(tmp_path / "link")
    assert (tmp_path / "link" / "config.json").read_text() == "old"
    assert names(tmp_path) == ["link", "model"]
