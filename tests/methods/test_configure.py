from dataclasses import fields
from typing import Any, get_type_hints

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from unclass.errors import InputError
from unclass.methods import METHODS
from unclass.methods.boundary_shrink import BoundaryShrink
from unclass.methods.configure import check, configure, name_of, option_names, options_of
from unclass.methods.finetune import Finetune
from unclass.methods.retrain import Retrain


@pytest.mark.parametrize(
    "call, expected",
    [
        ({"name": "boundry-shrink"}, r"unknown method 'boundry-shrink'.*did you mean boundary-shrink\?"),
        (
            {"name": "boundary-shrink", "preset": "autors"},
            r"unknown preset 'autors' of boundary-shrink.*did you mean authors\?",
        ),
        ({"name": "finetune", "preset": "nowhere"}, "(?=.*finetune)(?=.*'nowhere')"),
        (
            {"name": "finetune", "options": {"epoch": "3"}},
            r"unknown option 'epoch' of finetune.*did you mean epochs\?",
        ),
        ({"name": "boundary-shrink", "options": {"search": "fgms"}}, r"'fgms'.*pgd.*did you mean fgsm\?"),
        (
            {"name": "boundary-shrink", "options": {"uncrossed": "keep-true-labels"}},
            r"uncrossed.*did you mean keep-true-label\?",
        ),
        (
            {"name": "finetune", "options": {"epochs": "three"}},
            "epochs is 'three'.*whole number from 0 to 1,000,000,000",
        ),
        ({"name": "finetune", "options": {"epochs": "1.5"}}, "epochs is '1.5'.*whole number from 0 to 1,000,000,000"),
        ({"name": "finetune", "options": {"epochs": "-1"}}, "epochs is -1.*from 0 to 1,000,000,000"),
        ({"name": "finetune", "options": {"epochs": 10**30}}, "epochs is 10000.*from 0 to 1,000,000,000"),
        ({"name": "jit", "options": {"samples": 10**6}}, "samples is 1000000.*from 0 to 1,000$"),
        ({"name": "finetune", "options": {"lr": "fast"}}, "lr is 'fast'.*a number from 0 to 1e\\+30"),
        ({"name": "finetune", "options": {"lr": "nan"}}, "lr is nan.*a number from 0 to 1e\\+30"),
        ({"name": "finetune", "options": {"lr": "inf"}}, "lr is inf.*a number from 0 to 1e\\+30"),
        ({"name": "boundary-shrink", "options": {"reweight": "maybe"}}, "reweight is 'maybe'.*true or false"),
    ],
)
def test_what_is_not_allowed_is_named_with_what_is(call: dict[str, Any], expected: str) -> None:
    with pytest.raises(InputError, match=expected) as caught:
        configure(**call)
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize(
    "options",
    [{"epochs": 2.5}, {"epochs": True}, {"epochs": None}, {"lr": None}, {"lr": [0.1]}, {"lr": float("nan")}],
)
def test_values_of_another_type_are_refused_from_python_too(options: dict[str, Any]) -> None:
    with pytest.raises(InputError, match=next(iter(options))):
        configure("finetune", options=options)


@settings(deadline=None)
@given(
    st.sampled_from([(name, field.name) for name, kind in METHODS.items() for field in fields(kind)]),  # type: ignore
    st.text() | st.integers().map(str) | st.floats().map(str) | st.sampled_from(["true", "FALSE", "fgsm"]),
)
def test_any_text_gives_a_value_of_the_right_type_or_an_input_error(where: tuple[str, str], text: str) -> None:
    name, option = where
    try:
        method = configure(name, options={option: text})
    except InputError as error:
        assert option in str(error) or repr(text) in str(error)
        return
    value, hint = getattr(method, option), get_type_hints(METHODS[name])[option]
    if hint in (int, float, bool, str):
        assert type(value) is hint
        assert hint is str or hint is bool or 0 <= value < float("inf")
    else:
        assert value == text and value in hint.__args__


def test_options_come_after_the_preset_and_the_preset_after_the_defaults() -> None:
    assert configure("boundary-shrink") == BoundaryShrink()
    authors = BoundaryShrink.presets["authors"]
    assert configure("boundary-shrink", preset="authors") == BoundaryShrink(**authors)
    changed = configure("boundary-shrink", preset="authors", options={"epochs": "3"})
    assert changed == BoundaryShrink(**{**authors, "epochs": 3})


def test_without_a_preset_the_data_sets_own_is_taken() -> None:
    assert configure("retrain", data="digits") == Retrain(**Retrain.presets["digits"])
    assert configure("retrain", data="digits", preset="paper") == Retrain(**Retrain.presets["paper"])
    assert configure("retrain", data="folder:mine") == Retrain()


def test_a_method_made_by_hand_is_checked_alike() -> None:
    assert check(Finetune(lr=1)) == Finetune(lr=1)
    with pytest.raises(InputError, match="finetune option lr is -1"):
        check(Finetune(lr=-1))
    with pytest.raises(InputError, match="did you mean frozen"):
        check(BoundaryShrink(batch_norm="frozn"))  # type: ignore[arg-type]


@pytest.mark.parametrize("name", METHODS)
def test_names_and_options_lead_back_to_the_method(name: str) -> None:
    method = METHODS[name]()
    assert name_of(method) == name
    assert list(options_of(method)) == option_names(METHODS[name])
