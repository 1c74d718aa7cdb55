"""Whatever a network returns, there is one row of logits for each image, or an error that says what came."""

from collections import namedtuple
from types import SimpleNamespace

import pytest
import torch

from unclass.errors import InputError
from unclass.models.any_output import Logits, logits_of, looking

X = torch.rand(3, 1, 4, 4)
GOOD, FEATURES = torch.rand(3, 5), torch.rand(3, 8)
Named = namedtuple("Named", ["logits", "auxiliary"])


@pytest.mark.parametrize(
    "output",
    [
        GOOD,
        GOOD[:, :, None, None],
        {"logits": GOOD, "features": FEATURES},
        {"out": GOOD, "maps": torch.rand(3, 2, 4, 4)},
        {"out": GOOD, "features": FEATURES},
        (GOOD, torch.rand(3, 2, 4, 4)),
        [FEATURES, GOOD],
        Named(GOOD, torch.rand(3, 5)),
        SimpleNamespace(logits=GOOD, hidden_states=None),
    ],
)
def test_logits_are_found_in_every_kind_of_output(output) -> None:
    assert torch.equal(logits_of(output, X, 5), GOOD)


def test_a_batch_of_one_that_was_squeezed_is_a_row_again() -> None:
    assert torch.equal(logits_of(GOOD[0], X[:1]), GOOD[:1])


@pytest.mark.parametrize(
    ("output", "said"),
    [
        (GOOD[0], r"shape \(5,\) for 3 images"),
        (torch.rand(3, 5, 2, 2), r"\(3, 5, 2, 2\)"),
        (torch.rand(2, 5), r"\(2, 5\) for 3 images"),
        ({"a": FEATURES, "b": FEATURES}, r"a dict of a \(3, 8\), b \(3, 8\)"),
        ((GOOD, GOOD), r"a tuple of \(3, 5\), \(3, 5\)"),
        ("text", "a str"),
        (None, "a NoneType"),
    ],
)
def test_what_cannot_be_told_is_an_error_in_one_line_that_says_what_came(output, said: str) -> None:
    with pytest.raises(InputError, match=said) as error:
        logits_of(output, X, 5)
    assert "\n" not in str(error.value)


def test_one_column_more_is_still_told_from_the_features() -> None:
    wider = torch.rand(3, 6)
    assert torch.equal(logits_of((FEATURES, wider), X, 5), wider)


def test_images_come_in_the_precision_of_the_weights() -> None:
    assert Logits(torch.nn.Sequential(torch.nn.Flatten(), torch.nn.Linear(16, 5)).bfloat16())(X).dtype == torch.bfloat16


def test_looking_leaves_every_layer_in_its_mode() -> None:
    network = torch.nn.Sequential(torch.nn.Dropout(), torch.nn.Dropout()).train()
    network[0].eval()
    with looking(network):
        assert not any(module.training for module in network.modules()) and not torch.is_grad_enabled()
    assert [module.training for module in network.modules()] == [True, False, True]
