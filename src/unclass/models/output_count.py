"""How many classes a network tells apart whose class names nobody gave: as its weights say."""

from collections.abc import Callable

import torch
from torch import Tensor, nn

from unclass.models.any_output import logits_of, looking
from unclass.models.weights_file import WeightsFile

FEWEST = 2


def output_count(make: Callable[[int], nn.Module], file: WeightsFile | None, shape: tuple[int, int, int]) -> int:
    """Return the number of classes of the network that `make` makes for a given number.

    What differs between one for two classes and one for three is the head; the file's is as long as there are classes.
    A network that is the same for both has the number built in, and its output tells it. Weights of another network
    count as few, since opening them says what is wrong.
    """
    network = make(FEWEST)
    own, other = network.state_dict(), make(FEWEST + 1).state_dict()
    grown = [key for key in own.keys() & other.keys() if own[key].shape != other[key].shape]
    if file is None or not grown:
        return _outputs(network, shape)
    weights = file.named(own)
    counts = {_count(own[key], other[key], weights[key]) for key in grown if key in weights}
    return max(FEWEST, *counts) if counts else FEWEST


def _count(two: Tensor, three: Tensor, found: Tensor) -> int:
    """Return how long a tensor is where another has two and a third has three."""
    places = [place for place, sizes in enumerate(zip(two.shape, three.shape, strict=False)) if sizes == (2, 3)]
    return found.shape[places[0]] if places and found.dim() == two.dim() else FEWEST


def _outputs(network: nn.Module, shape: tuple[int, int, int]) -> int:
    x = torch.zeros(2, *shape)
    with looking(network):
        return logits_of(network(x), x).shape[1]
