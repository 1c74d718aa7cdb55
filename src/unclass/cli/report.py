"""unclass report."""

from pathlib import Path
from typing import Annotated

import typer

from unclass.audits.result import Audit
from unclass.border.offline import in_one_line
from unclass.cli import options as o
from unclass.cli.console import give_json, say
from unclass.comparison import Comparison
from unclass.errors import InputError
from unclass.report.audit_page import write_report
from unclass.storage import require_absent

AUDIT = "audit.json"


def report(
    audit: Annotated[
        Path, typer.Argument(help="audit.json, or the folder of an audit or a comparison.", show_default=False)
    ],
    out: Annotated[Path, typer.Option(help="The page to write.")] = Path("report.html"),
    force: o.Force = False,
    json_: o.Json = False,
) -> None:
    """Make the page of an audit or a comparison again.

    It is made of what was written then; nothing is computed.

    Example: unclass report audit/audit.json --out report.html
    """
    if out.suffix.lower() not in (".html", ".htm"):
        raise InputError(f"a page is not written as {out.suffix or out.name!r}; end the name of --out in .html")
    require_absent(out, force)
    if audit.is_dir() and not (audit / AUDIT).exists():
        _of_comparison(audit, out, json_)
        return
    found = Audit.read(audit / AUDIT if audit.is_dir() else audit)
    with in_one_line(str(audit), "run the audit again", "shown"):
        written = found.save(out)
    if json_:
        give_json({"out": str(written), "verdict": found.verdict.status})
        return
    say(f"{found.verdict.sentence}\nreport: {written}")


def _of_comparison(folder: Path, out: Path, json_: bool) -> None:
    found = Comparison.read(folder)
    with in_one_line(str(folder), "compare again", "shown"):
        written = write_report(found.audits, out, found.rows, found.title, found.seeds)
    if json_:
        give_json({**found.as_dict(), "out": str(written)})
        return
    say(f"{found!r}\nreport: {written}")
