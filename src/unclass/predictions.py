"""Logits, computed once for each set of images; everything after that works on them."""

import logging
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

import torch
from safetensors.torch import load_file
from torch import Tensor, nn

from unclass.border.offline import reading
from unclass.data.batches import Batches, BatchSource
from unclass.data.images import ImageSet
from unclass.data.split import Split
from unclass.errors import InputError
from unclass.models.any_output import check_outputs, looking
from unclass.models.safetensors_file import save_tensors
from unclass.storage import settle, write_atomically
from unclass.training.engine import Engine

# Larger batches are slower on CPUs: their activations come from the system anew each time instead of from the heap.
LOOKING_BATCH = 64
_log = logging.getLogger(__name__)


@dataclass(frozen=True, eq=False, repr=False)
class Predictions:
    """What a model says of a set of images: N × K logits beside the N true labels.

    >>> Predictions(torch.tensor([[2.0, 1.0], [0.0, 3.0]]), torch.tensor([0, 0])).classes
    tensor([0, 1])
    """

    logits: Tensor
    labels: Tensor

    def __post_init__(self) -> None:
        if self.logits.dim() != 2 or len(self.logits) != len(self.labels):
            shapes = f"{tuple(self.logits.shape)} and {tuple(self.labels.shape)}"
            raise InputError(f"logits and labels of shapes {shapes} do not fit; give N × K and N")

    def __len__(self) -> int:
        return len(self.labels)

    def __repr__(self) -> str:
        return f"<Predictions of {len(self):,} images, {self.logits.shape[1]} classes>"

    @cached_property
    def probabilities(self) -> Tensor:
        return self.logits.softmax(dim=1)

    @cached_property
    def classes(self) -> Tensor:
        """The predicted class of each image."""
        return self.logits.argmax(dim=1)

    @cached_property
    def correct(self) -> Tensor:
        """Whether each image is predicted as what it is."""
        return self.classes == self.labels

    @cached_property
    def entropy(self) -> Tensor:
        """Entropy of each output in nats."""
        terms: Tensor = torch.special.entr(self.probabilities)
        return terms.sum(dim=1)

    def select(self, rows: Tensor) -> "Predictions":
        return Predictions(self.logits[rows], self.labels[rows])


Outputs = Predictions | Tensor | tuple[Tensor, Tensor]


def as_predictions(outputs: Outputs, labels: Tensor | None = None) -> Predictions:
    """Return logits as predictions: given as such, as a pair of logits and labels, or as the two one after the other.

    Logits alone will do where no label is asked for.
    """
    if isinstance(outputs, Predictions):
        return outputs
    logits, known = outputs if isinstance(outputs, tuple) else (outputs, labels)
    logits = torch.as_tensor(logits)
    nobody = torch.full((len(logits),), -1) if known is None else torch.as_tensor(known)
    return Predictions(logits, nobody)


def predict(model: nn.Module, batches: BatchSource, engine: Engine, what: str = "") -> Predictions:
    """Return the logits of a model in evaluation mode, in 32 bits, with the labels. The model stays as it is."""
    logits, labels = [], []
    with looking(model):
        engine.place(model)
        for x, y in engine.stream(batches, what):
            logits.append(model(x).float().cpu())
            labels.append(y.cpu())
    found = Predictions(torch.cat(logits), torch.cat(labels))
    check_outputs(found.logits)
    return found


def predict_sets(
    model: nn.Module, split: Split, engine: Engine, batch_size: int = LOOKING_BATCH, workers: int = 0
) -> dict[str, Predictions]:
    """Return the predictions on D_r, D_f, D_rt and D_ft."""

    def predict_one(name: str, images: ImageSet) -> Predictions:
        _log.info("predicting %s images of %s on %s", f"{len(images):,}", name.replace("_", " "), engine.device)
        batches = Batches(images, batch_size, workers=workers)
        return predict(model, batches, engine, f"predicting {name.replace('_', ' ')}")

    return {name: predict_one(name, images) for name, images in split.sets().items()}


def save_predictions(sets: Mapping[str, Predictions], path: Path) -> Path:
    """Write predictions so that every figure can be redrawn without the model."""
    tensors = {f"{name}.logits": p.logits.contiguous() for name, p in sets.items()}
    tensors |= {f"{name}.labels": p.labels.contiguous() for name, p in sets.items()}
    return write_atomically(path, lambda file: save_tensors(tensors, file))


def load_predictions(path: Path) -> dict[str, Predictions]:
    """Read what `save_predictions` wrote."""
    settle(path)
    with reading(f"{path} holds no predictions: it", "delete it to run this again"):
        tensors = load_file(path)
        names = sorted({key.rsplit(".", 1)[0] for key in tensors})
        found = {name: Predictions(tensors[f"{name}.logits"], tensors[f"{name}.labels"]) for name in names}
        for name, one in found.items():
            kinds = one.logits.is_floating_point(), one.labels.is_floating_point()
            if one.logits.dim() != 2 or one.labels.shape != one.logits.shape[:1] or kinds != (True, False):
                raise ValueError(f"{name} has logits of {tuple(one.logits.shape)}, labels of {tuple(one.labels.shape)}")
        return found
