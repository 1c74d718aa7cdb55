"""The one training loop. Methods differ in their loss; they share `fit`."""

import math
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field, fields
from pathlib import Path
from typing import Any, Literal, Protocol, get_args

import torch
from torch import Tensor, nn

from unclass.border.plain_types import check_plain
from unclass.data.batches import BatchSource, PairSource, steps_in
from unclass.errors import Diverged, InputError, unknown
from unclass.models.batch_norm import batch_norms
from unclass.models.classifier import weights_digest
from unclass.progress import Tracker, silent
from unclass.training import distributed
from unclass.training.precision import PRECISIONS, check_device, native_bfloat16
from unclass.training.resume import ResumeFile, walk

# loss(model, x, y); over pairs of batches loss(model, (x, y) of the first, (x, y) of the second)
Loss = Callable[[nn.Module, Any, Any], Tensor]
BatchNormMode = Literal["train", "frozen"]
Schedule = Literal["constant", "one-cycle", "cosine"]
Optimiser = Literal["sgd", "adamw"]


class Observer(Protocol):
    """Looks at the weights after every step, for example to record the updates (Amnesiac Unlearning)."""

    def start(self, model: nn.Module) -> None: ...

    def after_step(self, step: int, model: nn.Module, y: Tensor) -> None: ...


@dataclass(frozen=True)
class Budget:
    """When to stop before the epochs are over.

    >>> Budget(steps=100).spent(steps=100, seconds=3.5)
    True
    """

    steps: int | None = None
    seconds: float | None = None

    def spent(self, steps: int, seconds: float) -> bool:
        return (self.steps is not None and steps >= self.steps) or (
            self.seconds is not None and seconds >= self.seconds
        )


