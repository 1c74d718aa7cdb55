"""The verdict: what fails, passes and stays open, how it is worded, and what to do next."""

from dataclasses import replace

from unclass.audits.catalogue import CHECKS, Kind
from unclass.audits.check import Limit, Measure
from unclass.audits.figure_words import lies
from unclass.audits.limits import at_most_chance, unharmed
from unclass.audits.next_steps import FALSE_REFERENCE, Known
from unclass.audits.provenance import said_at_once
from unclass.audits.result import AuditedModel
from unclass.audits.retraining import Retraining
from unclass.audits.utility import share_measure
from unclass.audits.verdict import counted, decide, self_check, tiles


def measure(name: str, carries: bool = True, **values: float) -> Measure:
    kind = CHECKS.get(name) or Kind(name, name, "residual", "?", carries=carries)
    return Measure(kind, at_most_chance(10), {key.replace("_", "-"): v for key, v in values.items()})


ROLES = ["original", "unlearned", "retrained", "retrained-2", "logit-mask", "head-only"]
HIDDEN = {"logit_mask": 1.0, "head_only": 1.0}


def test_a_clean_model_passes_only_if_the_controls_are_told_apart() -> None:
    good = measure("a", original=1.0, unlearned=0.0, retrained=0.0, retrained_2=0.0, **HIDDEN)
    checked = self_check([good], ROLES)
    assert all(row.ok for row in checked)
    assert decide([good], checked, ["deer"]).status == "passed"
    blind = measure("a", original=1.0, unlearned=0.0, retrained=0.0, retrained_2=0.0, logit_mask=1.0, head_only=0.0)
    outcome = decide([blind], self_check([blind], ROLES), ["deer"])
    assert outcome.status == "undecided" and "head-only" in outcome.sentence


def test_the_sentence_names_what_is_left_before_what_is_harmed() -> None:
    harm = Measure.of("retain-change", unharmed(), {"unlearned": -0.2})
    left = measure("recalibration", original=1.0, unlearned=1.0)
    said = decide([harm, left], [], ["deer"]).sentence
    assert said.startswith(
        "Failed: deer is not gone: the model names it, as it is or with batch norm refreshed (accuracy"
    )
    assert "the other classes are harmed (change on D_rt: " in decide([harm], [], ["deer"]).sentence


def test_without_the_control_nothing_passes() -> None:
    good = measure("a", original=1.0, unlearned=0.0)
    assert decide([good], self_check([good], ["original", "unlearned"]), ["deer"]).status == "undecided"


def test_a_check_that_a_retrained_model_fails_counts_neither_way() -> None:
    noisy = measure("a", original=1.0, unlearned=1.0, retrained=0.0, retrained_2=0.9, **HIDDEN)
    assert counted([noisy]) == []
    assert decide([noisy], self_check([noisy], ROLES), ["deer"]).status == "undecided"


def test_a_failed_check_that_does_not_carry_the_verdict_is_named() -> None:
    good = measure("a", original=1.0, unlearned=0.0, retrained=0.0, **HIDDEN)
    beside = measure("b", carries=False, original=1.0, unlearned=1.0, retrained=0.0, **HIDDEN)
    outcome = decide([good, beside], self_check([good], [role for role in ROLES if role != "retrained-2"]), ["deer"])
    assert outcome.status == "passed" and "b" in outcome.why[-1]


def test_without_a_retrained_model_the_badge_says_so() -> None:
    good = measure("a", original=1.0, unlearned=0.0, **HIDDEN)
    outcome = decide([good], self_check([good], [role for role in ROLES if "retrained" not in role]), ["deer"])
    assert outcome.status == "passed without reference" and outcome.badge == "passed the checks that need no reference"
    assert any("--method retrain" in step for step in outcome.next)
    known = Known(retraining=Retraining("unclass forget o.safetensors --method retrain", 5407.0))
    timed = decide([good], self_check([good], ["original", "unlearned"]), ["deer"], known)
    assert timed.next[-1].endswith("It costs about 90 minutes: `unclass forget o.safetensors --method retrain`")


def test_a_reference_that_is_the_original_makes_nothing_pass_and_is_the_reason() -> None:
    good = measure("a", original=1.0, unlearned=0.0, retrained=0.0, retrained_2=0.0, **HIDDEN)
    why = "the retrained model has the very weights of the original one: it is no reference"
    known = Known(false_references=(why,))
    outcome = decide([good], self_check([good], ROLES), ["deer"], known)
    assert outcome.sentence == f"Undecided: {why}."


