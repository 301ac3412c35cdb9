"""The application: how every command ends. An error is one line; exit codes are 0, 1, 2, 130, and 143 after SIGTERM."""

from __future__ import annotations

import errno
import importlib
import os
import re
import sys
import traceback
import warnings
from collections.abc import Sequence
from contextlib import suppress
from typing import Annotated, Any, NoReturn

import typer
from typer.core import TyperGroup

import kate
from kate.cli.log_lines import show_logs
from kate.cli.output import say
from kate.extras import missing_package

__all__ = ["COMMANDS", "app"]

# The module of each command, in the order of the help. A module is imported when one of its commands is asked for.
COMMANDS = {
    name: module
    for module, names in {
        "corpus_commands": ("fit",),
        "encode_command": ("encode",),
        "update_command": ("update",),
        "model_commands": ("words", "info", "languages"),
        "index_commands": ("index",),
        "search_commands": ("search", "similar", "duplicates"),
        "topic_commands": ("topics", "neurons"),
        "label_commands": ("label", "trends"),
        "plot_commands": ("plot",),
        "explore_command": ("explore",),
        "serve_command": ("serve",),
        "datasets": ("datasets",),
        "evaluate": ("evaluate",),
        "tune": ("tune",),
        "reproduce": ("reproduce",),
        "demo": ("demo",),
        "doctor": ("doctor",),
    }.items()
    for name in names
}
FAILURE, USAGE, INTERRUPTED = 1, 2, 130
_CONTEXT = {"help_option_names": ["-h", "--help"]}
_NO_SPACE = re.compile(
    r"no space left on device|os error (?:27|28|122)\b|quota exceeded|file too large|\d requested and \d+ written",
    re.I,
)
# What the library raises about wrong input. Anything else is a bug in Kate, and is reported as one.
_EXPECTED = (OSError, ValueError, LookupError, ImportError, MemoryError, ArithmeticError)


class Commands(TyperGroup):
    """All commands run through :meth:`main`, so that all end in the same way."""

    def list_commands(self, ctx: Any) -> list[str]:
        return list(COMMANDS)

    def get_command(self, ctx: Any, cmd_name: str) -> Any:
        if cmd_name not in self.commands and cmd_name in COMMANDS:
            some = typer.Typer(rich_markup_mode=None, context_settings=_CONTEXT)
            importlib.import_module(f"kate.cli.{COMMANDS[cmd_name]}").add_to(some)
            self.commands = {**self.commands, **typer.main.get_group(some).commands}
        return super().get_command(ctx, cmd_name)

    def resolve_command(self, ctx: Any, args: list[str]) -> Any:
        if args and args[0] not in COMMANDS:
            # what may be meant is looked for among all commands
            for name in COMMANDS:
                self.get_command(ctx, name)
        return super().resolve_command(ctx, args)

    def main(self, args: Sequence[str] | None = None, *_: Any, **__: Any) -> NoReturn:
        self._main_shell_completion({}, "kate")
        arguments = list(sys.argv[1:] if args is None else args)
        arguments, debug = _without_debug(arguments)
        arguments, verbosity = _without_verbosity(arguments)
        show_logs(verbosity)
        _write_any_character()
        with warnings.catch_warnings():
            warnings.showwarning = _show_warning
            code = self._run(arguments, debug)
        sys.exit(code)

    def _run(self, arguments: list[str], debug: bool) -> int:
        try:
            with self.make_context("kate", arguments) as context:
                self.invoke(context)
            # a closed pipe may be noticed only now
            sys.stdout.flush()
        except typer.Exit as request:
            return request.exit_code
        except (KeyboardInterrupt, typer.Abort):
            _say("interrupted")
            return INTERRUPTED
        except BrokenPipeError:
            return _leave_quietly()
        except Exception as error:
            if debug:
                traceback.print_exc()
            return _report(error, arguments)
        return 0


app = typer.Typer(
    cls=Commands,
    name="kate",
    # plain help: the same in a terminal, in a pipe and in a manual
    rich_markup_mode=None,
    context_settings=_CONTEXT,
)


def _show_version(wanted: bool) -> None:
    if wanted:
        typer.echo(f"kate {kate.__version__}")
        raise typer.Exit


