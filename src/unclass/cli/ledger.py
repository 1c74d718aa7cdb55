"""unclass ledger: models put into service, taken out, shown and forgotten."""

from pathlib import Path
from typing import Annotated

import typer

from unclass.cli import options as o
from unclass.cli.console import give_json, note, say
from unclass.cli.plain_options import LedgerFile, Operator, SigningKey
from unclass.data import DataOptions
from unclass.errors import InputError
from unclass.models import Opening

ledger_app = typer.Typer(
    help="The ledger: models, page, retention.\n\nExample: unclass ledger page", rich_markup_mode=None
)


@ledger_app.command("add")
@o.taking(where=o.data_options, opening=o.opening_options)
def add(
    *,
    where: DataOptions,
    opening: Opening,
    model_file: Annotated[Path, typer.Argument(help="Checkpoint to put into service.", show_default=False)],
    data: o.Data,
    name: Annotated[str | None, typer.Option(help="The model's name in the ledger; by default the file's.")] = None,
    ledger: LedgerFile = None,
    operator: Operator = None,
    json_: o.Json = False,
) -> None:
    """Put a model into service: the first version of a name, or its next one. Starts the ledger if there is none.

    Example: unclass ledger add model.safetensors --data digits --ledger unclass.ledger
    """
    from unclass.erasing.work import open_version, settings_of
    from unclass.ledger.models import register
    from unclass.ledger.store import Ledger, ledger_path, whoever

    if not model_file.exists():
        raise InputError(f"there is no checkpoint {model_file}; give the one that is in service")
    settings = settings_of(data, where, opening)
    model, _ = open_version(model_file, settings)
    with Ledger(ledger_path(ledger), create=True) as opened:
        if opened.is_new:
            note(f"{opened.path} is a new ledger; its files are in {opened.folder}")
        version = register(
            opened, model_file, model.card.as_dict(), settings,
            name=name or model_file.stem, operator=operator or whoever(),
        )  # fmt: skip
    if json_:
        give_json(version.as_dict())
    else:
        say(f"{version.model}: version {version.number} is in service ({version.sha256[:16]})")


@ledger_app.command("take")
def take(
    model: Annotated[str, typer.Argument(help="A model by name, or a file that is one of its versions.")],
    out: Annotated[Path, typer.Option(help="File or folder to write.", show_default=False)],
    version: Annotated[int | None, typer.Option(help="Which version; by default the one in service.")] = None,
    ledger: LedgerFile = None,
    force: o.Force = False,
) -> None:
    """Write a version of a model to a file, such as for deployment.

    Example: unclass ledger take digits --out deployed.safetensors
    """
    from unclass.ledger.models import take as take_version
    from unclass.ledger.store import Ledger, ledger_path
    from unclass.storage import require_absent

    require_absent(out, force)
    with Ledger(ledger_path(ledger)) as opened:
        taken = take_version(opened, model, version, out)
    say(f"{out}: version {taken.number} of {taken.model} ({taken.sha256[:16]})")


@ledger_app.command("page")
def page(
    out: Annotated[Path, typer.Option(help="HTML file to write.")] = Path("ledger.html"),
    ledger: LedgerFile = None,
) -> None:
    """Write models, versions, requests and packs as one page.

    Example: unclass ledger page --out ledger.html
    """
    from unclass.ledger.page import write_page
    from unclass.ledger.store import Ledger, ledger_path

    with Ledger(ledger_path(ledger)) as opened:
        say(f"page: {write_page(opened, out)}")


@ledger_app.command("forget-originals")
def forget_originals(
    older_than: Annotated[str, typer.Option(help="Only for erasures older than this, such as 30d.")] = "30d",
    signing_key: SigningKey = None,
    ledger: LedgerFile = None,
    operator: Operator = None,
    json_: o.Json = False,
) -> None:
    """Destroy the versions that still know what was erased, once an erasure is old enough to be final.

    Example: unclass ledger forget-originals --older-than 30d
    """
    from unclass.ledger.keys import key_if_named
    from unclass.ledger.requests import days_of
    from unclass.ledger.retention import forget_originals as destroy_originals
    from unclass.ledger.store import Ledger, ledger_path, whoever

    with Ledger(ledger_path(ledger)) as opened:
        days = days_of(older_than, "--older-than")
        gone = destroy_originals(opened, days, operator or whoever(), key_if_named(signing_key))
    if json_:
        give_json(gone.as_dict())
        return
    for version in gone.versions:
        say(f"destroyed: version {version.number} of {version.model} ({version.sha256[:16]})")
    if not gone.versions:
        say(f"nothing to destroy: no erasure older than {older_than} has left an original")
    for one in gone.remains:
        note(f"remains: {one}")


@ledger_app.command("log")
def log(
    about: Annotated[str | None, typer.Argument(help="A model or request; everything if not given.")] = None,
    ledger: LedgerFile = None,
    json_: o.Json = False,
) -> None:
    """Print what was done, when and by whom.

    Example: unclass ledger log R-1
    """
    from unclass.ledger.history import events
    from unclass.ledger.store import Ledger, ledger_path

    with Ledger(ledger_path(ledger)) as opened:
        found = events(opened, about)
    if json_:
        give_json(found)
        return
    for one in found:
        say(f"{one['at']}  {one['operator']:<12} {one['what']:<10} {one['about']}  {one['detail']}")
