"""How results show themselves in a notebook: a few lines of HTML, no script, no picture."""

from markupsafe import Markup

from unclass.audits.result import Audit, Check
from unclass.report.wording import MARKS, number, threshold


def audit_html(audit: Audit) -> str:
    """Return verdict and headline of an audit; names are text, whatever they hold."""
    rows = Markup("").join(_row(check) for check in audit.headline)
    head = Markup("<tr><th>check</th><th>unlearned</th><th>retrained</th><th>allowed</th><th></th></tr>")
    sentence = Markup("<p><strong>{}</strong></p>").format(audit.verdict.sentence)
    return str(sentence + Markup("<table>") + head + rows + Markup("</table>"))


def _row(check: Check) -> Markup:
    cells = (
        check.name,
        number(check.values.get("unlearned"), check.unit),
        number(check.reference, check.unit),
        threshold(check),
        f"{MARKS[check.status]} {check.status}",
    )
    return Markup("<tr>") + Markup("").join(Markup("<td>{}</td>").format(cell) for cell in cells) + Markup("</tr>")
