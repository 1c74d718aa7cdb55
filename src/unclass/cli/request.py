"""unclass request: add, list, withdraw."""

from pathlib import Path
from typing import Annotated

import typer

from unclass.cli import plain_options as o
from unclass.cli.console import give_json, say
from unclass.cli.plain_options import LedgerFile, Operator

request_app = typer.Typer(
    help="Erasure requests: add, list, withdraw.\n\nExample: unclass request add --class 3", rich_markup_mode=None
)


@request_app.command("add")
def add(
    classes: o.Classes = [],
    forget_list: Annotated[
        Path | None,
        typer.Option(help="File that names the images to erase, by path or index in the data.", show_default=False),
    ] = None,
    model: Annotated[str | None, typer.Option(help="Which model; not needed where there is one.")] = None,
    received: Annotated[str | None, typer.Option(help="The day it came in; by default today.")] = None,
    due: Annotated[str | None, typer.Option(help="The day it is due; by default a month later.")] = None,
    ground: Annotated[str, typer.Option(help="Legal ground, such as 'GDPR Art. 17(1)(b)'.")] = "",
    about: Annotated[str, typer.Option("--note", help="Anything worth knowing; stays in the ledger.")] = "",
    id_: Annotated[str | None, typer.Option("--id", help="A name of your own; by default R-1, R-2, …")] = None,
    ledger: LedgerFile = None,
    operator: Operator = None,
    json_: o.Json = False,
) -> None:
    """Write down a request that came in.

    Example: unclass request add --class 3 --received 2026-11-02 --ground 'GDPR Art. 17(1)(b)'
    """
    from unclass.ledger.requests import add_request, day_of
    from unclass.ledger.store import Ledger, ledger_path, whoever
    from unclass.storage.reading import read_list

    with Ledger(ledger_path(ledger)) as opened:
        request = add_request(
            opened, model=model, classes=classes, images=[] if forget_list is None else read_list(forget_list),
            received=None if received is None else day_of(received, "--received"),
            due=None if due is None else day_of(due, "--due"),
            ground=ground, note=about, operator=operator or whoever(), id=id_,
        )  # fmt: skip
    if json_:
        give_json(request.as_dict())
    else:
        say(f"{request.id}: {request.wish()}, due {request.due}")


@request_app.command("list")
def list_(
    model: Annotated[str | None, typer.Option(help="Only those for this model.")] = None,
    only_open: Annotated[bool, typer.Option("--open", help="Only those that are not settled.")] = False,
    ledger: LedgerFile = None,
    json_: o.Json = False,
) -> None:
    """List requests, the most urgent first.

    Example: unclass request list --open
    """
    from unclass.ledger.requests import list_requests
    from unclass.ledger.store import Ledger, ledger_path

    with Ledger(ledger_path(ledger)) as opened:
        found = list_requests(opened, model=model, only_open=only_open)
    if json_:
        give_json([request.as_dict() for request in found])
        return
    lines = [
        f"{one.id:<12} {'overdue' if one.overdue() else one.state:<10} due {one.due}  {one.model:<16} {one.wish()}"
        for one in found
    ]
    typer.echo("\n".join(lines) or "there is no request")  # as it is: rich takes its time over thousands of lines


@request_app.command("withdraw")
def withdraw(
    id_: Annotated[str, typer.Argument(metavar="REQUEST", help="Which request.", show_default=False)],
    ledger: LedgerFile = None,
    operator: Operator = None,
) -> None:
    """Close a request that its author took back.

    Example: unclass request withdraw R-2
    """
    from unclass.ledger.requests import withdraw as take_back
    from unclass.ledger.store import Ledger, ledger_path, whoever

    with Ledger(ledger_path(ledger)) as opened:
        say(f"{take_back(opened, id_, operator or whoever()).id}: withdrawn")
