"""The command line. Bad input gets one line on standard error and exit code 2."""

import sys
from typing import Any

import typer

from unclass.cli.audit import audit
from unclass.cli.bench import bench
from unclass.cli.compare import compare, demo
from unclass.cli.console import as_options, error_console
from unclass.cli.doctor import doctor
from unclass.cli.evaluate import evaluate
from unclass.cli.figures import figures
from unclass.cli.forget import forget
from unclass.cli.glossary import glossary
from unclass.cli.listing import list_
from unclass.cli.methods import methods
from unclass.cli.paper import paper
from unclass.cli.results import results
from unclass.cli.train import train
from unclass.errors import InputError
from unclass.training import distributed

UsageError: Any = typer.BadParameter.__base__  # click's, wherever this version of typer keeps it
INTERRUPTED = 130

app = typer.Typer(
    help="Make a trained image classifier forget a class, and see how close that comes to retraining.\n\n"
    "Start with: unclass demo. Words such as D_r or ASR: unclass glossary",
    add_completion=False,
    rich_markup_mode=None,
    pretty_exceptions_enable=False,
)
app.command()(demo)
app.command()(train)
app.command()(doctor)
app.command()(forget)
app.command()(evaluate)
app.command()(compare)
app.command()(audit)
app.command()(bench)
app.command()(figures)
app.command()(paper)
app.command()(results)
app.command()(methods)
app.command(name="list")(list_)
app.command()(glossary)


def main() -> None:
    """Run a command and leave with its exit code."""
    sys.exit(run(sys.argv[1:]))


def run(arguments: list[str]) -> int:
    """Run a command and return its exit code: 0 done, 1 failed, 2 bad input."""
    try:
        distributed.start()
        code = int(app(arguments or ["--help"], prog_name="unclass", standalone_mode=False) or 0)
        if code == INTERRUPTED:  # typer turns Ctrl-C into it
            raise KeyboardInterrupt
        return code
    except InputError as error:
        return _bad_input(str(error))
    except OSError as error:
        if error.filename is None:
            raise
        return _bad_input(f"{error.filename}: {error.strerror}; choose another path")
    except (KeyboardInterrupt, typer.Abort):
        return _bad_input("interrupted; run the same command again to go on", code=INTERRUPTED)
    except typer.Exit as stop:
        return stop.exit_code
    except UsageError as error:
        command = arguments[0] if arguments and not arguments[0].startswith("-") else ""
        return _bad_input(f"{error.format_message()} (see: {' '.join(['unclass', command]).strip()} --help)")


def _bad_input(message: str, code: int = 2) -> int:
    error_console.print("error: ", end="", style="bold red", markup=False)
    error_console.print(as_options(" ".join(message.split())), markup=False, soft_wrap=True)
    return code
