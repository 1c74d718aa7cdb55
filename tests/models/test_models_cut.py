"""Cutting a network: stem and tail together are the network, share its weights, and are found in every kind."""

from collections.abc import Callable

import pytest
import torch
import torch.nn.functional as F
from torch import Tensor, nn

from unclass.errors import InputError
from unclass.models import MODELS, Card, build
from unclass.models.cut import Cut, flops, tail_of_share
from unclass.models.cut.place import Place, by_preference
from unclass.models.cut.recorded import recorded_places
from unclass.models.cut.traced import traced_places

SHAPES = {"small-cnn": (1, 8, 8), "all-cnn": (3, 16, 16), "resnet-18": (3, 16, 16), "resnet-50": (3, 16, 16)}


MOST_PLACES = 40  # that are tried of a deep network, evenly from its first to its last


def some(places: list[Place]) -> list[Place]:
    return places[:: -(-len(places) // MOST_PLACES)]


def made(name: str) -> tuple[nn.Module, Tensor]:
    torch.manual_seed(0)
    options = {"width": 0.1} if name == "all-cnn" else {}
    return build(Card(name, ("a", "b", "c"), SHAPES[name], options)).eval(), torch.rand(3, *SHAPES[name])


@pytest.mark.parametrize("name", MODELS)
def test_stem_and_tail_together_are_the_network_at_every_place_of_a_trace(name: str) -> None:
    model, x = made(name)
    found = traced_places(model, x[:1])
    assert len(found) > 5
    with torch.no_grad():
        whole = model(x)
        for place in some(found):
            cut = place.cut()
            torch.testing.assert_close(cut.tail(cut.stem(x)), whole)


@pytest.mark.parametrize("name", MODELS)
def test_a_place_that_was_recorded_holds_or_is_known_not_to(name: str) -> None:
    model, x = made(name)
    found = recorded_places(model, x[:1])
    held = [place for place in some(found) if place.cut().holds(model, x)]
    assert len(held) > 5
    with torch.no_grad():
        whole = model(x)
        for place in held:
            cut = place.cut()
            torch.testing.assert_close(cut.tail(cut.stem(x)), whole, rtol=1e-3, atol=1e-3)


def test_training_the_tail_trains_the_network() -> None:
    model, x = made("small-cnn")
    cut = tail_of_share(model, x, 0.1)
    before = model(x)
    with torch.no_grad():
        for weight in cut.tail.parameters():
            weight.mul_(2)
    assert not torch.allclose(model(x), before)


@pytest.mark.parametrize("name", MODELS)
def test_the_tail_does_little_of_the_work_and_more_than_classify(name: str) -> None:
    model, x = made(name)
    cut = tail_of_share(model, x, 0.2)
    places = [place for place in traced_places(model, x[:1]) if place.products > 1 and place.starts]
    smallest = min(flops(place.cut().tail, place.cut().stem(x[:1])) for place in places)
    assert flops(cut.tail, cut.stem(x[:1])) <= max(0.2 * flops(model, x[:1]), smallest)
    assert any(isinstance(module, nn.Conv2d) for module in cut.tail.modules())


def test_flops_of_a_linear_layer_are_twice_its_weights() -> None:
    assert flops(nn.Linear(10, 3, bias=False), torch.rand(1, 10)) == 2 * 30


def test_a_network_with_nothing_to_cut_is_named_with_the_reasons() -> None:
    class Moody(nn.Module):
        def forward(self, x: Tensor) -> Tensor:
            return x if x.sum() > 0 else -x

    with pytest.raises(InputError, match=r"Moody has no place to cut .*cannot be traced"):
        tail_of_share(Moody(), torch.rand(2, 3), 0.1)


def test_a_linear_layer_of_someone_elses_is_one_step() -> None:
    class Theirs(nn.Linear):
        def forward(self, x: Tensor) -> Tensor:
            return nn.functional.linear(x, self.weight, self.bias)

    model = nn.Sequential(
        nn.Conv2d(3, 8, 3), nn.ReLU(), nn.Conv2d(8, 8, 3), nn.AdaptiveAvgPool2d(1), nn.Flatten(), Theirs(8, 4)
    )
    x = torch.rand(2, 3, 8, 8)
    called = []
    model[-1].register_forward_hook(lambda *_: called.append(1))
    found = tail_of_share(model, x, 1.0)
    called.clear()
    found.tail(found.stem(x))
    assert called


def test_the_largest_tail_within_the_share_comes_first_then_the_smallest_beyond_and_then_those_amid_a_layer() -> None:
    def place(name: str, behind: float, products: int, starts: bool = True) -> Place:
        return Place(name, behind, products, starts, lambda: Cut(name, nn.Identity(), nn.Identity()))

    places = [place("a", 0.2, 5), place("b", 0.6, 4), place("c", 0.92, 3), place("d", 0.95, 3, False)]
    places += [place("e", 0.97, 2), place("head", 0.99, 1)]
    assert [one.name for one in by_preference(places, 0.1)] == ["c", "e", "b", "a", "d"]


CHANNELS, CLASSES = 8, 5


def block(kernel: int = 3, groups: int = 1) -> nn.Module:
    layer = nn.Conv2d(CHANNELS, CHANNELS, kernel, padding=kernel // 2, groups=groups, bias=False)
    return nn.Sequential(layer, nn.BatchNorm2d(CHANNELS), nn.ReLU())


class Net(nn.Module):
    """Three layers of some kind between a convolution and a linear head, one of them around a skip."""

    def __init__(self, layer: Callable[[], nn.Module]) -> None:
        super().__init__()
        self.first = nn.Conv2d(3, CHANNELS, 3, padding=1)
        self.layers = nn.ModuleList(layer() for _ in range(3))
        self.head = nn.Linear(CHANNELS, CLASSES)

    def features(self, x: Tensor) -> Tensor:
        x = self.layers[0](self.first(x))
        x = x + self.layers[1](x)
        x = self.layers[2](x)
        return x

    def forward(self, x: Tensor) -> Tensor:
        return self.head(self.features(x).mean((2, 3)))


class BatchSizeFirst(Net):
    """Reads the sizes of a batch first and uses them last, of the pictures themselves too."""

    def forward(self, x: Tensor) -> Tensor:
        images, _, height, _ = x.shape
        h = self.features(x)
        return self.head(h.view(images, -1, height * x.size(3)).sum(2) / (height * x.size(3))).view(x.size(0), CLASSES)


class Moody(Net):
    """Decides by its input, which cannot be traced."""

    def forward(self, x: Tensor) -> Tensor:
        return super().forward(x) if x.sum() >= 0 else super().forward(-x)


class SqueezeExcite(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.main, self.down, self.up = block(), nn.Conv2d(CHANNELS, 2, 1), nn.Conv2d(2, CHANNELS, 1)

    def forward(self, x: Tensor) -> Tensor:
        h = self.main(x)
        return h * self.up(self.down(h.mean((2, 3), keepdim=True)).relu()).sigmoid()


class Normed(nn.Module):
    """LayerNorm over the channels, as in ConvNeXt."""

    def __init__(self) -> None:
        super().__init__()
        self.depthwise = nn.Conv2d(CHANNELS, CHANNELS, 3, padding=1, groups=CHANNELS)
        self.norm, self.linear = nn.LayerNorm(CHANNELS), nn.Linear(CHANNELS, CHANNELS)

    def forward(self, x: Tensor) -> Tensor:
        return x + F.gelu(self.linear(self.norm(self.depthwise(x).permute(0, 2, 3, 1)))).permute(0, 3, 1, 2)


class Attention(nn.Module):
    """Attention between the places of a picture, which it unfolds and folds by its sizes."""

    def __init__(self) -> None:
        super().__init__()
        self.norm, self.attend = nn.LayerNorm(CHANNELS), nn.MultiheadAttention(CHANNELS, 2, batch_first=True)

    def forward(self, x: Tensor) -> Tensor:
        n, c, h, w = x.shape
        places = self.norm(x.flatten(2).transpose(1, 2))
        return x + self.attend(places, places, places)[0].transpose(1, 2).reshape(n, c, h, w)


class Bottleneck(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.narrow, self.wide = nn.Conv2d(CHANNELS, 2, 1), nn.Conv2d(2, CHANNELS, 1)
        self.norms = nn.ModuleList([nn.BatchNorm2d(2), nn.BatchNorm2d(CHANNELS)])

    def forward(self, x: Tensor) -> Tensor:
        return (x + self.norms[1](self.wide(self.norms[0](self.narrow(x)).relu()))).relu()


class Standardised(nn.Conv2d):
    def __init__(self) -> None:
        super().__init__(CHANNELS, CHANNELS, 3, padding=1)

    def forward(self, x: Tensor) -> Tensor:
        mean, std = self.weight.mean((1, 2, 3), keepdim=True), self.weight.std((1, 2, 3), keepdim=True)
        return F.conv2d(x, (self.weight - mean) / std, self.bias, padding=1).relu()


class Padded(nn.Conv2d):
    """Pads by a module of its own first."""

    def __init__(self) -> None:
        super().__init__(CHANNELS, CHANNELS, 3)
        self.pad = nn.ZeroPad2d(1)

    def forward(self, x: Tensor) -> Tensor:
        return F.conv2d(self.pad(x), self.weight, self.bias)


class Functional(nn.Module):
    """No layer at all: weights, and what is done with them."""

    def __init__(self) -> None:
        super().__init__()
        self.kernels = nn.ParameterList(
            nn.Parameter(torch.randn(CHANNELS, k, 3, 3) / 6) for k in (3, CHANNELS, CHANNELS, CHANNELS)
        )
        self.head = nn.Linear(CHANNELS, CLASSES)

    def forward(self, x: Tensor) -> Tensor:
        size = x.size(0)
        for kernel in self.kernels:
            x = F.conv2d(x, kernel, padding=1).relu()
        return self.head(x.mean((2, 3)).view(size, -1))


KINDS: dict[str, Callable[[], nn.Module]] = {
    "plain": lambda: Net(block),
    "batch size first": lambda: BatchSizeFirst(block),
    "depthwise": lambda: Net(lambda: nn.Sequential(block(3, CHANNELS), block(1))),
    "squeeze and excite": lambda: Net(SqueezeExcite),
    "layer norm": lambda: Net(Normed),
    "attention": lambda: BatchSizeFirst(Attention),
    "bottleneck": lambda: Net(Bottleneck),
    "standardised": lambda: Net(Standardised),
    "padded": lambda: BatchSizeFirst(Padded),
    "functional": Functional,
    "cannot be traced": lambda: Moody(block),
    "cannot be traced, bottleneck": lambda: Moody(Bottleneck),
    "cannot be traced, attention": lambda: Moody(Attention),
}


@pytest.mark.parametrize("kind", KINDS)
def test_a_place_to_cut_is_found_in_every_kind_of_network(kind: str) -> None:
    torch.manual_seed(0)
    model = KINDS[kind]().eval()
    cut = tail_of_share(model, torch.rand(2, 3, 6, 6), 0.4)
    x = torch.rand(7, 3, 6, 6)  # as many images as were never seen
    with torch.no_grad():
        features = cut.stem(x)
        torch.testing.assert_close(cut.tail(features), model(x), rtol=1e-4, atol=1e-4)
        assert flops(cut.tail, features[:1]) < 0.7 * flops(model, x[:1])
    own, first = set(cut.tail.parameters()), next(iter(model.parameters()))
    assert set(model.head.parameters()) < own and first not in own  # type: ignore[union-attr]


def test_a_network_is_left_as_it_was_by_being_run_in_part() -> None:
    model = Moody(block).eval()
    x = torch.rand(4, 3, 6, 6)
    before, keys = model(x), [dict(vars(module)) for module in model.modules()]
    cut = tail_of_share(model, x, 0.4)
    cut.tail(cut.stem(x)).sum().backward()
    assert [list(vars(module)) for module in model.modules()] == [list(one) for one in keys]
    torch.testing.assert_close(model(x), before)


def test_a_weight_that_both_parts_would_use_forbids_the_cut() -> None:
    shared = block()
    model = Net(lambda: shared).eval()
    x = torch.rand(3, 3, 6, 6)
    for find in (traced_places, recorded_places):
        between = [one.cut() for one in find(model, x[:1]) if 0.3 < one.behind < 0.9]
        assert between and not any(cut.holds(model, x) for cut in between)


def test_a_tail_that_would_change_what_it_is_given_is_no_cut() -> None:
    model = nn.Sequential(nn.Conv2d(3, 4, 1), nn.ReLU(inplace=True), nn.Conv2d(4, 4, 1), nn.Flatten(), nn.Linear(36, 2))
    x = torch.rand(3, 3, 3, 3)
    places = {place.name: place for place in traced_places(model, x[:1])}
    assert not places["0"].cut().holds(model, x)
    assert places["1"].cut().holds(model, x)
