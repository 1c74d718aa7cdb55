"""After any verb and any method, what was handed in is as it was: one contract over all of them."""

import random
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from copy import deepcopy
from pathlib import Path
from typing import Any

import numpy
import pytest
import torch
from torch import nn

import unclass
from unclass.data import ImageData
from unclass.errors import InputError
from unclass.methods import METHODS
from unclass.methods.configure import configure
from unclass.models import Classifier, weights_digest
from unclass.training.engine import Engine


def state(model: nn.Module) -> list[Any]:
    """Everything about a model that its owner could miss."""
    weights = [
        (name, weight.device, weight.stride(), weight.requires_grad, weight.data_ptr(), weight.detach().clone())
        for name, weight in model.named_parameters()
    ]
    buffers = [(name, buffer.device, buffer.stride(), buffer.clone()) for name, buffer in model.named_buffers()]
    modes = [(name, module.training) for name, module in model.named_modules()]
    return [*weights, *buffers, *modes]


def same(one: Any, other: Any) -> bool:
    if isinstance(one, torch.Tensor):
        return torch.equal(one, other)
    if isinstance(one, list | tuple):
        return len(one) == len(other) and all(same(left, right) for left, right in zip(one, other, strict=True))
    return bool(one == other)


@contextmanager
def unaltered(*models: nn.Module) -> Iterator[None]:
    """Raise unless models, torch's generator and its settings are afterwards as they were."""
    before = [state(model) for model in models]
    random, threads, gradients = torch.get_rng_state(), torch.get_num_threads(), torch.is_grad_enabled()
    yield
    for model, was in zip(models, before, strict=True):
        for now, then in zip(state(model), was, strict=True):
            assert same(now, then), f"{now[0]} was altered"
    assert torch.equal(torch.get_rng_state(), random), "torch's generator was used"
    assert (torch.get_num_threads(), torch.is_grad_enabled()) == (threads, gradients)


@pytest.fixture
def theirs(model: Classifier) -> nn.Module:
    """A network as somebody has it: in training mode, batch norms frozen, one layer without gradients."""
    network = model.train()
    for module in network.modules():
        if isinstance(module, nn.BatchNorm2d):
            module.eval()
    next(network.parameters()).requires_grad_(False)
    torch.manual_seed(1234)
    return network


def options_for(name: str, recorded: tuple[Classifier, Path]) -> dict[str, Any]:
    """Options that make a method quick, and the recorded updates for the one that needs them."""
    return quick(name) | ({"updates": str(recorded[1])} if "updates" in vars(configure(name)) else {})


def quick(name: str) -> dict[str, Any]:
    """Options that make a method quick."""
    known = vars(configure(name))
    less = {"epochs": 1, "repair_epochs": 1, "images": 16, "steps": 2}
    return {key: value for key, value in less.items() if key in known}


@pytest.mark.parametrize("name", METHODS)
def test_forget_alters_nothing(
    name: str, theirs: nn.Module, digits: ImageData, recorded: tuple[Classifier, Path], engine: Engine
) -> None:
    model = deepcopy(recorded[0]) if name == "amnesiac" else theirs
    torch.manual_seed(99)
    with unaltered(model):
        unclass.forget(model, digits, "3", name, engine=engine, **options_for(name, recorded))


@pytest.mark.parametrize(
    "verb",
    [
        lambda model, data, engine: unclass.evaluate(model, data, "3", engine=engine),
        lambda model, data, engine: unclass.doctor(model, data, "3", engine=engine),
        lambda model, data, engine: unclass.audit(model, deepcopy(model), data, "3", engine=engine),
        lambda model, data, engine: unclass.audit(deepcopy(model), model, data, "3", model, engine=engine),
    ],
    ids=["evaluate", "doctor", "audit", "audit-as-original-and-reference"],
)
def test_verbs_that_look_alter_nothing(
    verb: Callable[..., Any], theirs: nn.Module, digits: ImageData, engine: Engine
) -> None:
    with unaltered(theirs):
        verb(theirs, digits, engine)


class Named(nn.Module):
    """A network with its logits in a dict, as many have them."""

    def __init__(self, network: nn.Module) -> None:
        super().__init__()
        self.network = network

    def forward(self, x: torch.Tensor) -> dict[str, torch.Tensor]:
        return {"logits": self.network(x)}