@dataclass
class Engine:
    """Where and how to compute: device, precision, and when to stop.

    `device` is a name such as `cuda:0`, or a `torch.device`. `precision` is that of `fit` alone: weights stay as they
    are and predictions are made in 32 bits. `auto` multiplies in bfloat16 where the processor does that natively.

    Example: `unclass.forget(model, loader, "deer", engine=unclass.Engine(precision="float32"))`

    `steps` counts what has been done through it, and `earlier_seconds` what a resumed run took before it was killed. In
    `findings` a method leaves what it found out about its own result. `purpose` says what a run is for, so that its
    resume file is not taken for that of another.
    """

    device: str = "cpu"
    precision: str = "auto"
    compile: bool = False
    budget: Budget = field(default_factory=Budget)
    progress: Tracker = silent
    checkpoint: Path | None = None
    checkpoint_seconds: float = 30.0
    observer: Observer | None = None
    steps: int = field(default=0, init=False)
    earlier_seconds: float = field(default=0.0, init=False)
    findings: dict[str, float] = field(default_factory=dict, init=False)
    purpose: str = field(default="", init=False)

    def __post_init__(self) -> None:
        if isinstance(self.device, torch.device):
            self.device = str(self.device)
        check_plain({one.name: getattr(self, one.name) for one in fields(self)}, Engine)
        if self.precision not in (*PRECISIONS, "auto"):
            raise unknown("precision", self.precision, (*PRECISIONS, "auto"))
        check_device(self.device)
        if self.precision == "auto":
            self.precision = "bfloat16" if native_bfloat16(self.device) else "float32"

    def place(self, model: nn.Module) -> nn.Module:
        """Move a model to the device, in the memory layout that suits it."""
        layout = layout_for(model, self.device)
        return model.to(self.device, memory_format=layout)  # type: ignore[call-overload, no-any-return]

    def stream(self, batches: BatchSource, what: str = "") -> Iterator[tuple[Tensor, Tensor]]:
        """Walk once through batches, on the device, with progress if `what` says what it is for."""
        steps = self.progress(batches, what, len(batches)) if what else iter(batches)
        return (self.move(x, y) for x, y in steps)

    def move(self, x: Tensor, y: Tensor) -> tuple[Tensor, Tensor]:
        """Bring a batch to the device. Layers lay it out as they want it."""
        return x.to(self.device), y.to(self.device)

    @contextmanager
    def arithmetic(self) -> Iterator[None]:
        """Compute in the engine's precision."""
        low = self.precision != "float32"
        with torch.autocast(torch.device(self.device).type, PRECISIONS[self.precision], enabled=low):
            yield

    def fit(
        self,
        model: nn.Module,
        batches: BatchSource | PairSource,
        loss: Loss,
        *,
        epochs: int,
        lr: float,
        momentum: float = 0.9,
        weight_decay: float = 0.0,
        schedule: Schedule = "constant",
        optimiser: Optimiser = "sgd",
        batch_norm: BatchNormMode = "train",
        clip: float | None = None,
        whole: bool = False,
        until: Callable[[], bool] | None = None,
        resumable: bool = True,
        what: str = "training",
    ) -> nn.Module:
        """Minimise `loss(model, x, y)` over the batches; change `model` in place and return it.

        Over pairs (`Paired`, `Turns`) the loss is given two batches, each (x, y). The run ends early when `until()`
        is true after a step. `clip` is the most that the norm of a gradient may be. A loss that is no mean over images
        must be given every batch `whole`: then several processes do not share it. Of several fits in one method, all
        but the last must not be `resumable`: they are done again when the method is.
        """
        model = self.place(model)
        steps = _optimiser(optimiser, model, lr, momentum, weight_decay, nesterov=schedule == "one-cycle")
        total = steps_in(batches, epochs)
        run = (
            f"{what}: {total} steps, lr {lr}, momentum {momentum}, weight decay {weight_decay}, {schedule}, "
            f"{self.precision}, batch norm {batch_norm}, seed {torch.initial_seed()}"
        )
        kept = self._resume_file(model, run, optimiser, clip) if resumable else ResumeFile(None, run)
        position = kept.load(model, steps)
        self.steps += position.step
        self.earlier_seconds += position.seconds
        if self.observer is not None:
            self.observer.start(model)
        forward: Any = torch.compile(model) if self.compile else model
        saved = time.monotonic()
        began = saved - position.seconds
        with _training_mode(model, batch_norm), distributed.joint_batch_norm(model):
            for batch in self.progress(walk(batches, epochs, position), what, total, position.step):
                for group in steps.param_groups:
                    group["lr"] = float(learning_rate(schedule, lr, position.step / max(total, 1)))
                with _diverging(kept, f"{what}, step {position.step + 1} of {total} (lr {lr})"):
                    self._step(forward, steps, loss, batch, clip, whole)
                position.step += 1
                self.steps += 1
                if self.observer is not None:
                    self.observer.after_step(position.step, model, _labels(batch))
                now = time.monotonic()
                position.seconds = distributed.longest(now - began)
                if self.budget.spent(position.step, position.seconds) or (until is not None and until()):
                    break
                if now - saved > self.checkpoint_seconds:
                    kept.save(model, steps, position)
                    saved = now
        kept.finish(model, steps, position)
        return model.eval()

    def _resume_file(self, model: nn.Module, run: str, optimiser: Optimiser, clip: float | None) -> ResumeFile:
        """Return the file to go on from, which is of this run from these weights and no other."""
        more = ("" if optimiser == "sgd" else f", {optimiser}") + ("" if clip is None else f", clip {clip}")
        weights = "" if self.checkpoint is None else f", from weights {weights_digest(model)[:12]}"
        return ResumeFile(self.checkpoint, "; ".join(filter(None, (self.purpose, f"{run}{more}{weights}"))))

    def _step(
        self,
        model: nn.Module,
        optimiser: torch.optim.Optimizer,
        loss: Loss,
        batch: tuple[Any, Any],
        clip: float | None = None,
        whole: bool = False,
    ) -> None:
        first, second, count = self._share(batch, whole)
        optimiser.zero_grad(set_to_none=True)
        with self.arithmetic():
            value = distributed.part_of_mean(loss(model, first, second), count)
        if not math.isfinite(distributed.total(value)):
            raise Diverged("the loss is not finite")
        value.backward()
        parameters = [parameter for group in optimiser.param_groups for parameter in group["params"]]
        distributed.sum_gradients(parameters)
        if clip is not None:
            nn.utils.clip_grad_norm_(parameters, clip)
        optimiser.step()

    def _share(self, batch: tuple[Any, Any], whole: bool = False) -> tuple[Any, Any, int]:
        """Return this process's part of a batch or of a pair of batches, on the device, and how many images it has."""
        if isinstance(batch[0], Tensor):
            x, y = self.move(*distributed.share(*batch, whole=whole))
            return x, y, len(x)
        first, second = (self.move(*one) for one in distributed.share_pair(*batch, whole=whole))
        return first, second, len(first[0]) + len(second[0])


