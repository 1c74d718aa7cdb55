"""The one training loop. Methods differ in their loss; they share `fit`."""

import math
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path
from pickle import UnpicklingError
from typing import Any, Literal, Protocol

import torch
from torch import Tensor, nn
from torch.nn.modules.batchnorm import _BatchNorm

from unclass.data.batches import BatchSource, set_epoch
from unclass.errors import Diverged, InputError, unknown
from unclass.models.classifier import weights_digest
from unclass.progress import Tracker, silent
from unclass.storage import write_atomically
from unclass.training import distributed

Loss = Callable[[nn.Module, Tensor, Tensor], Tensor]
BatchNormMode = Literal["train", "frozen"]
Schedule = Literal["constant", "one-cycle"]
PRECISIONS = {"float32": torch.float32, "bfloat16": torch.bfloat16}


class Observer(Protocol):
    """Looks at the weights after every step, for example to record the updates (Amnesiac Unlearning)."""

    def start(self, model: nn.Module) -> None: ...

    def after_step(self, step: int, model: nn.Module, y: Tensor) -> None: ...


@dataclass(frozen=True)
class Budget:
    """When to stop before the epochs are over."""

    steps: int | None = None
    seconds: float | None = None

    def spent(self, steps: int, seconds: float) -> bool:
        return (self.steps is not None and steps >= self.steps) or (
            self.seconds is not None and seconds >= self.seconds
        )


@dataclass
class _Position:
    """Where a run stands: enough, with weights and optimiser, to go on exactly."""

    epoch: int = 0
    batch: int = 0
    step: int = 0
    seconds: float = 0.0
    epoch_rng: Tensor = field(default_factory=torch.get_rng_state)


@dataclass
class Engine:
    """Where and how to compute. `steps` counts what has been done through it, and
    `earlier_seconds` what a resumed run took before it was killed.

    `precision` is that of `fit` alone: weights stay as they are and predictions are made in 32 bits. `auto` multiplies
    in bfloat16 where the processor does that natively.
    """

    device: str = "cpu"
    precision: str = "auto"
    compile: bool = False
    budget: Budget = field(default_factory=Budget)
    progress: Tracker = silent
    checkpoint: Path | None = None
    checkpoint_seconds: float = 30.0
    observer: Observer | None = None
    layout: torch.memory_format = torch.channels_last
    steps: int = field(default=0, init=False)
    earlier_seconds: float = field(default=0.0, init=False)

    def __post_init__(self) -> None:
        if self.precision not in (*PRECISIONS, "auto"):
            raise unknown("precision", self.precision, (*PRECISIONS, "auto"))
        if self.device.split(":")[0] == "cuda" and not torch.cuda.is_available():
            raise InputError(f"device {self.device!r} is not there; choose from: cpu")
        if self.precision == "auto":
            self.precision = "bfloat16" if native_bfloat16(self.device) else "float32"

    def place(self, model: nn.Module) -> nn.Module:
        """Move a model to the device, channels last: the same weights in the layout that convolutions like.

        Not so with group norm on a CPU: torch 2.13's gradient of it crashes on pictures in that layout.
        """
        if self.device == "cpu" and any(isinstance(module, nn.GroupNorm) for module in model.modules()):
            self.layout = torch.contiguous_format
        return model.to(self.device, memory_format=self.layout)  # type: ignore[call-overload, no-any-return]

    def stream(self, batches: BatchSource, what: str = "") -> Iterator[tuple[Tensor, Tensor]]:
        """Walk once through batches, on the device, with progress if `what` says what it is for."""
        walk = self.progress(batches, what, len(batches)) if what else iter(batches)
        return (self.move(x, y) for x, y in walk)

    def move(self, x: Tensor, y: Tensor) -> tuple[Tensor, Tensor]:
        layout = self.layout if x.dim() == 4 else torch.contiguous_format
        return x.to(self.device, memory_format=layout), y.to(self.device)

    @contextmanager
    def arithmetic(self) -> Iterator[None]:
        """Compute in the engine's precision."""
        low = self.precision != "float32"
        with torch.autocast(torch.device(self.device).type, PRECISIONS[self.precision], enabled=low):
            yield

    def fit(
        self,
        model: nn.Module,
        batches: BatchSource,
        loss: Loss,
        *,
        epochs: int,
        lr: float,
        momentum: float = 0.9,
        weight_decay: float = 0.0,
        schedule: Schedule = "constant",
        batch_norm: BatchNormMode = "train",
        what: str = "training",
    ) -> nn.Module:
        """Minimise `loss(model, x, y)` by SGD over the batches; change `model` in place and return it."""
        model = self.place(model)
        parameters = [parameter for parameter in model.parameters() if parameter.requires_grad]
        nesterov = schedule == "one-cycle"
        optimiser = torch.optim.SGD(parameters, lr, momentum, weight_decay=weight_decay, nesterov=nesterov)
        total = epochs * len(batches)
        run = (
            f"{what}: {total} steps, lr {lr}, momentum {momentum}, weight decay {weight_decay}, {schedule}, "
            f"{self.precision}, batch norm {batch_norm}, seed {torch.initial_seed()}"
        )
        if self.checkpoint is not None:
            run += f", from weights {weights_digest(model)[:12]}"
        position = self._resume(model, optimiser, run)
        self.steps += position.step
        self.earlier_seconds += position.seconds
        if self.observer is not None:
            self.observer.start(model)
        forward: Any = torch.compile(model) if self.compile else model
        saved = time.monotonic()
        began = saved - position.seconds
        with _training_mode(model, batch_norm), distributed.joint_batch_norm(model):
            walk = self.progress(_walk(batches, epochs, position), what, total, position.step)
            for x, y in walk:
                for group in optimiser.param_groups:
                    group["lr"] = learning_rate(schedule, lr, position.step / max(total, 1))
                self._step(forward, optimiser, loss, x, y, f"{what}, step {position.step + 1} of {total} (lr {lr})")
                position.step += 1
                self.steps += 1
                if self.observer is not None:
                    self.observer.after_step(position.step, model, y)
                now = time.monotonic()
                position.seconds = distributed.longest(now - began)
                if self.budget.spent(position.step, position.seconds):
                    break
                if now - saved > self.checkpoint_seconds:
                    self._save(model, optimiser, position, run)
                    saved = now
        self._forget_place()
        return model.eval()

    def _forget_place(self) -> None:
        """Remove the file to resume from: the run is over, well or badly."""
        if self.checkpoint is not None and distributed.is_first():
            self.checkpoint.unlink(missing_ok=True)

    def _step(
        self, model: nn.Module, optimiser: torch.optim.Optimizer, loss: Loss, x: Tensor, y: Tensor, at: str
    ) -> None:
        x, y = self.move(*distributed.share(x, y))
        optimiser.zero_grad(set_to_none=True)
        with self.arithmetic():
            value = distributed.part_of_mean(loss(model, x, y), len(x))
        if not math.isfinite(distributed.total(value)):
            self._forget_place()
            raise Diverged(f"the loss is not finite in {at}; nothing was changed: lower lr or the number of epochs")
        value.backward()
        distributed.sum_gradients(parameter for group in optimiser.param_groups for parameter in group["params"])
        optimiser.step()

    def _save(self, model: nn.Module, optimiser: torch.optim.Optimizer, position: _Position, run: str) -> None:
        if self.checkpoint is None or not distributed.is_first():
            return
        state: dict[str, Any] = {
            "run": run,
            "model": model.state_dict(),
            "optimiser": optimiser.state_dict(),
            "position": vars(position),
            "rng": torch.get_rng_state(),
        }
        write_atomically(self.checkpoint, lambda file: _write(state, file))

    def _resume(self, model: nn.Module, optimiser: torch.optim.Optimizer, run: str) -> _Position:
        if self.checkpoint is None or not self.checkpoint.exists():
            return _Position()
        try:
            state = torch.load(self.checkpoint, map_location="cpu", weights_only=True)
        except (RuntimeError, OSError, EOFError, UnpicklingError) as error:
            raise InputError(f"{self.checkpoint} is not a whole resume file; delete it to start anew") from error
        if state["run"] != run:
            raise InputError(f"{self.checkpoint} is of another run ({state['run']}); delete it to start anew")
        model.load_state_dict(state["model"])
        optimiser.load_state_dict(state["optimiser"])
        torch.set_rng_state(state["rng"])
        return _Position(**state["position"])


