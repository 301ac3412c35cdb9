"""kate doctor, --version, -v, NO_COLOR, shell completion: what a user needs before and around the commands."""

import json
import logging
import os
import pty
import subprocess
import sys

import pytest
from typer.testing import CliRunner

import kate
from kate.cli import app, checkup
from kate.cli.app import COMMANDS
from kate.cli.log_lines import show_logs
from kate.extras import install_command

KATE = [sys.executable, "-m", "kate"]


def run(*arguments: str):
    return CliRunner().invoke(app, list(arguments))


def test_doctor_tells_what_is_here_and_how_to_get_the_rest(monkeypatch):
    monkeypatch.setattr(checkup, "find_spec", lambda name: None if name in {"usearch", "numba"} else name)
    result = run("doctor")
    assert result.exit_code == 0, result.output
    assert f"{kate.__version__} (kate-text" in result.output
    assert install_command("ann") in result.output
    assert f"{install_command('')}\n" in result.output
    assert "nothing that the commands need is missing" in result.output


def test_doctor_in_json_has_every_part():
    found = json.loads(run("doctor", "--json").output)
    assert set(found) == {"machine", "folders", "packages", "extras", "datasets", "problems"}
    assert {one["extra"] for one in found["extras"]} >= {"", "plot", "serve", "sklearn"}
    assert any(one["name"] == "sotu" for one in found["datasets"])


def test_doctor_finds_what_keeps_commands_from_working(monkeypatch, tmp_path):
    monkeypatch.setattr(checkup, "_version", lambda name: None if name == "polars" else "1")
    monkeypatch.setattr(checkup, "_can_write", lambda folder: False)
    monkeypatch.setenv("NUMBA_CACHE_DIR", str(tmp_path))
    result = run("doctor")
    assert result.exit_code == 1
    assert f"problem: the package polars is missing: {install_command('')}" in result.output
    assert f"problem: compiled code cannot be kept in {tmp_path}" in result.output


def test_doctor_knows_the_limit_of_a_container(monkeypatch):
    monkeypatch.setattr(checkup, "cgroup_limit", lambda *_: 0.5)
    monkeypatch.setattr(checkup, "available_cpus", lambda: 1)
    assert "limited by its container to 0.5" in checkup._cores()


def test_the_version_is_said_and_comes_from_one_place():
    assert run("--version").output == f"kate {kate.__version__}\n"


def test_every_command_is_listed_with_the_module_that_has_it():
    group = __import__("typer").main.get_command(app)
    names = [name for name in COMMANDS if group.get_command(None, name) is not None]
    assert names == list(COMMANDS)
    # and no module has a command that is not listed
    assert set(group.commands) == set(COMMANDS)


def test_completion_knows_the_commands_and_their_options():
    def complete(words: str, place: int) -> list[str]:
        asked = {"_KATE_COMPLETE": "complete_bash", "COMP_WORDS": words, "COMP_CWORD": str(place)}
        ended = subprocess.run(KATE, env=os.environ | asked, capture_output=True, text=True, check=True)
        return ended.stdout.split()

    assert complete("kate se", 1) == ["search", "serve"]
    assert complete("kate search --wh", 2) == ["--where"]


@pytest.mark.parametrize("shell", ["bash", "zsh", "fish"])
def test_completion_scripts_can_be_shown(shell, monkeypatch):
    monkeypatch.setenv("_TYPER_COMPLETE_TEST_DISABLE_SHELL_DETECTION", "1")
    result = run("--show-completion", shell)
    assert "_KATE_COMPLETE" in result.output


@pytest.mark.parametrize(("verbosity", "shown"), [(0, ""), (1, "info\n"), (2, "info\ndebug\n")])
def test_verbosity_shows_what_the_library_logs(verbosity, shown, capsys):
    show_logs(verbosity)
    logger = logging.getLogger("kate.model.anything")
    logger.info("info")
    logger.debug("debug")
    lines = capsys.readouterr().err.splitlines()
    assert "".join(line.partition("model.anything: ")[2] + "\n" for line in lines) == shown
    show_logs(0)
    logger.warning("a \x1b[31mred\nline")
    assert capsys.readouterr().err == "kate: warning: a [31mred line\n"


@pytest.mark.parametrize("arguments", [("-v", "languages"), ("languages", "-vv"), ("--verbose", "languages")])
def test_verbosity_is_understood_before_and_after_the_command(arguments):
    try:
        assert run(*arguments).exit_code == 0
        assert logging.getLogger("kate").level in {logging.INFO, logging.DEBUG}
    finally:
        show_logs(0)


def on_a_terminal(**environment: str) -> bytes:
    """What a command writes to a terminal."""
    ours, theirs = pty.openpty()
    clean = {name: value for name, value in os.environ.items() if name not in {"NO_COLOR", "FORCE_COLOR"}}
    command = [*KATE, "languages"]
    with subprocess.Popen(command, stdout=theirs, stderr=theirs, env=clean | environment) as process:
        os.close(theirs)
        written = b""
        try:
            while part := os.read(ours, 65536):
                written += part
        # the other end is closed
        except OSError:
            pass
        assert process.wait() == 0
    os.close(ours)
    return written


def test_no_color_is_respected_on_a_terminal():
    assert b"\x1b[" in on_a_terminal(TERM="xterm-256color")
    assert b"\x1b[" not in on_a_terminal(TERM="xterm-256color", NO_COLOR="1")
