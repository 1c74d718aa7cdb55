"""Small networks that know the digits, for methods to be tried on."""

from functools import cache
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import torch
from torch import Tensor, nn
from torch.utils.data import DataLoader, TensorDataset

from unclass.data import Batches, DataOptions, ImageData, ImageSet, TrainingData, Withheld, load_data
from unclass.methods import Prepared
from unclass.methods.retrain import Retrain
from unclass.models import Card, Classifier, build
from unclass.models.networks.small_cnn import SmallCNN
from unclass.predictions import predict
from unclass.training.engine import Engine

_RECIPE = Retrain(epochs=8, lr=0.1)
_FOLDERS: list[TemporaryDirectory[str]] = []  # what prepared methods recorded, until the process ends


def confidence(model: nn.Module, images: ImageSet) -> float:
    """Return the mean probability of the true class."""
    predictions = predict(model, Batches(images, 200), Engine(precision="float32"))
    return predictions.probabilities.gather(1, predictions.labels[:, None]).mean().item()


@cache
def digits() -> ImageData:
    return load_data("digits", DataOptions(per_class=40))


def classifier() -> Classifier:
    torch.manual_seed(0)
    data = digits()
    return build(Card("small-cnn", data.classes, data.train.shape, {"width": 8}))


def _train(model: nn.Module, batches: Any, engine: Engine) -> nn.Module:
    return _RECIPE(model, TrainingData(Withheld("D_f"), batches, ()), engine)


@cache
def trained() -> nn.Module:
    return _train(classifier(), Batches(digits().train, 16, shuffle=True), Engine(precision="float32"))


@cache
def plain() -> nn.Module:
    """A bare network that is no Classifier, trained from a DataLoader."""
    torch.manual_seed(1)
    return _train(SmallCNN(10, width=8), loader(digits().train), Engine(precision="float32"))


def prepared_with(
    method: Prepared, model: nn.Module, classes: tuple[int, ...], batches: Any = None
) -> tuple[Prepared, nn.Module]:
    """Train a network while a prepared method's recorder watches; return the method and the network."""
    folder = TemporaryDirectory()
    _FOLDERS.append(folder)
    place = Path(folder.name) / "kept"
    recorder = method.recorder(place, classes)
    torch.manual_seed(0)
    source = Batches(digits().train, 16, shuffle=True) if batches is None else batches
    trained = _train(model, source, Engine(precision="float32", observer=recorder))
    recorder.finish(trained)
    return method.prepared(place), trained


def loader(images: ImageSet) -> DataLoader[tuple[Tensor, ...]]:
    pixels = images.read(torch.arange(len(images))).float() / 255
    return DataLoader(TensorDataset(pixels, images.labels), batch_size=32, shuffle=True)


def everything_in(model: nn.Module) -> dict[str, Any]:
    """Return all that belongs to a model, and that a method must not change."""
    state: dict[str, Any] = {}
    for name, tensor in (*model.named_parameters(), *model.named_buffers()):
        state |= {name: tensor.detach().clone(), f"{name} (layout)": tensor.stride()}
        state |= {f"{name} (requires_grad)": tensor.requires_grad, f"{name} (gradient)": tensor.grad is None}
    return state | {f"{name} (mode)": module.training for name, module in model.named_modules()}


class Watched:
    """Pixels that remember which of them were read."""

    def __init__(self, source: Any) -> None:
        self.source, self.read, self.shape = source, set[int](), source.shape

    def __len__(self) -> int:
        return len(self.source)

    def __getitem__(self, places: Any) -> Tensor:
        self.read |= set(places.tolist())
        return self.source[places]  # type: ignore[no-any-return]
