"""Where commands print: results to standard output, the rest to standard error; colour only on a terminal."""

import json
from typing import Any

import typer
from rich.console import Console

from unclass.training import distributed

error_console = Console(stderr=True, highlight=False)


def say(message: Any) -> None:
    """Print a result for people; text is never broken, and tables have room where there is no terminal to fit."""
    if distributed.is_first():
        console = Console(highlight=False)
        if not console.is_terminal:
            console.width = 140
        console.print(message, markup=False, soft_wrap=isinstance(message, str))


def note(message: str) -> None:
    """Print a remark that is no result."""
    if distributed.is_first():
        error_console.print(message, markup=False, style="dim", soft_wrap=True)


def give_json(value: Any) -> None:
    """Print a result for machines."""
    if distributed.is_first():
        typer.echo(json.dumps(value, indent=2, ensure_ascii=False))
