"""The application: how every command ends. An error is one line; the exit codes are 0, 1, 2 and 130."""

from __future__ import annotations

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
from kate.cli.output import say

__all__ = ["app"]

FAILURE, USAGE, INTERRUPTED = 1, 2, 130
# What the library raises about wrong input. Anything else is a bug in Kate, and is reported as one.
_EXPECTED = (OSError, ValueError, LookupError, ImportError, MemoryError, ArithmeticError)


class Commands(TyperGroup):
    """All commands run through :meth:`main`, so that all end in the same way."""

    def main(self, args: Sequence[str] | None = None, *_: Any, **__: Any) -> NoReturn:
        arguments = list(sys.argv[1:] if args is None else args)
        arguments, debug = _without_debug(arguments)
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
            return _report(error)
        return 0


app = typer.Typer(
    cls=Commands,
    name="kate",
    # plain help: the same in a terminal, in a pipe and in a manual
    rich_markup_mode=None,
    add_completion=False,
    context_settings={"help_option_names": ["-h", "--help"]},
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


def _report(error: Exception) -> int:
    """Say in one line what went wrong; the exit code."""
    # an error of click, whichever version of it typer brings
    is_usage = hasattr(error, "format_message")
    if is_usage:
        context = getattr(error, "ctx", None)
        command = context.command_path if context is not None else "kate"
        _say(f"{_usage_message(error)} (see: {command} --help)")
        return int(getattr(error, "exit_code", USAGE))
    if isinstance(error, _EXPECTED):
        _say(_as_options(_message(error)))
    else:
        _say(f"{type(error).__name__}: {_message(error)} (this is a bug in Kate; --debug shows where)")
    return FAILURE


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
    r"\b(text|id|label|title|format|encoding|on_error|language|stop_words|vocabulary_size|min_df|max_df|every)"
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
