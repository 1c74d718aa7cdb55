"""The comparison's table says of each method what the audit found and why."""

from audit_example import full_audit, rows

from unclass.report.comparison_table import first_shown, lines, subtitle

METHODS = ("boundary-shrink", "boundary-shift", "logit-mask", "fisher")
AUDITS = [full_audit(points=10, method=method) for method in METHODS]


def test_methods_are_marked_and_references_pinned() -> None:
    found = {line.method: line for line in lines(rows(METHODS), AUDITS)}
    assert {method for method, line in found.items() if line.pinned} == {"original", "retrain"}
    assert found["boundary-shift"].mark == "default" and found["logit-mask"].mark == "negative control"
    assert found["retrain"].mark == "reference" and found["original"].verdict is None


def test_why_names_the_checks_that_decided() -> None:
    line = next(line for line in lines(rows(METHODS), AUDITS) if line.method == "fisher")
    assert line.verdict == "failed" and line.why == "accuracy on D_f after recalibration, population attack"


def test_the_page_opens_on_the_default_method_and_says_what_was_compared() -> None:
    assert first_shown(AUDITS) == 1 and first_shown(AUDITS[:1]) == 0
    about = subtitle(AUDITS, rows(METHODS))
    assert (about["data"], about["erased"], about["runs"]) == ("cifar10", "deer", "2 runs of each method")
