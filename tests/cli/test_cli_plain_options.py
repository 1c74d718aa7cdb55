"""Options of commands that only look things up cost nobody the import of torch."""

import subprocess
import sys
from typing import Any

import typer

from unclass.cli import options, plain_options

OWN = {name: one for name, one in vars(plain_options).items() if hasattr(one, "__metadata__")}


def declared(one: Any) -> typer.models.OptionInfo:
    (found,) = one.__metadata__
    return found  # type: ignore[no-any-return]


def test_torch_is_not_imported() -> None:
    asked = "import sys, unclass.cli.plain_options; print('torch' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", asked], capture_output=True, text=True).stdout == "False\n"


def test_each_is_an_option_with_a_sentence_of_help() -> None:
    assert {"Classes", "Json", "Force", "LedgerFile", "Operator", "SigningKey"} <= set(OWN)
    assert all(str(declared(one).help).endswith(".") for one in OWN.values())


def test_other_commands_take_the_same_ones() -> None:
    assert options.Json is plain_options.Json and options.Classes is plain_options.Classes
