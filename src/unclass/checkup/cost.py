"""What a run will take: time and memory, reckoned from one batch that was timed."""

import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import torch
import torch.nn.functional as F
from torch import Tensor, nn
from torch.autograd.graph import saved_tensors_hooks

from unclass.checkup.finding import Finding, doubtful, good, wrong
from unclass.data import Split
from unclass.methods import Counts, Method
from unclass.methods.configure import name_of
from unclass.models.any_output import looking
from unclass.models.cut import Cut
from unclass.training.engine import Engine

BATCH_SECONDS = 1.0  # a timed batch is made so large that it takes about this long
FEWEST = 4
LONG = 3600.0
MEMORY = Path("/proc/meminfo")


@dataclass(frozen=True)
class Pace:
    """Seconds and bytes for each image: looking at it, training with it, and training the last layers alone.

    `saved` is what a training step keeps for its way back, `features` what goes into the last layers. Without a cut
    the last layers are all of them.
    """

    images: int
    looking: float
    training: float
    saved: float
    tail: float
    features: float = 0.0


def measure(model: nn.Module, cut: Cut | None, x: Tensor, y: Tensor, batch_size: int, engine: Engine) -> Pace:
    """Time a batch of a model, and of its last layers where it is cut."""
    x, y = engine.move(x, y)
    looked = forward_seconds(model, x)
    count = min(len(x), batch_size, max(FEWEST, int(BATCH_SECONDS / (3 * looked))))
    training, saved = _step(model, x[:count], y[:count], engine)
    if cut is None:
        return Pace(count, looked, training, saved, training)
    with looking(cut.stem), engine.arithmetic():
        features = cut.stem(x[:count])
    tail, _ = _step(cut.tail, features.clone(), y[:count], engine)
    return Pace(count, looked, training, saved, tail, features.numel() * features.element_size() / count)


def forward_seconds(model: nn.Module, x: Tensor, count: int = 8) -> float:
    """Return the seconds that a forward pass takes for each image."""
    with looking(model):
        model(x[:1])
        return _least(lambda: model(x[:count]).sum().item()) / min(count, len(x))


def _least(work: Callable[[], object], times: int = 2) -> float:
    """Return the seconds of the quickest of a few runs: others may have been kept waiting."""
    seconds = []
    for _ in range(times):
        began = time.perf_counter()
        work()
        seconds.append(time.perf_counter() - began)
    return min(seconds)


def _step(part: nn.Module, x: Tensor, y: Tensor, engine: Engine) -> tuple[float, float]:
    """Return seconds and kept bytes for each image of a forward and a backward pass; the gradients are thrown away."""
    weights = [weight for weight in part.parameters() if weight.requires_grad]
    own = {weight.untyped_storage().data_ptr() for weight in part.parameters()}
    kept: dict[int, int] = {}

    def keep(tensor: Tensor) -> Tensor:
        storage = tensor.untyped_storage()
        if storage.data_ptr() not in own:
            kept[storage.data_ptr()] = storage.nbytes()
        return tensor

    def step() -> None:
        kept.clear()
        with saved_tensors_hooks(keep, lambda tensor: tensor), engine.arithmetic():
            loss = F.cross_entropy(part(x).float(), y)
        if weights:
            torch.autograd.grad(loss, weights, allow_unused=True)
        loss.item()

    return _least(step) / len(x), sum(kept.values()) / len(x)


def run_seconds(method: Method, split: Split, pace: Pace, classes: int, batch_size: int) -> tuple[float, float]:
    """Return the least and the most seconds that a method may take, by the passes that it declares."""
    counts = _counts(split, classes, batch_size)
    passes = method.passes(counts)
    looks = passes.forget_looks * counts.forget + passes.retain_looks * counts.retain
    trains = passes.forget_trains * counts.forget + passes.retain_trains * counts.retain
    before = looks * pace.looking + trains * pace.training
    least, most = (before + tail * counts.forget * pace.tail for tail in passes.tail)
    return least, most


def _counts(split: Split, classes: int, batch_size: int) -> Counts:
    return Counts(len(split.forget), len(split.retain), classes, batch_size)


def check_time(method: Method, split: Split, pace: Pace, classes: int, batch_size: int, reading: float) -> Finding:
    """Say how long a method may take, and the figures after it."""
    least, most = run_seconds(method, split, pace, classes, batch_size)
    everything = sum(map(len, split.sets().values()))
    after = everything * (pace.looking + reading)
    span = words(most) if most < 1.5 * least or most < 1 else f"{words(least)} to {words(most)}"
    says = (
        f"{name_of(method)} about {span}, then {words(after)} to read and evaluate {everything:,} images; "
        f"reckoned from a batch timed now (images: {pace.images})"
    )
    if least > LONG:
        return doubtful(
            "time", says, "a method that reads D_f alone is quicker (unclass methods), or set `max_seconds`"
        )
    return good("time", says)


def check_memory(
    method: Method, split: Split, pace: Pace, model: nn.Module, batch_size: int, engine: Engine
) -> Finding:
    """Compare what a run will hold with what is free: weights, gradients and momentum, a batch, features, pictures."""
    weights = sum(tensor.numel() * tensor.element_size() for tensor in model.state_dict().values())
    counts = _counts(split, 1, batch_size)
    kept = 2 * len(split.forget) * pace.features + method.passes(counts).kept
    needed = 4 * weights + batch_size * pace.saved + kept
    free = free_memory(engine.device)
    says = f"about {size(needed)} beside the pictures: model, copy, gradients, momentum and batches of {batch_size}"
    if free is None:
        return good("memory", says)
    says = f"{says}; {size(free)} are free"
    if needed > free:
        return wrong("memory", says, "lower `batch_size`, or use a machine with more memory")
    return doubtful("memory", says, "lower `batch_size` if it fails") if needed > free / 2 else good("memory", says)


def free_memory(device: str) -> int | None:
    """Return the bytes that are free on a device; None where the system does not say."""
    if device.startswith("cuda"):
        return int(torch.cuda.mem_get_info(device)[0])
    try:
        lines = MEMORY.read_text(encoding="utf-8").splitlines()
    except OSError:
        return None
    return next((1024 * int(line.split()[1]) for line in lines if line.startswith("MemAvailable:")), None)


def words(seconds: float) -> str:
    """Return a time as one says it."""
    if seconds < 1:
        return "a second"
    for unit, length in (("h", 3600.0), ("min", 60.0)):
        if seconds >= 1.5 * length:
            return f"{seconds / length:.0f} {unit}"
    return f"{seconds:.0f} s"


def size(count: float) -> str:
    """Return bytes as one says them."""
    return f"{count / 1e9:.1f} GB" if count >= 1e9 else f"{max(1, round(count / 1e6))} MB"
