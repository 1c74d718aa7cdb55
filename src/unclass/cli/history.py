"""unclass history, rollback, status."""

from typing import Annotated

import typer

from unclass.cli import plain_options as o
from unclass.cli.console import give_json, note, say
from unclass.cli.plain_options import LedgerFile, Operator

ModelName = Annotated[str, typer.Argument(metavar="MODEL", help="By name, or a file that is one of its versions.")]


def history(model: ModelName, ledger: LedgerFile = None, json_: o.Json = False) -> None:
    """Show the versions of a model and how each came to be.

    Example: unclass history digits
    """
    from unclass.ledger.history import history as versions
    from unclass.ledger.store import Ledger, ledger_path

    with Ledger(ledger_path(ledger)) as opened:
        found = versions(opened, model)
    if json_:
        give_json(found)
        return
    for one in found:
        made = one["erasure"]
        how = f"{made['request']}: {made['status']}" if made else "put in"
        state = "in service" if one["in_service"] else "destroyed" if one["destroyed"] else "kept"
        without = f"  without {', '.join(one['forgotten'])}" if one["forgotten"] else ""
        without += "".join(f"  still knows {100 * share:.0f} % of {name}" for name, share in one["still_known"].items())
        without += f"  without {one['forgotten_images']} images" if one["forgotten_images"] else ""
        without += f"  still knows {one['still_known_images']} images" if one["still_known_images"] else ""
        say(f"{one['number']:>3}  {state:<10} {one['created'][:10]}  {one['sha256'][:16]}  {how}{without}")


def rollback(
    model: ModelName,
    to: Annotated[int | None, typer.Option(help="Which version; the one before if not given.")] = None,
    ledger: LedgerFile = None,
    operator: Operator = None,
    json_: o.Json = False,
) -> None:
    """Put an earlier version into service. Requests that it has not answered are open again.

    Example: unclass rollback digits --to 1
    """
    from unclass.ledger.models import roll_back
    from unclass.ledger.store import Ledger, ledger_path, whoever

    with Ledger(ledger_path(ledger)) as opened:
        version, reopened = roll_back(opened, model, to, operator or whoever())
    if json_:
        give_json({**version.as_dict(), "open_again": reopened})
        return
    say(f"{version.model}: version {version.number} is in service ({version.sha256[:16]})")
    if reopened:
        note(f"open again, since this version still knows what they ask for: {', '.join(reopened)}")


def status(ledger: LedgerFile = None, json_: o.Json = False) -> int:
    """Say how things stand. Exit code 1: a request is overdue or failed, or a file is missing.

    Example: unclass status --json
    """
    from unclass.ledger.history import status as current
    from unclass.ledger.store import Ledger, ledger_path

    with Ledger(ledger_path(ledger)) as opened:
        found = current(opened)
    if json_:
        give_json(found.as_dict())
        return 0 if found.is_well else 1
    lines = [f"overdue: {one.id}, due {one.due}: {one.wish()} in {one.model}" for one in found.overdue]
    lines += [f"failed: {one.id}: {one.wish()} in {one.model}" for one in found.failed]
    lines += [f"missing: {one}" for one in found.lost]
    lines.append("requests: " + (", ".join(f"{count} {state}" for state, count in found.counts.items()) or "none"))
    lines += [
        f"{one['name']}: version {one['number']} in service, {one['held']} of {one['versions']} versions kept, "
        f"{one['open_requests']} open requests"
        for one in found.models
    ]
    typer.echo("\n".join(lines))  # as it is: rich takes its time over thousands of lines
    return 0 if found.is_well else 1
