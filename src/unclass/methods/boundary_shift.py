"""Boundary Shift, our own: the last layers are moved to where the retrained model would have its boundary."""

from contextlib import nullcontext, suppress
from copy import deepcopy
from dataclasses import dataclass, replace
from itertools import islice
from typing import Any, ClassVar

import torch
import torch.nn.functional as F
from torch import Tensor, nn

from unclass.data.split import BatchSource, Draws, Indexed, TrainingData
from unclass.engine import Engine, Loss
from unclass.errors import Diverged, InputError
from unclass.methods.method import Needs, Preset
from unclass.methods.neighbours import masked
from unclass.methods.rows import forget_rows
from unclass.methods.statistics import batch_norm_moments, feeding, follow, subtract_moments, watch
from unclass.models.cut import tail_of_share
from unclass.models.head import find_head

MOMENT_IMAGES = 512  # moments of D_f weigh π/(1 − π) in those of D_r: a sample is enough
CHECK_IMAGES = 1024
# When to stop: share of D_f still in the class, KL(q ‖ p) against the start. When to turn back: KL without the class.
STILL_HELD, NEAR, HARMED = 0.002, 0.01, 0.05
Sample = list[tuple[Tensor, Tensor]]


@dataclass(frozen=True)
class BoundaryShift:
    """Move only the last layers, under batch-norm statistics without the class. Reads D_f and the model, nothing else.

    1. One pass over D_f gives the targets q(x) = softmax(f₀(x)/τ, forgotten classes at −∞) and the moments of every
       batch norm's input.
    2. Batch norm gets the statistics of D_r by subtraction (`statistics.py`): unlearning under them survives
       recalibration. `class_share` is π, the forgotten classes' share of the training images; 0 means equal classes.
    3. One pass over D_f through the stem is kept, and the tail, which does at most `tail_share` of the work, is trained
       towards q. A network that cannot be cut is trained whole.
    4. The tail's running means follow its weights, so that the other classes keep their place.
    5. The head's rows of the forgotten classes become what a retrained model has there: see `forget_rows`.

    Training goes in rounds of `round_steps` steps, `rounds` at most, until hardly an image of D_f is taken for a
    forgotten class and KL(q ‖ p) is a hundredth of what it was. The learning rate is `pace` · ‖w‖/‖∇‖, so that it fits
    every network; when the class is gone but KL(q ‖ p) is still a twentieth, the other classes were harmed: all is
    taken back and the rate is a third. `lr` sets it by hand.
    """

    temperature: float = 0.7
    tail_share: float = 0.1
    class_share: float = 0.0
    pace: float = 1e-3
    lr: float = 0.0
    round_steps: int = 20
    rounds: int = 24

    needs: ClassVar[Needs] = Needs.FORGET
    whole_classes: ClassVar[bool] = True
    presets: ClassVar[dict[str, Preset]] = {}

    def __call__(self, model: nn.Module, data: TrainingData, engine: Engine) -> nn.Module:
        unlearned = engine.place(deepcopy(model)).eval()
        quick = replace(engine, checkpoint=None, observer=None)  # seconds: nothing to resume
        forget = Indexed(data.forget)
        targets = self.targets(unlearned, forget, data.classes, quick)
        x = engine.move(*next(iter(forget)))[0]
        tail, features = self.split(unlearned, x, forget, quick)
        sample = _sample(features, quick)
        with quick.arithmetic():
            fed = feeding(tail, [h for h, _ in sample])
        self.move(tail, features, sample, targets, data.classes, quick)
        follow(fed)
        with quick.arithmetic():
            forget_rows(find_head(unlearned, x), data.classes, tail, sample)
        engine.steps += quick.steps
        return unlearned.eval()

    def move(
        self,
        tail: nn.Module,
        features: BatchSource,
        sample: Sample,
        targets: Tensor,
        classes: tuple[int, ...],
        engine: Engine,
    ) -> None:
        """Train the tail towards the targets until it is there."""

        def loss(part: nn.Module, h: Tensor, i: Tensor) -> Tensor:
            return F.cross_entropy(part(h).float(), targets[i])

        start = deepcopy(tail.state_dict())
        lr = self.lr or self.pace * steepness(tail, sample, loss, engine)
        before, _ = standing(tail, sample, targets, classes, engine)
        for _ in range(self.rounds):
            with suppress(Diverged):
                engine.fit(tail, features, loss, epochs=1, lr=lr, batch_norm="frozen", what="boundary shift")
            now, held = standing(tail, sample, targets, classes, engine)
            gone = held <= STILL_HELD
            if gone and now <= NEAR * before:
                break
            if not now <= (HARMED * before if gone else before):
                tail.load_state_dict(start)
                lr = lr / 3

    def split(self, model: nn.Module, x: Tensor, forget: Indexed, engine: Engine) -> tuple[nn.Module, BatchSource]:
        """Return the part to train and what goes into it: the tail and the stem's output, or the whole model."""
        try:
            cut = tail_of_share(model, x, self.tail_share)
        except InputError:
            return model, forget
        return cut.tail, self.features(cut.stem, forget, engine)

    @torch.no_grad()
    def features(self, stem: nn.Module, forget: Indexed, engine: Engine) -> Draws:
        """Return what the stem makes of each forgotten image."""
        parts, places = [], []
        with engine.arithmetic():
            for x, i in engine.stream(forget, "stem features"):
                parts.append(stem(x))
                places.append(i)
        order = torch.cat(places).argsort()
        return Draws(torch.cat(parts)[order], len(parts[0]), self.round_steps)

    @torch.no_grad()
    def targets(self, model: nn.Module, forget: Indexed, classes: tuple[int, ...], engine: Engine) -> Tensor:
        """Return q for each forgotten image, and leave the model with the statistics of D_r."""
        found: Any = None
        moments = batch_norm_moments(model)
        stride = max(1, len(forget.labels) // MOMENT_IMAGES)
        with engine.arithmetic():
            for place, (x, i) in enumerate(engine.stream(forget, "targets")):
                with watch(moments) if place % stride == 0 else nullcontext():
                    logits = model(x).float()
                q = masked(logits / self.temperature, classes).softmax(dim=1)
                found = q.new_zeros(len(forget.labels), q.shape[1]) if found is None else found
                found[i] = q
        subtract_moments(moments, self.class_share or len(classes) / found.shape[1])
        return found  # type: ignore[no-any-return]


@torch.no_grad()
def standing(
    part: nn.Module, sample: Sample, targets: Tensor, classes: tuple[int, ...], engine: Engine
) -> tuple[float, float]:
    """Return KL(q ‖ p) and the share of images still taken for a forgotten class."""
    with engine.arithmetic():
        logits = torch.cat([part.eval()(h).float() for h, _ in sample])
    q = targets[torch.cat([i for _, i in sample])]
    held = torch.isin(logits.argmax(1), torch.tensor(classes, device=logits.device)).float().mean().item()
    return F.kl_div(logits.log_softmax(1), q, reduction="batchmean").item(), held


def steepness(part: nn.Module, sample: Sample, loss: Loss, engine: Engine) -> float:
    """Return ‖w‖/‖∇‖ of a part's weights: in these units, a learning rate means the same to every network."""
    weights = [weight for weight in part.parameters() if weight.requires_grad]
    total = [torch.zeros_like(weight) for weight in weights]
    for h, i in sample:
        with engine.arithmetic():
            gradients = torch.autograd.grad(loss(part, h, i), weights, allow_unused=True)
        for one, gradient in zip(total, gradients, strict=True):
            if gradient is not None:
                one.add_(gradient, alpha=1 / len(sample))
    size = torch.stack([weight.detach().norm() for weight in weights]).norm()
    return float(size / torch.stack([gradient.norm() for gradient in total]).norm().clamp_min(1e-12))


def _sample(batches: BatchSource, engine: Engine) -> Sample:
    """Return the first batches, or what was kept of the first images."""
    if isinstance(batches, Draws):
        places = torch.arange(min(CHECK_IMAGES, len(batches.x)), device=batches.x.device)
        return [(batches.x[some], some) for some in places.split(batches.batch_size)]
    return list(islice(engine.stream(batches), CHECK_IMAGES // 64))
