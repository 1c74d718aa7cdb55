"""unclass list."""

from typing import Any

from rich.table import Table

from unclass.cli import options as o
from unclass.cli.console import give_json, say
from unclass.data import DATA, OWN
from unclass.methods import Method
from unclass.methods.configure import explanations, options_of
from unclass.methods.lookup import known_methods
from unclass.models import MODELS, SPECS


def list_(json_: o.Json = False) -> None:
    """List methods, and what --data and --model may be.

    Example: unclass list
    """
    methods = {name: _describe(kind) for name, kind in known_methods().items()}
    if json_:
        give_json({"methods": methods, "data": [*DATA, *OWN], "models": [*MODELS, *SPECS]})
        return
    table = Table(title="Methods", title_justify="left", show_lines=True)
    for column in ("name", "reads", "what it does", "options", "presets"):
        table.add_column(column, overflow="fold", no_wrap=column == "name")
    for name, about in methods.items():
        options = ", ".join(f"{key}={value}" for key, value in about["options"].items())
        table.add_row(name, about["needs"], about["summary"], options, ", ".join(about["presets"]))
    say(table)
    say("Each option in a line: unclass methods NAME")
    say(f"Data:   {', '.join([*DATA, *OWN])}")
    say(f"Models: {', '.join([*MODELS, *SPECS])}")


def _describe(kind: type[Method]) -> dict[str, Any]:
    return {
        "needs": kind().needs.words(),
        "summary": (kind.__doc__ or "").strip().split("\n")[0],
        "options": options_of(kind()),
        "help": explanations(kind),
        "presets": list(kind.presets),
    }
