"""Boundary Shift, our own: the last layers are moved to where the retrained model would have its boundary."""

import sys
from copy import deepcopy
from dataclasses import dataclass, replace
from typing import ClassVar

import torch
from torch import Tensor, nn

from unclass.data.batches import Indexed
from unclass.data.split import TrainingData
from unclass.errors import InputError
from unclass.methods.boundary_shift.head_rows import forget_rows
from unclass.methods.boundary_shift.statistics import Versions, Watched, batch_norm_moments, subtract_moments, watch
from unclass.methods.boundary_shift.tail import Tail, Until
from unclass.methods.boundary_shrink.neighbours import masked
from unclass.methods.method import Counts, Method, Needs, Passes, option
from unclass.models.cut import Cut, tail_of_share
from unclass.models.head import find_head
from unclass.training.engine import Engine

MOMENT_IMAGES = 512  # moments of D_f weigh π/(1 − π) in those of D_r: a sample is enough
WHOLE_IMAGES = 1024  # of a network that cannot be cut, whose pictures themselves are kept


@dataclass(frozen=True)
class BoundaryShift(Method):
    """Move only the last layers, so that the class stays away whatever becomes of batch norm. Reads D_f and the model.

    1. One pass over D_f gives the targets q(x) = softmax(f₀(x)/τ, forgotten classes at −∞), the output of the stem, and
       the moments of every batch norm's input.
    2. The moments give the batch-norm statistics of D_r by subtraction (`statistics.py`), and a second pass the stem's
       output under them. `class_share` is π, the forgotten classes' share of the training images; 0: equal classes.
    3. The tail, which does at most `tail_share` of the work, is trained towards q under both statistics in turn. So the
       model keeps those it came with, which the other classes need, and forgetting survives recalibration.
    4. The tail's running means follow its weights, so that the other classes keep their place.
    5. The head's rows of the forgotten classes become what a retrained model has there (`rows.py`).

    Training goes in rounds of `round_steps` steps, `rounds` at most, until hardly an image of D_f is taken for a
    forgotten class and KL(q ‖ p) is a fiftieth of what it was. The learning rate is `pace` · ‖w‖/‖∇‖, so that it fits
    every network, and a tenth of it where running means cannot follow (4.); when a round ends above the start or the
    weights have moved far for the share π, all is taken back and the rate is a third. `lr` sets it by hand.

    Without batch norm there is one pass. A network that cannot be cut is trained whole, on 1,024 images at most.
    `retain_sample` images of D_r, if given, are trained in between to stay as they are.
    """

    temperature: float = option(0.7, "τ of the targets: below 1 they are sharper than the original's outputs")
    tail_share: float = option(0.1, "share of the work that the layers may do which are trained")
    class_share: float = option(0.0, "share of the forgotten classes in the training images; 0: equal classes")
    pace: float = option(5e-3, "learning rate as a share of ‖w‖/‖∇‖")
    lr: float = option(0.0, "learning rate; 0: found by pace")
    round_steps: int = option(20, "training steps between two looks at how far it is")
    rounds: int = option(10, "rounds of training at most")
    retain_sample: int = option(0, "images of D_r that are trained to stay as they are; 0: none is read")

    in_short: ClassVar[str] = "move the last layers' boundary"
    needs_head: ClassVar[bool] = True
    whole_classes: ClassVar[bool] = True

    @property
    def needs(self) -> Needs:
        return Needs.FORGET | Needs.RETAIN if self.retain_sample else Needs.FORGET

    @property
    def trained_share(self) -> float:
        return self.tail_share

    def passes(self, counts: Counts) -> Passes:
        """Two looks at D_f, then rounds of the last layers: it stops by what it sees, after one at the least."""
        one = self.round_steps * counts.batch_size / max(1, counts.forget)
        retain = 2 * counts.share(self.retain_sample) if self.retain_sample else 0.0
        return Passes(forget_looks=2, retain_looks=retain, tail=(one, self.rounds * one))

    def __call__(self, model: nn.Module, data: TrainingData, engine: Engine) -> nn.Module:
        unlearned = engine.place(deepcopy(model)).eval()
        quick = replace(engine, checkpoint=None, observer=None)  # seconds: nothing to resume
        forget = Indexed(data.forget)
        x = engine.move(*next(iter(forget)))[0]
        tail = self.look(unlearned, x, forget, data, quick)
        until = Until.of_share(self.share(data, tail.targets.shape[1]))
        tail.train(quick, until, pace=self.pace, lr=self.lr, steps=self.round_steps, rounds=self.rounds)
        with quick.arithmetic():
            forget_rows(find_head(unlearned, x), data.classes, tail.part, tail.sample(0))
        engine.steps += quick.steps
        return unlearned.eval()

    def share(self, data: TrainingData, classes: int) -> float:
        """Return π, the forgotten classes' share of the training images."""
        return self.class_share or len(data.classes) / classes

    def look(self, model: nn.Module, x: Tensor, forget: Indexed, data: TrainingData, engine: Engine) -> Tail:
        """Return the tail with its training data: the stem's output for each image, and the target probabilities."""
        cut, most = split(model, x, self.tail_share)
        moments = batch_norm_moments(model)
        versions = Versions(moments)
        versions.keep()
        features, logits = pass_through(cut.stem, cut.tail, forget, most, engine, moments)
        targets, seen = masked(logits / self.temperature, data.classes).softmax(1), [features]
        others = list(data.sample(self.retain_sample)) if self.retain_sample else []
        if others:
            features, logits = pass_through(cut.stem, cut.tail, Indexed(others), most, engine)
            seen[0] = torch.cat([seen[0], features])
            targets = torch.cat([targets, masked(logits, data.classes).softmax(1)])
        if moments:
            subtract_moments(moments, self.share(data, logits.shape[1]))
            versions.keep()
            sources = [forget, Indexed(others)] if others else [forget]
            again = [pass_through(cut.stem, None, source, most, engine)[0] for source in sources]
            seen.append(torch.cat(again))
        return Tail(
            cut.tail, versions, seen, targets, len(targets) - sum(len(y) for _, y in others), data.classes, len(x)
        )


def split(model: nn.Module, x: Tensor, share: float) -> tuple[Cut, int]:
    """Return stem and tail, and for how many images to keep the stem's output: few where that is the pictures."""
    try:
        return tail_of_share(model, x, share), sys.maxsize
    except InputError:
        return Cut("input", nn.Identity(), model), WHOLE_IMAGES


@torch.no_grad()
def pass_through(
    stem: nn.Module, tail: nn.Module | None, batches: Indexed, most: int, engine: Engine, moments: Watched | None = None
) -> tuple[Tensor, Tensor]:
    """Return what stem and tail make of each image, at most so many, and collect moments from a part of them."""
    features, logits, places = [], [], []
    stride = max(1, len(batches.labels) // MOMENT_IMAGES)
    with engine.arithmetic():
        for place, (x, i) in enumerate(engine.stream(batches, "targets" if tail else "stem features")):
            seen = moments if moments and place % stride == 0 else {}
            with watch(seen, stem):
                features.append(stem(x))
            if tail is not None:
                with watch(seen, tail):
                    logits.append(tail(features[-1]).float())
            places.append(i)
            if sum(map(len, places)) >= most:
                break
    order = torch.cat(places).argsort()
    return torch.cat(features)[order], torch.cat(logits)[order] if logits else order
