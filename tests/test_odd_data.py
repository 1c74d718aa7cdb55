"""Whatever a Dataset of one's own does, every verb works or says in one line what is wrong, and alters nothing."""

import random
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
import pytest
import torch
from PIL import Image
from torch import Tensor, nn
from torch.utils.data import ConcatDataset, DataLoader, Dataset, IterableDataset, StackDataset, Subset, TensorDataset

import unclass
from unclass.errors import InputError
from unclass.training.engine import Engine

COUNT, CLASSES = 24, 4
Y = torch.arange(COUNT) % CLASSES
X = torch.rand(COUNT, 3, 8, 8, generator=torch.Generator().manual_seed(0)) + 0.2 * Y.view(-1, 1, 1, 1)


class Items(Dataset[Any]):
    """Items by a function of their place."""

    def __init__(self, item: Callable[[int], Any], count: Any = COUNT, **known: Any) -> None:
        self.item, self.count = item, count
        vars(self).update(known)

    def __len__(self) -> Any:
        return self.count

    def __getitem__(self, place: int) -> Any:
        return self.item(place)


class Stream(IterableDataset[Any]):
    """Items one after the other."""

    def __init__(self, item: Callable[[int], Any]) -> None:
        self.item = item

    def __iter__(self) -> Iterator[Any]:
        return (self.item(place) for place in range(COUNT))


def pair(place: int) -> tuple[Tensor, int]:
    return X[place], int(Y[place])


def labelled(label: Callable[[int], Any]) -> Items:
    return Items(lambda place: (X[place], label(int(Y[place]))))


def raising(error: Exception, at: int) -> Callable[[int], Any]:
    def item(place: int) -> Any:
        if place == at:
            raise error
        return pair(place)

    return item


def picture(place: int) -> Image.Image:
    return Image.fromarray((X[place].clamp(0, 1) * 255).byte().permute(1, 2, 0).numpy())


def drawn(place: int) -> tuple[Tensor, int]:
    return X[place] + torch.rand(1) + random.random() + float(np.random.rand()), int(Y[place])


WORKS: dict[str, Callable[[], Any]] = {
    "pairs": lambda: [pair(place) for place in range(COUNT)],
    "lists": lambda: Items(lambda place: list(pair(place))),
    "triples": lambda: Items(lambda place: (*pair(place), "name")),
    "dicts": lambda: Items(lambda place: {"image": X[place].numpy(), "label": np.int32(Y[place])}),
    "pictures": lambda: Items(lambda place: (picture(place), int(Y[place]))),
    "bytes": lambda: TensorDataset((X.clamp(0, 1) * 255).byte(), Y.byte()),
    "labels as tensors": lambda: labelled(lambda label: torch.tensor([label])),
    "drawn at random": lambda: Items(drawn),
    "a stream": lambda: Stream(pair),
    "turned": lambda: Subset(TensorDataset(X, Y), [-1 - place for place in range(COUNT)]),
    "joined": lambda: ConcatDataset([TensorDataset(X[:9], Y[:9]), Items(lambda place: pair(place + 9), COUNT - 9)]),
    "stacked": lambda: StackDataset(image=X, label=Y),
    "targets of another kind": lambda: Items(pair, targets={"boxes": 3}),
    "batches of one": lambda: DataLoader(TensorDataset(X, Y), batch_size=1),
}  # fmt: skip
ERRORS = (IndexError("x"), StopIteration(), KeyError("k"), OSError("gone"), ValueError("two\nlines"), RuntimeError("r"),
          AssertionError(), NotImplementedError(), ZeroDivisionError("z"), RecursionError("deep"))  # fmt: skip
