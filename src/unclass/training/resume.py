"""Going on where a killed run stood: its position, its file, and the walk through the batches from there."""

import logging
from collections.abc import Iterator
from dataclasses import dataclass, field, fields, replace
from pathlib import Path
from typing import Any

import torch
from torch import Tensor, nn

from unclass.border.offline import reading
from unclass.data.batches import BatchSource, PairSource, set_epoch
from unclass.errors import InputError
from unclass.models.weights_file import check_archive
from unclass.storage import outlives, require_plain, write_atomically
from unclass.training import distributed

_log = logging.getLogger(__name__)


@dataclass
class Position:
    """Where a run stands: enough, with weights and optimiser, to go on exactly."""

    epoch: int = 0
    batch: int = 0
    step: int = 0
    seconds: float = 0.0
    done: bool = False
    epoch_rng: Tensor = field(default_factory=torch.get_rng_state)


@dataclass(frozen=True)
class ResumeFile:
    """The file that a run is kept in while it lasts. `run` says which one it is; without a path nothing is kept."""

    path: Path | None
    run: str

    def load(self, model: nn.Module, optimiser: torch.optim.Optimizer) -> Position:
        """Bring model, optimiser and random numbers to where the run stood; a run without a file starts anew."""
        if self.path is None or not self.path.exists():
            return Position()
        require_plain(self.path)
        check_archive(self.path)
        with reading(f"{self.path} is not a whole resume file: it", "delete it to start anew"):
            state = torch.load(self.path, map_location="cpu", weights_only=True)
            if str(state["run"]) != self.run:
                raise InputError(f"{self.path} is of another run ({str(state['run'])[:300]}); delete it to start anew")
            position = _position(state["position"])
            model.load_state_dict(state["model"])
            optimiser.load_state_dict(state["optimiser"])
            torch.set_rng_state(state["rng"])
            _log.info("going on from %s: epoch %d, step %d", self.path, position.epoch, position.step)
            return position

    def finish(self, model: nn.Module, optimiser: torch.optim.Optimizer, position: Position) -> None:
        """Keep the finished run until its result is on the disk, where somebody will see to that; else remove it."""
        if self.path is not None and outlives(self.path):
            self.save(model, optimiser, replace(position, done=True))
        else:
            self.remove()

    def save(self, model: nn.Module, optimiser: torch.optim.Optimizer, position: Position) -> None:
        """Keep the run as it stands."""
        if self.path is None or not distributed.is_first():
            return
        state: dict[str, Any] = {
            "run": self.run,
            "model": model.state_dict(),
            "optimiser": optimiser.state_dict(),
            "position": vars(position),
            "rng": torch.get_rng_state(),
        }
        write_atomically(self.path, lambda file: _write(state, file))

    def remove(self) -> None:
        """Remove the file, because the run has ended."""
        if self.path is not None and distributed.is_first():
            self.path.unlink(missing_ok=True)


def walk(batches: BatchSource | PairSource, epochs: int, position: Position) -> Iterator[tuple[Any, Any]]:
    """Go through the batches of every epoch from `position` on, keeping it up to date."""
    while position.epoch < epochs and not position.done:
        set_epoch(batches, position.epoch)
        skip, rng = position.batch, torch.get_rng_state()
        if skip:
            torch.set_rng_state(position.epoch_rng)  # batches that shuffle by torch's own generator shuffle alike
        position.epoch_rng = torch.get_rng_state()
        for index, (first, second) in enumerate(batches):
            if index + 1 == skip:
                torch.set_rng_state(rng)
            if index < skip:
                continue
            position.batch = index + 1
            yield first, second
        position.epoch, position.batch = position.epoch + 1, 0


def _position(found: dict[str, Any]) -> Position:
    """Return a position as it was written; raise if it is none."""
    position = Position(**found)
    for one in fields(Position):
        value: Any = getattr(position, one.name)
        kind: Any = {"seconds": float, "done": bool, "epoch_rng": Tensor}.get(one.name, int)
        if not isinstance(value, kind) or (kind in (int, float) and not 0 <= value < float("inf")):
            raise ValueError(f"its {one.name} is {str(value)[:40]}")
    return position


def _write(state: dict[str, Any], path: Path) -> None:
    with path.open("wb") as file:  # given a path, torch does not say that the disk is full
        torch.save(state, file)