@app.callback(invoke_without_command=True)
def root(
    context: typer.Context,
    version: Annotated[
        bool, typer.Option("--version", callback=_show_version, is_eager=True, help="Show the version.")
    ] = False,
    debug: Annotated[
        bool, typer.Option("--debug", help="Show the traceback of an error (works with every command).")
    ] = False,
    verbose: Annotated[
        int,
        typer.Option(
            "--verbose", "-v", count=True, help="Tell what is done; -vv in detail (works with every command)."
        ),
    ] = 0,
) -> None:
    """Document vectors, topics, similar words and search from a pile of text.

    \b
    Start here:
      kate demo -o kate-demo            two centuries of speeches as an example
      kate fit reviews.csv -o model     learn from your own documents
      kate topics model                 what they are about
    """
    if context.invoked_subcommand is None:
        typer.echo(context.get_help())


def _without_debug(arguments: list[str]) -> tuple[list[str], bool]:
    """--debug works before and after the name of the command, but not after "--"."""
    end = arguments.index("--") if "--" in arguments else len(arguments)
    options, rest = arguments[:end], arguments[end:]
    return [option for option in options if option != "--debug"] + rest, "--debug" in options


def _without_verbosity(arguments: list[str]) -> tuple[list[str], int]:
    """-v, -vv and --verbose work before and after the name of the command, too; how often they were given."""
    end = arguments.index("--") if "--" in arguments else len(arguments)
    levels = {"-v": 1, "--verbose": 1, "-vv": 2}
    options, rest = arguments[:end], arguments[end:]
    kept = [option for option in options if option not in levels]
    return kept + rest, sum(levels.get(option, 0) for option in options)


def _report(error: Exception, arguments: Sequence[str] = ()) -> int:
    """Say in one line what went wrong; the exit code."""
    # an error of click, whichever version of it typer brings
    is_usage = hasattr(error, "format_message")
    if is_usage:
        context = getattr(error, "ctx", None)
        command = context.command_path if context is not None else "kate"
        _say(f"{_usage_message(error)} (see: {command} --help)")
        return int(getattr(error, "exit_code", USAGE))
    if isinstance(error, ImportError):
        command = next((name for name in arguments if name in COMMANDS), "")
        error = missing_package(error, f"kate {command}".strip()) or error
    full = _full_disk(error)
    if full:
        _say(full)
    elif isinstance(error, _EXPECTED):
        _say(_as_options(_message(error)))
    else:
        _say(f"{type(error).__name__}: {_message(error)} (this is a bug in Kate; --debug shows where)")
    return FAILURE


def _full_disk(error: Exception) -> str | None:
    """What a full disk is called, whichever library met it: Polars, LanceDB and usearch have errors of their own."""
    message = str(error)
    no_space = isinstance(error, OSError) and error.errno in (errno.ENOSPC, errno.EDQUOT, errno.EFBIG)
    if not no_space and not _NO_SPACE.search(message):
        return None
    where = f"{error.filename}: " if isinstance(error, OSError) and error.filename else ""
    return f"{where}no space is left on the disk (or a limit on files is reached); what was there before is unharmed"


def _usage_message(error: Any) -> str:
    message = " ".join(str(error.format_message()).split()).rstrip(".")
    return message[:1].lower() + message[1:]


def _message(error: Exception) -> str:
    # from the system: "[Errno 28] No space left on device"
    if isinstance(error, OSError) and error.strerror:
        return f"{error.filename}: {error.strerror}" if error.filename else error.strerror
    # str() of a KeyError is the repr of its message
    if isinstance(error, KeyError) and error.args:
        return str(error.args[0])
    return str(error) or type(error).__name__


_PARAMETER = re.compile(
    r"\b(text|id|label|title|format|encoding|on_error|language|stop_words|vocabulary_size|min_df|max_df|every|memory)"
    r"=(?:'([^']*)'|(None)\b|\.{3})"
)


def _as_options(message: str) -> str:
    """Parameters of the library as options of the command: on_error='skip' is --on-error skip."""

    def option(match: re.Match[str]) -> str:
        value = "none" if match[3] else match[2] if match[2] is not None else "FIELD"
        return f"--{match[1].replace('_', '-')} {value}"

    return _PARAMETER.sub(option, message)


def _say(message: str) -> None:
    say(message)


def _show_warning(message: Warning | str, *_: Any, **__: Any) -> None:
    _say(f"warning: {_as_options(str(message))}")


def _leave_quietly() -> int:
    """The reader has closed our output (``| head``): say nothing more, not even at exit."""
    # suppressed: standard output may be no real file
    with suppress(OSError, ValueError):
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
    return 0


def _write_any_character() -> None:
    """Show "?" for characters that the terminal does not have, instead of failing."""
    for stream in (sys.stdout, sys.stderr):
        reconfigure = getattr(stream, "reconfigure", None)
        if reconfigure is not None:
            reconfigure(errors="replace")