@pytest.mark.parametrize("form", ["card", "dict", "bare", "float16"])
@pytest.mark.parametrize("head", ["", "head", "no-such-layer"])
def test_neither_a_heads_name_nor_odd_outputs_alter_the_modes_of_layers(
    form: str, head: str, theirs: Classifier, digits: ImageData, engine: Engine
) -> None:
    model: nn.Module = {"card": theirs, "dict": Named(theirs.network), "bare": theirs.network}.get(form) or Named(
        theirs.network
    ).half()
    verbs: tuple[Callable[[], Any], ...] = (
        lambda: unclass.evaluate(model, digits, "3", engine=engine, head=head),
        lambda: unclass.forget(model, digits, "3", "negative-gradient", engine=engine, head=head, epochs=1),
        lambda: unclass.doctor(model, digits, "3", "boundary-shift", engine=engine, head=head),
    )
    for verb in verbs:
        with unaltered(model), suppress(InputError):
            verb()


def test_training_and_comparing_use_up_no_random_numbers(digits: ImageData, engine: Engine, tmp_path: Path) -> None:
    with unaltered():
        unclass.train(digits, "small-cnn", model_options={"width": 2}, epochs=1, engine=engine)
        unclass.compare(
            digits, "3", "logit-mask", model_options={"width": 2}, recipe={"epochs": 1}, out=tmp_path, audited=False,
            engine=engine,
        )  # fmt: skip


def test_a_model_stays_as_it_is_where_a_verb_fails(theirs: nn.Module, digits: ImageData, engine: Engine) -> None:
    with unaltered(theirs), pytest.raises(unclass.Diverged):
        unclass.forget(theirs, digits, "3", "negative-gradient", engine=engine, epochs=5, lr=1e20)


def test_what_comes_back_lies_where_the_model_lay(theirs: nn.Module, digits: ImageData, engine: Engine) -> None:
    found = unclass.forget(theirs, digits, "3", "random-labels", engine=engine, epochs=1)
    for one, other in zip(theirs.parameters(), found.parameters(), strict=True):
        assert one.device == other.device and one.stride() == other.stride()


@pytest.mark.parametrize("name", ["boundary-shift", "finetune", "fisher", "salun", "retrain", "head-only"])
def test_a_network_that_is_frozen_whole_is_unlearned_and_comes_back_frozen(
    name: str, trained: Classifier, digits: ImageData, engine: Engine
) -> None:
    frozen = deepcopy(trained).requires_grad_(False)
    free = unclass.forget(trained, digits, "3", name, engine=engine, **quick(name))
    with unaltered(frozen):
        found = unclass.forget(frozen, digits, "3", name, engine=engine, **quick(name))
    assert not any(weight.requires_grad for weight in found.parameters())
    assert weights_digest(found) == weights_digest(free)


def test_an_audit_attacks_frozen_networks_as_others(trained: Classifier, digits: ImageData, engine: Engine) -> None:
    frozen = deepcopy(trained).requires_grad_(False)
    with unaltered(frozen):
        found = unclass.audit(frozen, frozen, digits, "3", engine=engine)
    free = unclass.audit(trained, trained, digits, "3", engine=engine)
    assert found.relearning == free.relearning and found.verdict == free.verdict


def test_a_layer_that_is_frozen_and_all_that_is_trained_is_one_line(
    model: Classifier, digits: ImageData, engine: Engine
) -> None:
    list(model.modules())[-1].requires_grad_(False)
    with unaltered(model), pytest.raises(InputError, match="asks for gradients"):
        unclass.forget(model, digits, "3", "head-only", engine=engine, epochs=1)


class Drawn(torch.utils.data.Dataset[tuple[torch.Tensor, int]]):
    """Pictures that are changed at random whenever they are read, as transforms change them."""

    def __init__(self, images: Any) -> None:
        self.images = images.read(torch.arange(len(images))).float() / 255
        self.targets = images.labels.tolist()

    def __len__(self) -> int:
        return len(self.targets)

    def __getitem__(self, place: int) -> tuple[torch.Tensor, int]:
        noise = torch.rand(1) + random.random() + float(numpy.random.rand())
        return self.images[place] + 1e-3 * noise, self.targets[place]


@pytest.mark.parametrize("verb", ["forget", "evaluate", "doctor"])
def test_transforms_that_draw_use_up_no_random_numbers_of_the_caller(
    model: Classifier, digits: ImageData, verb: str
) -> None:
    sets = (Drawn(digits.train), Drawn(digits.test))
    numpy.random.seed(5)
    random.seed(6)
    plain, arrays = random.getstate(), numpy.random.get_state()[1].copy()  # type: ignore[index,union-attr]
    with unaltered(model):
        getattr(unclass, verb)(model, sets, [3])
    assert random.getstate() == plain
    assert (numpy.random.get_state()[1] == arrays).all()  # type: ignore[index]
