"""The command line. Bad input gets one line on standard error and exit code 2."""

import errno
import os
import sys
import traceback
from contextlib import suppress
from functools import cache
from itertools import pairwise
from pathlib import Path
from typing import Any

import typer

from unclass.cli.commands import COMMANDS, described, imported, make_app
from unclass.cli.console import as_options, error_console
from unclass.errors import InputError
from unclass.training import processes

UsageError: Any = typer.BadParameter.__base__  # click's, wherever this version of typer keeps it
INTERRUPTED, BROKEN_PIPE = 130, 141
COMPLETING = "_UNCLASS_COMPLETE"  # typer's name for it
EVERYWHERE = ("--quiet", "-q", "--verbose", "-v", "--debug")


def main() -> None:
    """Run a command and leave with its exit code."""
    sys.exit(run(sys.argv[1:]))


def run(arguments: list[str]) -> int:
    """Run a command and return its exit code: 0 done, 1 failed, 2 bad input, 130 interrupted, 141 nobody reads on."""
    arguments = _general_first(arguments)
    debug = "--debug" in arguments
    try:
        _check_out(arguments)
        _check_place()
        code = _call(arguments)
        sys.stdout.flush()
        return code
    except BrokenPipeError:
        return _silent(BROKEN_PIPE)
    except InputError as error:
        return _bad_input(str(error), debug)
    except (KeyboardInterrupt, typer.Abort):
        return _bad_input("interrupted; run the same command again to go on", code=INTERRUPTED)
    except UsageError as error:
        known = [name for name in arguments if name in COMMANDS]
        see = " ".join(["unclass", *known[:1], "--help"])
        return _bad_input(f"{error.format_message()} (see: {see})", debug)
    except Exception as error:  # whatever it is, the user gets one line and we get the file that it names
        from unclass.cli.failures import explain

        if getattr(error, "errno", None) in (errno.ENOSPC, errno.EFBIG) and not getattr(error, "filename", None):
            _silent(0)  # it may have been standard output that is full
        try:
            return _bad_input(explain(error), debug)
        except Exception:  # not even memory for saying it, or a library that is broken
            what = (
                f"error: {type(error).__name__}: {' '.join(str(error).split())[:200]}; there may be too little memory\n"
            )
            os.write(2, what.encode("utf-8", "backslashreplace"))
            return 2


def _call(arguments: list[str]) -> int:
    """Call the command line, and return its exit code however it leaves."""
    try:
        if is_overview(arguments):
            app: Any = typer.main.get_command(make_app(described))
            code = int(app(arguments, prog_name="unclass", standalone_mode=False) or 0)
        else:
            code = _run_command(arguments)
    except typer.Exit as stop:
        code = stop.exit_code
    except SystemExit as stop:  # a library's, such as click's on a closed pipe
        if isinstance(stop.__context__, BrokenPipeError):
            raise stop.__context__ from None
        code = stop.code if isinstance(stop.code, int) else 1
    if code == INTERRUPTED:  # typer turns Ctrl-C into it
        raise KeyboardInterrupt
    return code


def _run_command(arguments: list[str]) -> int:
    from unclass.cli.settings import has_file, read_defaults

    if processes.launched() > 1:
        from unclass.training import distributed

        distributed.start()
    if {"-v", "--verbose"} & set(arguments):
        from unclass.cli.verbose import tell_place

        tell_place()
    if is_completing():
        return _complete()
    asked = next((one for one in arguments if one not in EVERYWHERE), "")
    alone = asked in COMMANDS and not has_file()
    app, commands = (only(asked), [asked]) if alone else (command_line(), list(COMMANDS))
    defaults = read_defaults({name: app.commands[name] for name in commands})
    return int(app(arguments, prog_name="unclass", standalone_mode=False, default_map=defaults) or 0)


def _complete() -> int:
    """Tell a shell what could come next; only the command that its line names already is imported for that."""
    line = os.environ.get("COMP_WORDS") or os.environ.get("_TYPER_COMPLETE_ARGS") or ""
    asked = next((word for word in line.split()[1:] if word in COMMANDS), "")
    app: Any = only(asked) if asked else typer.main.get_command(make_app(described))
    return int(app([], prog_name="unclass", standalone_mode=False) or 0)


@cache
def command_line() -> Any:
    """Return the command line with all commands, which brings in everything."""
    return typer.main.get_command(make_app(imported))


@cache
def only(name: str) -> Any:
    """Return the command line with one command that can be run: what it does not need is not imported."""
    return typer.main.get_command(make_app(lambda row: imported(row) if row is COMMANDS[name] else described(row)))


def is_completing() -> bool:
    """Whether a shell asks what could come next; other programs have variables of such names for themselves."""
    return COMPLETING in os.environ


def is_overview(arguments: list[str]) -> bool:
    """Whether no command is asked for but what there is, or the version; a shell that completes asks for more."""
    asked = [one for one in arguments if one not in EVERYWHERE]
    return not is_completing() and processes.launched() == 1 and asked in ([], ["--help"], ["--version"])


def _check_place() -> None:
    """Raise if the current folder was removed: libraries that look for theirs from there would end the process."""
    try:
        Path.cwd()
    except OSError as error:
        raise InputError("the current folder is no longer there; change into one that is") from error


def _check_out(arguments: list[str]) -> None:
    """Raise if `--out` is empty, as a variable of the shell may be: it would be read as the current folder."""
    if "--out=" in arguments or ("--out", "") in pairwise(arguments):
        raise InputError("`out` is empty; give the name of a file or folder")


def _general_first(arguments: list[str]) -> list[str]:
    """Move options that every command has to the front, where the command line expects them."""
    end = arguments.index("--") if "--" in arguments else len(arguments)
    given, rest = arguments[:end], arguments[end:]
    return [*(one for one in given if one in EVERYWHERE), *(one for one in given if one not in EVERYWHERE), *rest]


def _bad_input(message: str, debug: bool = False, code: int = 2) -> int:
    if debug:
        traceback.print_exc()
    with suppress(OSError):  # nobody reads on
        error_console.print("error: ", end="", style="bold red", markup=False)
        error_console.print(as_options(" ".join(message.split())), markup=False, soft_wrap=True)
    return code


def _silent(code: int) -> int:
    """Discard what Python still writes to standard output when its reader has gone."""
    with suppress(OSError, ValueError):
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
    return code
