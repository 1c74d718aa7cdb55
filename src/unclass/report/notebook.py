"""How results show themselves in a notebook: a few lines of HTML, no script, no picture."""

from collections.abc import Sequence

from markupsafe import Markup

from unclass.audits.result import Audit, Check
from unclass.report.wording import MARKS, number, threshold


def audit_html(audit: Audit) -> str:
    """Return verdict and headline of an audit; names are text, whatever they hold."""
    head = ("check", "unlearned", "retrained", "allowed", "")
    sentence = Markup("<p><strong>{}</strong></p>").format(audit.verdict.sentence)
    return str(sentence + Markup(table_html(head, [_cells(check) for check in audit.headline])))


def table_html(head: Sequence[str], lines: Sequence[Sequence[str]], title: str = "") -> str:
    """Return a table; whatever stands in its cells is text."""
    caption = Markup("<caption>{}</caption>").format(title) if title else Markup("")
    body = Markup("").join(_line(line, "td") for line in lines)
    return str(Markup("<table>") + caption + _line(head, "th") + body + Markup("</table>"))


def _line(cells: Sequence[str], kind: str) -> Markup:
    inside = Markup("").join(Markup(f"<{kind}>{{}}</{kind}>").format(cell) for cell in cells)
    return Markup("<tr>") + inside + Markup("</tr>")


def _cells(check: Check) -> tuple[str, ...]:
    return (
        check.name,
        number(check.values.get("unlearned"), check.unit),
        number(check.reference, check.unit),
        threshold(check),
        f"{MARKS[check.status]} {check.status}",
    )
