"""unclass erase."""

from pathlib import Path
from typing import Annotated

import typer

from unclass.arguments import DEFAULT_METHOD
from unclass.cli import options as o
from unclass.cli.console import give_json, note, say
from unclass.cli.plain_options import LedgerFile, Operator, SigningKey
from unclass.training.engine import Engine


@o.taking(engine=o.engine_options)
def erase(
    *,
    engine: Engine,
    request: Annotated[str, typer.Argument(metavar="REQUEST", help="Which request.", show_default=False)],
    signing_key: SigningKey = None,
    method: o.MethodName = DEFAULT_METHOD,
    preset: o.PresetName = None,
    set_: o.Set = [],
    retrained: Annotated[
        list[Path], typer.Option(help="Checkpoint trained without what is erased, to compare with; several times.")
    ] = [],
    accept: Annotated[str, typer.Option(help="Reason to put it into service although it did not pass its audit.")] = "",
    why: Annotated[str, typer.Option("--why-not-retrained", help="Reason not to train anew, for the regulator.")] = "",
    pictures: Annotated[bool, typer.Option("--pictures", help="Leave pictures in the evidence.")] = False,
    redact: Annotated[bool, typer.Option("--redact", help="Leave private paths out of the evidence.")] = False,
    zip_: Annotated[bool, typer.Option("--zip", help="Write the evidence as a zip.")] = False,
    sigstore: Annotated[
        bool, typer.Option("--sigstore", help="Also sign the weights with your identity by sigstore; asks its servers.")
    ] = False,
    seed: o.Seed = 0,
    batch_size: o.BatchSize = 64,
    ledger: LedgerFile = None,
    operator: Operator = None,
    json_: o.Json = False,
) -> int:
    """Do what a request asks for, from forgetting to evidence.

    It forgets, audits, writes the evidence and puts the new version into service. Interrupted at any moment, the same
    command goes on. Exit code 1: the audit did not pass, the old version stays.

    Example: unclass erase R-1 --signing-key signing.pem
    """
    from unclass.erasing.erase import erase as run_erase
    from unclass.erasing.job import Job
    from unclass.ledger.keys import is_exposed, key_path, private_key
    from unclass.ledger.pack import PackOptions
    from unclass.ledger.sigstore import sigstore_signer
    from unclass.ledger.store import Ledger, ledger_path, whoever

    key = key_path(signing_key)
    private_key(key)
    if is_exposed(key):
        note(f"warning: {key} can be read by others, who could sign in your name; chmod 600 it, or make a new one")
    if sigstore:
        sigstore_signer()  # before any work: where it cannot be reached that is said now
    job = Job(
        key, method, preset, o.method_options(set_), seed, batch_size, tuple(retrained), accept, why,
        PackOptions(pictures, redact, sigstore), zip_, o.with_progress(engine, json_),
    )  # fmt: skip
    with Ledger(ledger_path(ledger)) as opened:
        found = run_erase(opened, request, job, operator or whoever(), note)
    if json_:
        give_json(found.as_dict())
    else:
        say(found.sentence)
        if found.is_done:
            say(f"{request}: version {found.version} is in service; evidence: {found.pack}")
        else:
            say(f"{request}: the old version stays in service; try another --method or --seed, or --accept REASON")
    return 0 if found.is_done else 1
