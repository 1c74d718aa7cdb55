"""What recording the updates of a training run costs, for the paper's comparison with Amnesiac Unlearning."""

import time
from collections.abc import Sequence
from pathlib import Path

from torch import Tensor, nn

from unclass.methods.amnesiac.recorder import UpdateRecorder


class TimedRecorder(UpdateRecorder):
    """Records updates, and measures what that adds to a step."""

    def __init__(self, folder: Path, classes: Sequence[int]) -> None:
        super().__init__(folder, classes)
        self.seconds, self.steps = 0.0, 0

    def after_step(self, step: int, model: nn.Module, y: Tensor) -> None:
        began = time.perf_counter()
        super().after_step(step, model, y)
        self.seconds += time.perf_counter() - began
        self.steps += 1

    def seconds_each(self) -> float:
        """Mean over the steps seen: those of a resumed run stand for the ones before."""
        return self.seconds / max(1, self.steps)


def recorded_bytes(folder: Path) -> tuple[int, int]:
    """Return how many updates a folder holds and how many bytes they take."""
    sizes = [file.stat().st_size for file in folder.glob("*.safetensors")]
    return len(sizes), sum(sizes)
