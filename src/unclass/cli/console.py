"""Where commands print: results to standard output, the rest to standard error; colour only on a terminal."""

import json
import logging
import re
import sys
import warnings
from typing import Any

import typer
from rich.console import Console

from unclass import progress
from unclass.training import processes


class _Console(Console):
    """A console that raises when its reader has gone (a closed pipe), for the command line to deal with."""

    quiet_notes = False

    def on_broken_pipe(self) -> None:
        raise BrokenPipeError


error_console = _Console(stderr=True, highlight=False)


def set_loudness(*, quiet: bool, verbose: bool) -> None:
    """Say less than usual, results, warnings and errors only, or more: what is read and written, with the time."""
    error_console.quiet_notes = quiet
    progress.hush(quiet)
    if not verbose:
        warnings.filterwarnings("ignore", module="PIL")  # of damaged pictures, which are counted and named
    log = logging.getLogger("unclass")
    log.handlers.clear()
    log.setLevel(logging.INFO if verbose and not quiet else logging.WARNING)
    handler = logging.StreamHandler(sys.stderr)
    handler.setFormatter(logging.Formatter("%(asctime)s %(message)s", "%H:%M:%S"))
    log.addHandler(handler)
    for stream in (sys.stdout, sys.stderr):  # names of files need not be Unicode
        if hasattr(stream, "reconfigure"):
            stream.reconfigure(errors="backslashreplace")


def say(message: Any) -> None:
    """Print a result for people; text is never broken, and tables have room where there is no terminal to fit."""
    if processes.is_first():
        console = _Console(highlight=False)
        if not console.is_terminal:
            console.width = 140
        console.print(message, markup=False, soft_wrap=isinstance(message, str))


def note(message: str) -> None:
    """Print a remark that is no result; with --quiet only if it is a warning."""
    if processes.is_first() and (message.startswith("warning: ") or not error_console.quiet_notes):
        error_console.print(message, markup=False, style="dim", soft_wrap=True)


def give_json(value: Any) -> None:
    """Print a result for machines."""
    if processes.is_first():
        typer.echo(json.dumps(value, indent=2, ensure_ascii=False))


def as_options(message: str) -> str:
    """Say the arguments of the Python API, which messages name in backquotes, as the options that they are here."""
    if "`" not in message:
        return message
    from unclass.cli import command_line  # the commands print by this file

    try:
        commands = command_line().commands.values()
    except (ImportError, MemoryError):  # this may be what the message is about
        return message
    names: dict[str, str] = {}
    for command in commands:
        for option in [one for one in command.params if one.param_type_name == "option"]:
            names.setdefault(option.name.rstrip("_"), option.opts[-1])
            for without in option.secondary_opts:
                names.setdefault(without.strip("-").replace("-", "_"), without)
    return re.sub(r"`(\w+)`", lambda found: names.get(found[1], found[0]), message)
