"""Whether the data holds what a run needs, asked of an untrained network."""

from dataclasses import replace

import pytest
from torch import nn

from unclass.checkup.intent import FEW, Intent, find_split
from unclass.data import ImageData, Split
from unclass.errors import InputError
from unclass.methods.amnesiac import Amnesiac
from unclass.methods.finetune import Finetune
from unclass.methods.logit_mask import LogitMask
from unclass.running import new_model

MODEL = nn.Flatten()


def says(data: ImageData, intent: Intent, method=None, model: nn.Module = MODEL) -> tuple[Split | None, list[str]]:  # type: ignore[no-untyped-def]
    split, findings = find_split(model, data, intent, method or LogitMask())
    return split, [f"{one.check}: {one.status}: {one.says}" for one in findings]


def test_images_to_forget_are_counted(digits: ImageData) -> None:
    split, told = says(digits, Intent(["3", 4]))
    rows = [label for label in digits.train.labels.tolist() if label in (3, 4)]
    tests = [label for label in digits.test.labels.tolist() if label in (3, 4)]
    assert split is not None and len(split.forget) == len(rows)
    assert told[0] == f"class to forget: good: 3, 4: {len(rows)} training and {len(tests)} test images"
    assert told[1].startswith("method: good: logit-mask reads")


def test_without_a_class_nothing_is_claimed(digits: ImageData) -> None:
    split, told = says(digits, Intent())
    assert split is None and len(told) == 1 and told[0].startswith("class to forget: doubtful")


def test_a_class_that_is_not_there_is_wrong(digits: ImageData) -> None:
    split, told = says(digits, Intent(["eleven"]))
    assert split is None and told[0].startswith("class to forget: wrong") and "eleven" in told[0]


def test_few_images_and_classes_that_are_gone_are_pointed_out(digits: ImageData) -> None:
    few = replace(digits, train=digits.train.per_class(FEW - 1, 0))
    assert says(few, Intent(["3"]))[1][0].endswith("which is few")
    model = new_model(digits, "small-cnn", {"width": 2})
    model.card = replace(model.card, forgotten=("3",))
    assert "has forgotten 3 already" in says(digits, Intent(["3"]), model=model)[1][0]


def test_a_method_is_refused_what_it_needs_and_is_not_there(digits: ImageData) -> None:
    three = replace(digits, train=digits.train.of_classes([3]), test=digits.test.of_classes([3]))
    split, told = says(three, Intent(["3"], forget_only=True), Finetune())
    assert split is None and told[-1].startswith("method: wrong")
    split, told = says(digits, Intent(["3"]), Amnesiac())
    assert split is None and told[-1].startswith("method: wrong") and "updates" in told[-1]


def test_a_method_or_option_that_does_not_exist_is_refused_at_once() -> None:
    with pytest.raises(InputError, match="unknown method"):
        Intent(["3"], "finetun")
    with pytest.raises(InputError, match="rounds"):
        Intent(["3"], "finetune", options={"rounds": 3})
