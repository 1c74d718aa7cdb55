"""unclass verify."""

from pathlib import Path
from typing import Annotated

import typer

from unclass.cli import plain_options as o
from unclass.cli.console import give_json, note, say
from unclass.errors import InputError


def verify(
    pack: Annotated[Path, typer.Argument(help="Folder or zip that unclass erase made.", show_default=False)],
    key: Annotated[
        Path | None, typer.Option(help="Public key of the signer; without it the pack vouches for itself only.")
    ] = None,
    model: Annotated[
        Path | None, typer.Option("--model-file", help="Is this file the unlearned model of the pack?")
    ] = None,
    identity: Annotated[
        str | None, typer.Option(help="Who must have signed the weights by sigstore; asks its servers.")
    ] = None,
    provider: Annotated[
        str | None,
        typer.Option("--identity-provider", help="Who vouches for --identity, such as its log-in's address."),
    ] = None,
    json_: o.Json = False,
) -> int:
    """Check that every byte of an evidence pack is what was signed. Exit code 1: it is not, and which is named.

    Example: unclass verify packs/R-1 --key signing.pub
    """
    from unclass.ledger.verify import verify_pack

    if (identity is None) != (provider is None):
        raise InputError("an identity is known by its provider only; give both --identity and --identity-provider")
    found = verify_pack(pack, key, model, (identity, provider) if identity and provider else None)
    if json_:
        flaws = [{"file": flaw.file, "what": flaw.what} for flaw in found.flaws]
        give_json({"holds": found.holds, "flaws": flaws, "signer": found.signer, "manifest": found.manifest})
        return 0 if found.holds else 1
    for flaw in found.flaws:
        say(f"not as signed: {flaw}")
    if found.holds:
        request, verdict = found.manifest["request"], found.manifest["verdict"]
        say(f"{pack}: as signed by {found.signer[:16]}; {request['id']}: {request['asks_for']}; {verdict['sentence']}")
    if key is None and found.signer:
        note(f"checked with the pack's own key; compare its fingerprint with one you trust: {found.signer}")
    return 0 if found.holds else 1
