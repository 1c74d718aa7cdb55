"""Recording parameter updates on disk while a model is trained, for Amnesiac Unlearning."""

import json
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import torch
from safetensors import safe_open
from torch import Tensor, nn

from unclass.border.offline import reading
from unclass.data.batches import Batches
from unclass.errors import InputError
from unclass.models.any_model import inner
from unclass.models.any_output import Logits
from unclass.models.classifier import has_weights, weights_digest
from unclass.models.safetensors_file import save_tensors
from unclass.storage import read_json, require_plain, require_space, write_atomically, write_json
from unclass.training import distributed


class UpdateRecorder:
    """Writes the update of every step whose batch holds one of the named classes. An `Observer` of the engine.

    In a training script of one's own: give `model` before the first step, then call `after_step` after each and
    `finish` at the end.

    Example: `recorder = unclass.UpdateRecorder("updates", [3], model)`
    """

    def __init__(self, folder: str | Path, classes: Sequence[int], model: nn.Module | None = None) -> None:
        if not classes or not all(isinstance(index, int) and index >= 0 for index in classes):
            raise InputError(f"{list(classes)} are no classes to record; give their indices, such as [3]")
        self.folder, self.classes = Path(folder), torch.tensor(list(classes))
        self.before: dict[str, Tensor] = {}
        self.last: Path | None = None
        if model is not None:
            prepare_recording(self.folder, 0)
            self.start(model)

    @property
    def keeps(self) -> str:
        """What is kept and where: a killed run that kept something else is not gone on with."""
        return f"updates of classes {self.classes.tolist()} in {self.folder.absolute()}"

    def start(self, model: nn.Module) -> None:
        self.folder.mkdir(parents=True, exist_ok=True)
        self.before = {name: weight.detach().cpu().clone() for name, weight in _bare(model).named_parameters()}

    def after_step(self, step: int, model: nn.Module, y: Tensor) -> None:
        if not self.before:
            raise InputError("no weights to compare with; give the model to UpdateRecorder before the first step")
        held = self.classes[torch.isin(self.classes, y.cpu())]
        path = self.folder / f"{step:08d}.safetensors"
        after = {name: weight.detach().cpu() for name, weight in _bare(model).named_parameters()}
        if len(held) and distributed.is_first():
            update = {name: (after[name] - self.before[name]).contiguous() for name in after}
            metadata = {"classes": json.dumps(held.tolist())}
            write_atomically(path, lambda file: save_tensors(update, file, metadata))
        elif distributed.is_first():
            path.unlink(missing_ok=True)  # left by another run that was killed
        self.last = path
        for name, weight in after.items():
            self.before[name].copy_(weight)

    def finish(self, model: nn.Module) -> None:
        """Say whose updates these are, so that they are never subtracted from another model."""
        if distributed.is_first():
            for path in self.folder.glob("*.safetensors"):
                if self.last is not None and path > self.last:  # left by a longer run that was killed
                    path.unlink()
            content = {"classes": self.classes.tolist(), "weights": weights_digest(_bare(model))}
            write_json(self.folder / "updates.json", content)


def recorded_size(batches: Batches, classes: Sequence[int], epochs: int, model: nn.Module) -> tuple[int, int]:
    """Return how many updates a training run will record and how many bytes they take."""
    wanted, labels = torch.tensor(list(classes)), batches.images.labels
    count = sum(
        bool(torch.isin(labels[rows], wanted).any()) for epoch in range(epochs) for rows in batches.order(epoch)
    )
    return count, count * sum(weight.numel() * weight.element_size() for weight in model.parameters())


def prepare_recording(folder: Path, needed: int) -> None:
    """Raise unless `folder` is free to record into and the disk has room."""
    if folder.is_dir() and any(folder.glob("*.json")):
        raise InputError(f"{folder} holds recorded updates already; name another folder or delete it")
    require_space(folder, needed)


def recorded_updates(
    folder: Path, model: nn.Module, forget: Sequence[int], earlier: Sequence[int] = ()
) -> Iterator[dict[str, Tensor]]:
    """Walk through the recorded updates of batches that held one of the classes to forget.

    Those that went `earlier` need not have been recorded: the model may have been trained without them.
    """
    check_updates(folder, model, [index for index in forget if index not in earlier])
    prefix = "network." if isinstance(model, Logits) else ""
    shapes = {name: weight.shape for name, weight in _bare(model).named_parameters()}
    for path in sorted(folder.glob("*.safetensors")):
        if update := _update(path, forget, shapes):
            yield {prefix + name: change for name, change in update.items()}


def _update(path: Path, forget: Sequence[int], shapes: Mapping[str, torch.Size]) -> dict[str, Tensor]:
    """Return the update that a file holds, one change for each weight; none if no class of the batch is to go."""
    require_plain(path)
    with reading(f"{path}, a recorded update,", "record the updates again"), safe_open(path, framework="pt") as file:
        if not set(json.loads(file.metadata()["classes"])) & set(forget):
            return {}
        update = {name: file.get_tensor(name) for name in file.keys()}  # noqa: SIM118
        found = {name: change.shape for name, change in update.items()}
        if found != shapes or not all(change.isfinite().all() for change in update.values()):
            raise ValueError("it does not hold a finite change for each weight of the model")
        return update


def check_updates(folder: Path, model: nn.Module, forget: Sequence[int]) -> None:
    """Raise unless `folder` holds the updates of this model for the classes to forget."""
    content = _content(folder)
    missing = sorted(set(forget) - set(content["classes"]))
    if missing:
        raise InputError(
            f"{folder} recorded classes {content['classes']}, not {missing}; train again with `record_class` for each"
        )
    if not has_weights(_bare(model), content["weights"]):
        raise InputError(f"{folder} was recorded for another model; give the one that was trained with it")


def _bare(model: nn.Module) -> nn.Module:
    """Return the network as its owner trains it, without what torch or we put around it."""
    found = inner(model)
    return found.network if isinstance(found, Logits) else found


def _content(folder: Path) -> dict[str, Any]:
    if not (folder / "updates.json").is_file():
        raise InputError(
            f"{folder} holds no recorded updates; record them while training with `record_updates` DIR "
            "and `record_class` CLASS, then give the method updates=DIR (in your own script: unclass.UpdateRecorder)"
        )
    content = read_json(folder / "updates.json")
    classes = content.get("classes")
    if not isinstance(classes, list) or not all(type(one) is int for one in classes) or "weights" not in content:
        raise InputError(f"{folder / 'updates.json'} is damaged; record the updates again")
    return content
