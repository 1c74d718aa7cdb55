"""unclass keys."""

import os
from pathlib import Path
from typing import Annotated

import typer

from unclass.cli.console import note, say

keys_app = typer.Typer(help="Keys that sign evidence.\n\nExample: unclass keys new", rich_markup_mode=None)


@keys_app.callback()
def _keys() -> None:
    """Keys that sign evidence."""


@keys_app.command("new")
def new(
    out: Annotated[Path, typer.Option(help="Private key; the public one ends in .pub.")] = Path("signing.pem"),
    kind: Annotated[
        str, typer.Option(help="ec-p256, or ed25519, which OpenSSF Model Signing does not take for weights.")
    ] = "ec-p256",
) -> None:
    """Make a key to sign evidence with. A password is taken from UNCLASS_KEY_PASSWORD.

    Example: unclass keys new --out signing.pem
    """
    from unclass.ledger.keys import PASSWORD, fingerprint, new_key, public_key

    private, public = new_key(out, kind, os.environ.get(PASSWORD))
    say(f"{private}: keep it secret; {public}: give it to whoever is to verify")
    note(f"fingerprint {fingerprint(public_key(public))}")
