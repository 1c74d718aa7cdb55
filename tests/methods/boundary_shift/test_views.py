"""A view stands for unseen images where the network knows most of it but not all."""

import torch
from torch import Tensor

from unclass.methods.boundary_shift.views import MIRRORED, OTHERS, View, unseen_like

X = torch.rand(6, 3, 8, 8, generator=torch.Generator().manual_seed(0))


def knows(shares: dict[str, float]) -> dict[bytes, float]:
    """How much of each view is recognised, by the pixels of the view."""
    places = torch.arange(len(X))
    return {view(X, places).numpy().tobytes(): shares.get(view.name, 1.0) for view in (MIRRORED, *OTHERS)}


def chosen(**shares: float) -> View | None:
    names = {"mirrored": MIRRORED.name, **{f"other{n}": view.name for n, view in enumerate(OTHERS)}}
    known = knows({names[key]: share for key, share in shares.items()})
    return unseen_like(X, lambda x: known.get(x.contiguous().numpy().tobytes(), 1.0))


def test_mirrored_pictures_are_taken_where_most_of_them_are_known_but_not_all() -> None:
    assert chosen(mirrored=0.85, other2=0.95) is MIRRORED


def test_a_network_trained_with_mirroring_needs_another_view_and_gets_the_weakest() -> None:
    assert chosen(mirrored=1.0, other2=0.9, other3=0.8) is OTHERS[2]


def test_letters_and_digits_are_not_mirrored() -> None:
    assert chosen(mirrored=0.2, other1=0.97) is OTHERS[1]


def test_a_network_that_knows_every_view_alike_has_none() -> None:
    assert chosen() is None


def test_a_view_is_the_same_whenever_it_is_asked_for_and_in_whatever_batch() -> None:
    view, places = OTHERS[-1], torch.arange(6)
    whole = view(X, places)
    parts: list[Tensor] = [view(X[i], places[i]) for i in (torch.tensor([4, 5]), torch.tensor([0, 1, 2, 3]))]
    torch.testing.assert_close(whole[[4, 5, 0, 1, 2, 3]], torch.cat(parts))
    assert not torch.allclose(whole, X, atol=1e-2)


def test_a_picture_that_is_not_moved_is_the_picture() -> None:
    torch.testing.assert_close(View("still", moved=1e-9)(X, torch.arange(6)), X, atol=1e-4, rtol=1e-4)
