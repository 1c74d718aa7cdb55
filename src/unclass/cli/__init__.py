"""The command line. Bad input gets one line on standard error and exit code 2."""

import errno
import os
import sys
import traceback
from contextlib import suppress
from functools import cache
from typing import Annotated, Any

import typer

import unclass
from unclass.cli.audit import audit
from unclass.cli.bench import bench
from unclass.cli.compare import compare, demo
from unclass.cli.console import as_options, error_console, say, set_loudness
from unclass.cli.doctor import doctor
from unclass.cli.erase import erase
from unclass.cli.evaluate import evaluate
from unclass.cli.failures import explain
from unclass.cli.figures import figures
from unclass.cli.forget import forget
from unclass.cli.glossary import glossary
from unclass.cli.history import history, rollback, status
from unclass.cli.keys import keys_app
from unclass.cli.ledger import ledger_app
from unclass.cli.limits import limits
from unclass.cli.listing import list_
from unclass.cli.methods import methods
from unclass.cli.paper import paper
from unclass.cli.report import report
from unclass.cli.request import request_app
from unclass.cli.results import results
from unclass.cli.settings import read_defaults
from unclass.cli.train import train
from unclass.cli.tune import tune
from unclass.cli.verify import verify
from unclass.errors import InputError
from unclass.training import distributed

UsageError: Any = typer.BadParameter.__base__  # click's, wherever this version of typer keeps it
INTERRUPTED, BROKEN_PIPE = 130, 141
WORDS = "What D_r, D_f, D_rt, D_ft, ASR and the other words mean: unclass glossary"
EVERYWHERE = ("--quiet", "-q", "--verbose", "-v", "--debug")

app = typer.Typer(
    help="Make a trained image classifier forget a class, and see how close that comes to retraining.\n\n"
    "Start with: unclass demo. Words such as D_r or ASR: unclass glossary",
    rich_markup_mode=None,
    pretty_exceptions_enable=False,
)
app.command(epilog=WORDS)(demo)
app.command()(train)
app.command()(doctor)
app.command(epilog=WORDS)(forget)
app.command(epilog=WORDS)(evaluate)
app.command(epilog=WORDS)(compare)
app.command(epilog=WORDS)(audit)
app.command(epilog=WORDS)(report)
app.command(epilog=WORDS)(limits)
app.add_typer(request_app, name="request")
app.command()(erase)
app.command()(history)
app.command()(rollback)
app.command()(status)
app.command()(verify)
app.add_typer(keys_app, name="keys")
app.add_typer(ledger_app, name="ledger")
app.command()(bench)
app.command()(figures)
app.command(epilog=WORDS)(paper)
app.command()(results)
app.command(epilog=WORDS)(methods)
app.command(epilog=WORDS)(tune)
app.command(name="list")(list_)
app.command()(glossary)


@app.callback(invoke_without_command=True)
def _everywhere(
    context: typer.Context,
    version: Annotated[bool, typer.Option("--version", help="Print the version and leave.")] = False,
    quiet: Annotated[bool, typer.Option("--quiet", "-q", help="Print results and errors only.")] = False,
    verbose: Annotated[bool, typer.Option("--verbose", "-v", help="Also say what is read and written.")] = False,
    debug: Annotated[bool, typer.Option("--debug", help="Show the traceback of an error.")] = False,
) -> None:
    if version:
        say(f"unclass {unclass.__version__}")
        raise typer.Exit
    set_loudness(quiet=quiet, verbose=verbose or debug)
    if context.invoked_subcommand is None:
        say(context.get_help())


def main() -> None:
    """Run a command and leave with its exit code."""
    sys.exit(run(sys.argv[1:]))


def run(arguments: list[str]) -> int:
    """Run a command and return its exit code: 0 done, 1 failed, 2 bad input, 130 interrupted, 141 nobody reads on."""
    arguments = _general_first(arguments)
    debug = "--debug" in arguments
    try:
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
        known = [name for name in arguments if name in command_line().commands]
        see = " ".join(["unclass", *known[:1], "--help"])
        return _bad_input(f"{error.format_message()} (see: {see})", debug)
    except Exception as error:  # whatever it is, the user gets one line and we get the file that it names
        if getattr(error, "errno", None) in (errno.ENOSPC, errno.EFBIG) and not getattr(error, "filename", None):
            _silent(0)  # it may have been standard output that is full
        return _bad_input(explain(error), debug)


def _call(arguments: list[str]) -> int:
    """Call the command line, and return its exit code however it leaves."""
    try:
        distributed.start()
        defaults = {} if "--version" in arguments else read_defaults(command_line().commands)
        code = int(command_line()(arguments, prog_name="unclass", standalone_mode=False, default_map=defaults) or 0)
    except typer.Exit as stop:
        code = stop.exit_code
    except SystemExit as stop:  # a library's, such as click's on a closed pipe
        if isinstance(stop.__context__, BrokenPipeError):
            raise stop.__context__ from None
        code = stop.code if isinstance(stop.code, int) else 1
    if code == INTERRUPTED:  # typer turns Ctrl-C into it
        raise KeyboardInterrupt
    return code


@cache
def command_line() -> Any:
    """Return all commands with their options, made once."""
    return typer.main.get_command(app)


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
    """Let Python's last words to standard output, which nobody can read, go nowhere."""
    with suppress(OSError, ValueError):
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
    return code
