"""Going on where a killed run stood: its position, its file, and the walk through the batches from there."""

from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from pickle import UnpicklingError
from typing import Any

import torch
from torch import Tensor, nn

from unclass.data.batches import BatchSource, PairSource, set_epoch
from unclass.errors import InputError
from unclass.storage import write_atomically
from unclass.training import distributed


@dataclass
class Position:
    """Where a run stands: enough, with weights and optimiser, to go on exactly."""

    epoch: int = 0
    batch: int = 0
    step: int = 0
    seconds: float = 0.0
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
        try:
            state = torch.load(self.path, map_location="cpu", weights_only=True)
        except (RuntimeError, OSError, EOFError, UnpicklingError) as error:
            raise InputError(f"{self.path} is not a whole resume file; delete it to start anew") from error
        if state["run"] != self.run:
            raise InputError(f"{self.path} is of another run ({state['run']}); delete it to start anew")
        model.load_state_dict(state["model"])
        optimiser.load_state_dict(state["optimiser"])
        torch.set_rng_state(state["rng"])
        return Position(**state["position"])

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
    while position.epoch < epochs:
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


def _write(state: dict[str, Any], path: Path) -> None:
    with path.open("wb") as file:  # given a path, torch does not say that the disk is full
        torch.save(state, file)
