"""Full, slow, read-only and strange places: what is said, and that nothing is lost."""

from __future__ import annotations

import importlib
import os
import subprocess
import sys
import threading
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest

import kate
from attacks.attacked_folders import small_model
from kate.storage.files import whole_folder

on_linux = pytest.mark.skipif(sys.platform != "linux", reason="limits and links are Linux's")


def run(program: str, *arguments: object, limit: int | None = None, **environment: str) -> tuple[int, str]:
    """A Python program in a process of its own; ``limit``: the most bytes that a file of it may have."""
    before = (
        ""
        if limit is None
        else f"import resource; resource.setrlimit(resource.RLIMIT_FSIZE, ({limit},) * 2)\n"
    )
    done = subprocess.run(
        [sys.executable, "-c", before + program, *map(str, arguments)],
        capture_output=True,
        text=True,
        check=False,
        env=os.environ | environment,
        timeout=300,
    )
    return done.returncode, done.stderr


KATE = "import sys\nfrom kate.cli import main\nsys.argv[0] = 'kate'\nmain()"


@on_linux
def test_a_full_disk_is_called_one_and_the_old_index_stays(
    whole_folders: Callable[[str], Path], place: Path
) -> None:
    """0.1 called it a bug in Kate. A limit on the size of files fails as a full disk does, in Polars too."""
    index = place / "index"
    (place / "corpus.txt").write_text("gold and silver\npeace treaty\n" * 3000)
    kate.Index.load(whole_folders("index")).save(index)
    before = {str(path): path.read_bytes() for path in index.rglob("*") if path.is_file()}
    model = whole_folders("model")
    for limit in (100_000, 180_000):
        code, said = run(KATE, "index", model, place / "corpus.txt", "-o", index, "--quiet", limit=limit)
        assert code == 1, said
        assert "no space is left on the disk" in said
        assert "bug in Kate" not in said
        assert {str(path): path.read_bytes() for path in index.rglob("*") if path.is_file()} == before
        assert sorted(path.name for path in place.iterdir()) == ["corpus.txt", "index"]


@pytest.mark.parametrize(
    "error",
    [
        OSError(28, "No space left on device", "x"),
        RuntimeError("LanceError(IO): ... No space left on device (os error 28)"),
        OSError(27, "File too large"),
    ],
)
def test_a_full_disk_is_named_whichever_library_meets_it(
    error: Exception, capsys: pytest.CaptureFixture[str]
) -> None:
    assert importlib.import_module("kate.cli.app")._report(error) == 1
    assert "no space is left on the disk" in capsys.readouterr().err


@on_linux
def test_without_home_and_cache_folder_everything_works(
    whole_folders: Callable[[str], Path], place: Path
) -> None:
    program = "import sys, kate; print(kate.load(sys.argv[1]).encode('gold').shape)"
    nowhere = {"HOME": "/nonexistent", "XDG_CACHE_HOME": "/proc/nothing", "NUMBA_CACHE_DIR": "/proc/nothing"}
    code, said = run(program, whole_folders("model"), **nowhere)
    assert code == 0, said
    code, said = run(KATE, "doctor", **nowhere)
    assert code == 0, said


def test_a_mount_point_as_target_is_refused_before_training(
    place: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """0.1 found it out after hours."""
    from kate.cli.corpus_commands import require_writable

    monkeypatch.setattr(Path, "is_mount", lambda path: path == place)
    with pytest.raises(FileExistsError, match="a disk is mounted there"):
        require_writable(place, "config.json")


@on_linux
def test_a_link_as_target_stays_a_link(place: Path) -> None:
    (place / "link").symlink_to("model")
    for seed in (0, 1):
        small_model(seed).save(place / "link")
    assert (place / "link").is_symlink()
    assert kate.load(place / "link").settings_["random_state"] == 1
    (place / "circle").symlink_to("circle")
    with pytest.raises((OSError, RuntimeError)), whole_folder(place / "circle"):
        pytest.fail("nothing should be written")


@on_linux
@pytest.mark.skipif(os.geteuid() == 0 if hasattr(os, "geteuid") else True, reason="root may write everywhere")
def test_a_folder_without_rights_is_named(place: Path) -> None:
    place.chmod(0o500)
    with pytest.raises(PermissionError):
        small_model().save(place / "model")


def test_a_model_is_not_read_as_documents(whole_folders: Callable[[str], Path]) -> None:
    for kind in ("model", "index"):
        with pytest.raises(kate.CorpusError, match=f"is a Kate {kind} folder and not documents"):
            kate.read_corpus(whole_folders(kind))


def test_two_writers_leave_one_whole_model_and_readers_see_no_gap(place: Path) -> None:
    """0.1: 116 of 2,045 loads failed while a model was replaced."""
    models = [small_model(seed) for seed in (0, 1)]
    vectors = [model.encode("gold coin of peace") for model in models]
    models[0].save(place / "model")
    failures: list[BaseException] = []
    stop = threading.Event()

    def write(which: int) -> None:
        try:
            for _ in range(15):
                models[which].save(place / "model")
        except BaseException as error:
            failures.append(error)

    def read() -> None:
        try:
            while not stop.is_set():
                found = kate.load(place / "model").encode("gold coin of peace")
                assert any(np.array_equal(found, one) for one in vectors)
        except BaseException as error:
            failures.append(error)

    writers = [threading.Thread(target=write, args=(which,)) for which in (0, 1)]
    reader = threading.Thread(target=read)
    for thread in (*writers, reader):
        thread.start()
    for thread in writers:
        thread.join(300)
    stop.set()
    reader.join(120)
    assert not failures
    assert [path.name for path in place.iterdir()] == ["model"]


@on_linux
@pytest.mark.parametrize("used", ["encode", "search"])
def test_a_forked_process_is_told_to_spawn(whole_folders: Callable[[str], Path], used: str) -> None:
    """Polars has threads that a child does not have; 0.1 waited for ever."""
    program = """
import os, sys, signal, kate
index = kate.Index.load(sys.argv[1])
texts = ["gold " * 9] * 99
use = {"encode": lambda: index.model.encode(texts), "search": lambda: index.search("gold")}[sys.argv[2]]
use()
if not os.fork():
    signal.alarm(120)
    try:
        use()
    except kate.ForkedProcessError as error:
        os._exit(7 if "spawn" in str(error) else 8)
    os._exit(9)
sys.exit(os.waitstatus_to_exitcode(os.wait()[1]))
"""
    code, said = run(program, whole_folders("index"), used)
    assert code == 7, said