def _write(state: dict[str, Any], path: Path) -> None:
    with path.open("wb") as file:  # given a path, torch does not say that the disk is full
        torch.save(state, file)


@cache
def native_bfloat16(device: str) -> bool:
    """Whether a device multiplies bfloat16 faster than 32-bit numbers."""
    if device.startswith("cuda"):
        return bool(torch.cuda.is_bf16_supported())
    try:
        flags = Path("/proc/cpuinfo").read_text(encoding="utf-8")
    except OSError:
        return False
    return "avx512_bf16" in flags or "amx_bf16" in flags


def _walk(batches: BatchSource, epochs: int, position: _Position) -> Iterator[tuple[Tensor, Tensor]]:
    """Go through the batches of every epoch from `position` on, keeping it up to date."""
    while position.epoch < epochs:
        set_epoch(batches, position.epoch)
        skip, rng = position.batch, torch.get_rng_state()
        if skip:
            torch.set_rng_state(position.epoch_rng)  # batches that shuffle by torch's own generator shuffle alike
        position.epoch_rng = torch.get_rng_state()
        for index, (x, y) in enumerate(batches):
            if index + 1 == skip:
                torch.set_rng_state(rng)
            if index < skip:
                continue
            position.batch = index + 1
            yield x, y
        position.epoch, position.batch = position.epoch + 1, 0


def learning_rate(schedule: Schedule, peak: float, done: float) -> float:
    """Return the learning rate when the share `done` of all steps lies behind.

    `one-cycle`: up in a straight line for the first twelfth, then down to zero.
    """
    if schedule == "constant":
        return peak
    if schedule == "one-cycle":
        return peak * min(12 * done, 12 / 11 * (1 - done), 1.0)
    raise unknown("schedule", schedule, ("constant", "one-cycle"))


@contextmanager
def _training_mode(model: nn.Module, batch_norm: BatchNormMode) -> Iterator[None]:
    """Training mode, in which batch norm may be left as it is: frozen statistics, no update."""
    if batch_norm not in ("train", "frozen"):
        raise unknown("batch_norm", batch_norm, ("train", "frozen"))
    model.train()
    if batch_norm == "frozen":
        for module in model.modules():
            if isinstance(module, _BatchNorm):
                module.eval()
    try:
        yield
    finally:
        model.eval()
