"""What a notebook shows of an audit: the verdict and a line for each check of the headline, names as text."""

import re

from audit_example import bare_audit, full_audit, nasty_audit

from unclass.report.notebook import audit_html
from unclass.report.wording import number, threshold


def test_each_headline_check_is_a_line_with_its_figures() -> None:
    audit = full_audit(points=4)
    lines = [re.findall("<td>(.*?)</td>", line) for line in audit_html(audit).split("<tr>")[2:]]
    assert [line[0] for line in lines] == [check.name for check in audit.headline]
    for line, check in zip(lines, audit.headline, strict=True):
        assert line[1] == number(check.values["unlearned"], check.unit)
        assert line[3] == threshold(check) and line[4].endswith(check.status)


def test_names_are_never_markup() -> None:
    shown = audit_html(nasty_audit())
    assert "<img" not in shown and "<script" not in shown and "&lt;img" in shown


def test_an_audit_of_nothing_is_shown_too() -> None:
    assert "Nothing ran." in audit_html(bare_audit())