FAILS: dict[str, Callable[[], Any]] = {
    "nothing": lambda: Items(pair, 0),
    "an empty stream": lambda: DataLoader(Subset(TensorDataset(X, Y), [])),
    "a length that lies": lambda: Items(raising(IndexError("end"), COUNT), COUNT + 1),
    "no length": lambda: Items(pair, "many"),
    "one number": lambda: torch.tensor(3),
    "no pairs": lambda: Items(lambda place: X[place]),
    "none": lambda: Items(lambda place: None),
    "other keys": lambda: Items(lambda place: {"photo": X[place], "kind": 0}),
    "labels as text": lambda: labelled(str),
    "labels in a row": lambda: labelled(lambda label: torch.eye(CLASSES)[label].long()),
    "labels below zero": lambda: TensorDataset(X, Y - 1),
    "labels beyond": lambda: TensorDataset(X, Y + 10**12),
    "flat": lambda: TensorDataset(X.flatten(1), Y),
    "sparse": lambda: Items(lambda place: (X[place].to_sparse(), int(Y[place]))),
    "not finite": lambda: TensorDataset(X / 0, Y),
    "whole numbers": lambda: TensorDataset((X * 100).long(), Y),
    "a collate_fn that fails": lambda: DataLoader(TensorDataset(X, Y), collate_fn=lambda items: 1 / 0),
    "a function": lambda: pair,
    **{f"{type(error).__name__} at {at}": lambda error=error, at=at: Items(raising(error, at))
       for error in ERRORS for at in (0, 7)},
    **{f"{type(error).__name__} in a stream": lambda error=error: Stream(raising(error, 7)) for error in ERRORS[:3]},
}  # fmt: skip
ENGINE = Engine(precision="float32")
VERBS: dict[str, Callable[[nn.Module, Any], Any]] = {
    "forget": lambda model, data: unclass.forget(model, data, 2, "finetune", epochs=1, engine=ENGINE),
    "evaluate": lambda model, data: unclass.evaluate(model, data, 2, engine=ENGINE),
    "doctor": lambda model, data: unclass.doctor(model, data, 2, engine=ENGINE),
    "train": lambda _, data: unclass.train(data, "small-cnn", model_options={"width": 2}, epochs=1, engine=ENGINE),
}


@pytest.fixture
def network() -> nn.Module:
    torch.manual_seed(0)
    made = nn.Sequential(nn.Conv2d(3, 4, 3), nn.BatchNorm2d(4), nn.AdaptiveAvgPool2d(1), nn.Flatten(), nn.Linear(4, 4))
    made[1].eval()
    return made


def everything(network: nn.Module) -> list[Any]:
    """What belongs to the caller: weights and modes of a network, and all random numbers, as what can be compared."""
    weights = [weight.tolist() for weight in network.state_dict().values()]
    numbers = torch.get_rng_state().tolist(), np.random.get_state()[1].tolist(), random.getstate()  # type: ignore[index,union-attr]
    return [weights, [module.training for module in network.modules()], numbers]


@pytest.mark.parametrize("verb", VERBS)
@pytest.mark.parametrize("kind", WORKS)
def test_data_of_a_usual_kind_works(kind: str, verb: str, network: nn.Module) -> None:
    before = everything(network)
    assert VERBS[verb](network, WORKS[kind]()) is not None
    assert everything(network) == before


@pytest.mark.parametrize("verb", VERBS)
@pytest.mark.parametrize("kind", FAILS)
def test_data_that_cannot_be_used_is_one_line(kind: str, verb: str, network: nn.Module) -> None:
    before = everything(network)
    if verb == "doctor":
        found = VERBS[verb](network, FAILS[kind]())
        said = next((one.says for one in found if one.status == "wrong"), "")
        assert said or "at 7" in kind  # the doctor looks at a sample
    else:
        with pytest.raises(InputError) as caught:
            VERBS[verb](network, FAILS[kind]())
        said = str(caught.value)
    assert "\n" not in said and "--" not in said and len(said) < 400
    assert everything(network) == before


@pytest.mark.parametrize("kind", ["drawn at random", "a stream"])
def test_an_audit_takes_them_too_and_asks_for_training_images(kind: str, network: nn.Module) -> None:
    sets = (WORKS[kind](), WORKS[kind]())
    assert unclass.audit(network, network, sets, 2, engine=ENGINE).verdict.status == "failed"
    with pytest.raises(InputError, match="no training images"):
        unclass.audit(network, network, (None, sets[1]), 2, engine=ENGINE)
