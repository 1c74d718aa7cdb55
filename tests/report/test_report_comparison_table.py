"""The comparison's table says of each method what the audit found and why."""

from dataclasses import replace

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
    assert (about["data"], about["erased"]) == ("cifar10", "deer")
    assert about["runs"] == "2 runs of each method, audits of seed 0"
    assert subtitle(AUDITS, rows(METHODS), [0, 3])["runs"] == "2 runs of each method (seeds 0 and 3), audits of seed 0"
    assert subtitle(AUDITS, rows(METHODS), [0])["runs"] == "2 runs of each method (seed 0)"


def test_over_several_classes_the_worst_verdict_is_shown_and_how_often_it_was_given() -> None:
    failed = AUDITS[3]
    passed = replace(failed, verdict=replace(failed.verdict, status="passed"))
    line = next(line for line in lines(rows(METHODS), [passed, failed, passed]) if line.method == "fisher")
    assert (line.verdict, line.audit) == ("failed", 1)
    assert line.why == "1 of 3 classes: accuracy on D_f after recalibration, population attack"
    line = next(line for line in lines(rows(METHODS), [passed, passed]) if line.method == "fisher")
    assert (line.verdict, line.why) == ("passed", "2 of 2 classes")


def test_why_tells_the_checks_in_the_order_of_the_verdict() -> None:
    audit = AUDITS[3]
    turned = replace(audit, checks=tuple(replace(one, rank=100 - place) for place, one in enumerate(audit.checks)))
    line = next(line for line in lines(rows(METHODS), [turned]) if line.method == "fisher")
    assert line.why == "population attack, accuracy on D_f after recalibration"
