"""How an audit's values are worded."""

from unclass.audits.result import AuditedModel, Check
from unclass.report import terms, wording


def test_a_figure_and_its_limit_never_look_alike_where_they_differ() -> None:
    values, interval = {"unlearned": 0.99862}, {"unlearned": (0.997, 0.9999)}
    one = Check("own-logit", "own logit", "residual", "?", "lower", "undecided", threshold=0.99931, unit="AUC",
                values=values, intervals=interval)  # fmt: skip
    assert wording.number(values["unlearned"], "AUC", wording.finer(one)) == "0.9986"
    assert wording.threshold(one) == "≤ 0.9993" and wording.interval(one) == "0.9970 – 0.9999"


def test_a_change_of_nothing_has_no_sign() -> None:
    assert wording.number(-0.0002, "points") == "0.0" and wording.number(-0.002, "points") == "−0.2"


def test_models_that_were_trained_alike_are_told_together() -> None:
    recipe = {"lr": 0.1, "weight_decay": 0.0005}
    models = {
        "original": AuditedModel("o", recipe=recipe),
        "unlearned": AuditedModel("u", recipe=recipe),
        "retrained": AuditedModel("r", recipe={**recipe, "seed": 1}),
        "retrained-2": AuditedModel("without a card"),
    }
    found = wording.recipes(models)
    assert [names for names, _ in found] == ["original and unlearned", "retrained"]


def test_what_is_to_be_typed_is_code_and_names_in_it_stay_text() -> None:
    assert terms.terms("Type: `unclass audit <head>`") == "Type: <code>unclass audit &lt;head&gt;</code>"