def layout_for(model: nn.Module, device: str) -> torch.memory_format:
    """Return the memory layout that suits a model: channels last, which convolutions like.

    Not so with group norm on a CPU: torch 2.13's gradient of it crashes on pictures in that layout.
    """
    if device == "cpu" and any(isinstance(module, nn.GroupNorm) for module in model.modules()):
        return torch.contiguous_format
    return torch.channels_last


def learning_rate(schedule: Schedule, peak: float, done: float) -> float:
    """Return the learning rate when the share `done` of all steps lies behind.

    `one-cycle`: up in a straight line for the first twelfth, then down to zero; `cosine`: down along half a wave.
    """
    if schedule == "constant":
        return peak
    if schedule == "one-cycle":
        return peak * min(12 * done, 12 / 11 * (1 - done), 1.0)
    if schedule == "cosine":
        return peak * (1 + math.cos(math.pi * done)) / 2
    raise unknown("schedule", schedule, get_args(Schedule))


def _optimiser(
    name: Optimiser, model: nn.Module, lr: float, momentum: float, weight_decay: float, *, nesterov: bool
) -> torch.optim.Optimizer:
    """Return what makes the steps, over all weights that want a gradient."""
    weights = [weight for weight in model.parameters() if weight.requires_grad]
    if not weights:
        raise InputError("nothing that would be trained asks for gradients (requires_grad is False); unfreeze a layer")
    lr, momentum, weight_decay = float(lr), float(momentum), float(weight_decay)  # a whole number may be too long
    if name == "sgd":
        return torch.optim.SGD(weights, lr, momentum, weight_decay=weight_decay, nesterov=nesterov and momentum > 0)
    if name == "adamw":
        return torch.optim.AdamW(weights, lr, betas=(momentum, 0.999), weight_decay=weight_decay)
    raise unknown("optimiser", name, get_args(Optimiser))


def _labels(batch: tuple[Any, Any]) -> Tensor:
    """Return the labels of a batch, or of both batches of a pair."""
    first, second = batch
    return second if isinstance(first, Tensor) else torch.cat([first[1], second[1]])


@contextmanager
def _diverging(kept: ResumeFile, at: str) -> Iterator[None]:
    """Say where a run diverged, which is not to be gone on with."""
    try:
        yield
    except Diverged as error:
        kept.remove()
        raise Diverged(f"{error} in {at}; nothing was changed: lower lr or the number of epochs") from None


@contextmanager
def _training_mode(model: nn.Module, batch_norm: BatchNormMode) -> Iterator[None]:
    """Training mode, in which batch norm may be left as it is: frozen statistics, no update."""
    if batch_norm not in ("train", "frozen"):
        raise unknown("batch_norm", batch_norm, ("train", "frozen"))
    model.train()
    if batch_norm == "frozen":
        for layer in batch_norms(model):
            layer.eval()
    try:
        yield
    finally:
        model.eval()
