"""Bystanders: pictures of the class, changed until the network takes them for others."""

from collections.abc import Callable

import pytest
import torch
from torch import Tensor

from unclass.methods.boundary_shift.bystanders import CHANGES, LEAST, MOST, blurred, chosen, enlarged, inverted, noisy

PLACES = torch.arange(6)


@pytest.mark.parametrize("size", [(8, 8), (12, 20), (1, 5)])
@pytest.mark.parametrize("change", CHANGES)
def test_a_change_keeps_size_type_and_range_and_changes_every_picture(
    change: Callable[[Tensor, Tensor], Tensor], size: tuple[int, int]
) -> None:
    for dtype in (torch.float32, torch.float64):
        x = torch.rand(6, 3, *size, dtype=dtype) * 4 - 2
        made = change(x, PLACES)
        assert made.shape == x.shape and made.dtype == x.dtype
        assert x.amin() - 1e-6 <= made.amin() and made.amax() <= x.amax() + 1e-6
        assert min(size) == 1 or ((made - x).abs().amax((1, 2, 3)) > 0).all()


def test_dark_and_light_are_exchanged_channel_by_channel() -> None:
    x = torch.tensor([0.0, 1.0, 4.0]).view(1, 1, 1, 3)
    assert inverted(x, PLACES[:1]).flatten().tolist() == [4.0, 3.0, 0.0]


def test_a_picture_of_one_colour_stays_so_blurred_and_enlarged() -> None:
    x = torch.full((2, 1, 24, 24), 0.3)
    torch.testing.assert_close(blurred(x, PLACES), x)
    torch.testing.assert_close(enlarged(x, PLACES), x)
    assert noisy(torch.rand(2, 1, 24, 24), PLACES).std() > 0


def test_enlarged_pictures_show_a_quarter_at_twice_its_size() -> None:
    ramp = torch.arange(32.0).expand(1, 1, 32, 32)
    made = enlarged(ramp, PLACES[:1])[0, 0, 0]
    assert (made[1:-1].diff() - 0.5).abs().max() < 1e-4


def test_pictures_that_still_look_like_the_class_stand_for_nobody() -> None:
    logits = torch.zeros(500, 4)
    logits[:300, 2] = 9.0
    logits[300:, 1] = 3.0
    assert sorted(chosen(logits, (2,)).tolist()) == list(range(300, 500))


def test_where_all_look_like_the_class_those_that_do_least_are_taken() -> None:
    logits = torch.zeros(500, 4)
    logits[:, 2] = torch.linspace(9, 5, 500)
    assert sorted(chosen(logits, (2,)).tolist()) == list(range(500 - LEAST, 500))
    assert len(chosen(logits[:5], (2,))) == 5


def test_every_class_is_stood_for_as_evenly_as_can_be() -> None:
    logits = torch.zeros(3 * MOST, 4)
    logits[:100, 0] = 5.0
    logits[100:, 3] = 5.0
    taken = logits[chosen(logits, (2,))].argmax(1).bincount(minlength=4).tolist()
    assert taken == [100, 0, 0, MOST - 100]
