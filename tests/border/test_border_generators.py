"""The generators of the caller are given back, whatever happens in between."""

import random

import numpy
import pytest
import torch

from unclass.border.generators import generators_as_they_were


def test_what_is_drawn_inside_is_drawn_again_afterwards() -> None:
    with generators_as_they_were():
        inside = random.random(), numpy.random.rand(), torch.rand(()).item()
    assert (random.random(), numpy.random.rand(), torch.rand(()).item()) == inside


def test_they_are_given_back_after_an_error_too() -> None:
    before = torch.get_rng_state()
    with pytest.raises(KeyError), generators_as_they_were():
        torch.rand(3)
        raise KeyError
    assert torch.equal(torch.get_rng_state(), before)


def test_a_function_under_it_uses_nothing_up_at_any_call() -> None:
    @generators_as_they_were()
    def draw() -> float:
        """Draw a number."""
        return random.random()

    before = random.getstate()
    assert draw() == draw() and random.getstate() == before
    assert draw.__doc__ == "Draw a number."
