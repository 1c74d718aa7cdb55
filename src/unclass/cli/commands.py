"""The table of commands. A new command is one file and one row here.

Commands bring in torch, which takes a second. The overview (`unclass --help`) needs their first lines only and reads
these from the files, so that nobody waits for it.
"""

import ast
from collections.abc import Callable
from importlib import import_module
from pathlib import Path
from typing import Annotated, Any, NamedTuple

import typer

import unclass
from unclass.cli.console import say, set_loudness

WORDS = "What D_r, D_f, D_rt, D_ft, ASR and the other words mean: unclass glossary"


class Command(NamedTuple):
    """Where a command stands: the file in this folder and the name in it, and what its help ends with."""

    file: str
    name: str
    epilog: str | None = None


COMMANDS = {
    "demo": Command("compare", "demo", WORDS),
    "train": Command("train", "train"),
    "doctor": Command("doctor", "doctor"),
    "forget": Command("forget", "forget", WORDS),
    "evaluate": Command("evaluate", "evaluate", WORDS),
    "compare": Command("compare", "compare", WORDS),
    "audit": Command("audit", "audit", WORDS),
    "request": Command("request", "request_app"),
    "erase": Command("erase", "erase"),
    "history": Command("history", "history"),
    "rollback": Command("history", "rollback"),
    "status": Command("history", "status"),
    "verify": Command("verify", "verify"),
    "keys": Command("keys", "keys_app"),
    "ledger": Command("ledger", "ledger_app"),
    "report": Command("report", "report", WORDS),
    "limits": Command("limits", "limits"),
    "bench": Command("bench", "bench"),
    "figures": Command("figures", "figures"),
    "paper": Command("paper", "paper", WORDS),
    "results": Command("results", "results"),
    "leaderboard": Command("leaderboard", "leaderboard", WORDS),
    "methods": Command("methods", "methods", WORDS),
    "tune": Command("tune", "tune", WORDS),
    "list": Command("listing", "list_"),
    "glossary": Command("glossary", "glossary"),
}


def make_app(load: Callable[[Command], Any]) -> typer.Typer:
    """Return the command line with the commands that `load` makes of the table's rows."""
    app = typer.Typer(
        help="Make a trained image classifier forget a class, and see how close that comes to retraining.\n\n"
        "Start with: unclass demo. Words such as D_r or ASR: unclass glossary",
        rich_markup_mode=None,
        pretty_exceptions_enable=False,
    )
    for name, row in COMMANDS.items():
        found = load(row)
        if isinstance(found, typer.Typer):
            app.add_typer(found, name=name)
        else:
            app.command(name=name, epilog=row.epilog)(found)
    app.callback(invoke_without_command=True)(_everywhere)
    return app


def imported(row: Command) -> Any:
    """Return a command to be run."""
    return getattr(import_module(f"unclass.cli.{row.file}"), row.name)


def described(row: Command) -> Any:
    """Return what stands for a command in the overview: it has its help, and that without being imported."""

    def stand_in() -> None: ...

    tree = ast.parse((Path(__file__).parent / f"{row.file}.py").read_text(encoding="utf-8"))
    for node in tree.body:
        if isinstance(node, ast.FunctionDef) and node.name == row.name:
            stand_in.__doc__ = ast.get_docstring(node)
        if isinstance(node, ast.Assign) and [ast.unparse(one) for one in node.targets] == [row.name]:
            assert isinstance(node.value, ast.Call)
            words = {one.arg: one.value for one in node.value.keywords}
            stand_in.__doc__ = ast.literal_eval(words["help"])
    return stand_in


def _everywhere(
    context: typer.Context,
    version: Annotated[bool, typer.Option("--version", help="Print the version and leave.")] = False,
    quiet: Annotated[bool, typer.Option("--quiet", "-q", help="Print results, warnings and errors only.")] = False,
    verbose: Annotated[bool, typer.Option("--verbose", "-v", help="Also say what is read and written.")] = False,
    debug: Annotated[bool, typer.Option("--debug", help="Show the traceback of an error.")] = False,
) -> None:
    if version:
        say(f"unclass {unclass.__version__}")
        raise typer.Exit
    set_loudness(quiet=quiet, verbose=verbose or debug)
    if context.invoked_subcommand is None:
        say(context.get_help())
