"""unclass report."""

from pathlib import Path
from typing import Annotated

import typer

from unclass.audits.result import Audit
from unclass.cli import options as o
from unclass.cli.console import give_json, say
from unclass.errors import InputError
from unclass.storage import require_absent


def report(
    audit: Annotated[Path, typer.Argument(help="audit.json of unclass audit.", show_default=False)],
    out: Annotated[Path, typer.Option(help="The page to write.")] = Path("report.html"),
    force: o.Force = False,
    json_: o.Json = False,
) -> None:
    """Make the page of an audit again, from audit.json alone.

    Example: unclass report audit/audit.json --out report.html
    """
    if out.suffix.lower() not in (".html", ".htm"):
        raise InputError(f"a page is not written as {out.suffix or out.name!r}; end the name of --out in .html")
    require_absent(out, force)
    found = Audit.read(audit)
    written = found.save(out)
    if json_:
        give_json({"out": str(written), "verdict": found.verdict.status})
        return
    say(f"{found.verdict.sentence}\nreport: {written}")