def test_a_model_that_is_the_original_fails_for_that_reason_and_the_next_step_asks_for_another() -> None:
    left = measure("recalibration", original=1.0, unlearned=1.0)
    same = "the unlearned model has the very weights of the original: nothing was changed"
    outcome = decide([left], [], ["deer"], Known(unchanged=same))
    assert outcome.sentence == f"Failed: deer is not gone: {same}." and "100.0 %" in outcome.why[0]
    assert outcome.next[0] == "Give the model that was unlearned: this one is the original."
    missed = measure("recalibration", original=0.0, unlearned=0.0)
    assert decide([missed], [], ["deer"], Known(unchanged=same)).status == "failed"


def test_a_model_that_still_names_the_class_is_not_said_to_hide_it() -> None:
    keys = ("recalibration", "own-logit", "one-image")
    left = [measure(key, original=1.0, unlearned=1.0) for key in keys]
    named = [*left, measure("forget-test-accuracy", original=1.0, unlearned=1.0)]
    assert decide(named, [], ["deer"]).next[:-1] == (
        "What should be gone is still named: take another method, more of its steps, or retrain.",
    )
    assert [step.split(":")[0] for step in decide(left, [], ["deer"]).next[:-1]] == [
        "The weights still hold it under other batch-norm statistics", "It is only hidden",
        "The features still know it",
    ]  # fmt: skip


def test_the_sentence_is_not_repeated_and_several_classes_are_several() -> None:
    left = measure("recalibration", original=1.0, unlearned=1.0)
    outcome = decide([left], [], ["3", "8"])
    assert "3 and 8 are not gone: the model names them" in outcome.sentence and outcome.why == ()
    near = share_measure("own-logit", at_most_chance(10), {"unlearned": 0.09}, 40)
    assert "more test images of the classes would decide" in decide([near], [], ["3", "8"]).sentence


def test_what_passed_is_put_to_use_and_nothing_else_is() -> None:
    good = measure("a", original=1.0, unlearned=0.0, retrained=0.0, retrained_2=0.0, **HIDDEN)
    outcome = decide([good], self_check([good], ROLES), ["deer"])
    assert outcome.status == "passed" and [step for step in outcome.next if "every copy of that one" in step]
    known = Known(false_references=("the retrained model is the original",))
    doubtful = decide([good], self_check([good], ROLES), ["deer"], known)
    assert doubtful.status == "undecided" and doubtful.next == (FALSE_REFERENCE,)


def test_a_figure_near_its_limit_is_shown_with_the_digits_that_tell_them_apart() -> None:
    near = Measure.of(
        "own-logit", lambda _: Limit(0.99931, ""), {"unlearned": 0.99862}, {"unlearned": (0.997, 0.9999)}, 9
    )
    assert lies(near) == "own logit: 0.9986, 95 % interval 0.9970 to 0.9999; at most 0.9993 is allowed"


def test_a_change_that_rounds_to_nothing_has_no_sign() -> None:
    one = Measure.of("retain-change", unharmed(), {"unlearned": -0.02}, {"unlearned": (-0.039, -0.0001)}, 100)
    assert "−3.9 to 0.0 points" in lies(one)


def test_the_headline_shows_one_of_each_door_and_prefers_the_gravest() -> None:
    keys = ["recalibration", "own-logit", "one-image", "population-attack", "retain-change"]
    fine = [measure(key, original=1.0, unlearned=0.0, retrained=0.0) for key in (*reversed(keys), "relearn-retain")]
    assert list(tiles(fine)) == keys
    fine[-1] = measure("relearn-retain", original=1.0, unlearned=0.9, retrained=0.0)
    assert list(tiles(fine)) == [key if key != "one-image" else "relearn-retain" for key in keys]


def test_models_that_are_the_same_or_forgot_something_else_are_named() -> None:
    other, known = AuditedModel("b", weights="1"), ["bird", "cat", "deer"]
    before = AuditedModel("c", weights="1", forgotten=("bird",))
    after = replace(before, forgotten=("bird", "cat"))
    said = said_at_once({"original": before, "unlearned": after, "retrained": other}, ["deer"], known)
    for words in ("very weights of the original", "no reference", "forgotten bird before", "forgot cat, which was not"):
        assert any(words in line for line in said), words
    clean = AuditedModel("c", weights="2", forgotten=("deer",))
    for unlearned in (clean, replace(clean, forgotten=("erased",))):  # which may have another name by now
        assert said_at_once({"original": other, "unlearned": unlearned}, ["deer"], known) == []


def test_what_more_images_cannot_decide_has_a_next_step_too() -> None:
    one = share_measure("recalibration", at_most_chance(10), {"unlearned": 0.09}, 500, most=500)
    assert any(
        "More images would not decide whether the model names it" in step for step in decide([one], [], ["deer"]).next
    )
