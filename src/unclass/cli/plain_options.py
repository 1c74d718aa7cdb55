"""Options of commands that look things up or verify: explained without importing torch, so that nobody waits for it."""

from pathlib import Path
from typing import Annotated

import typer

Classes = Annotated[list[str], typer.Option("--class", help="Class to forget, by name or index; 3,4 for several.")]
Json = Annotated[bool, typer.Option("--json", help="Print JSON for machines, nothing else.")]
Force = Annotated[bool, typer.Option("--force", help="Replace what is there.")]
LedgerFile = Annotated[
    Path | None, typer.Option("--ledger", help="The ledger's file; by default UNCLASS_LEDGER.", show_default=False)
]
Operator = Annotated[
    str | None, typer.Option(help="Who does this; by default UNCLASS_OPERATOR, else the user.", show_default=False)
]
SigningKey = Annotated[
    Path | None,
    typer.Option("--signing-key", help="Private key to sign with; by default UNCLASS_SIGNING_KEY.", show_default=False),
]
