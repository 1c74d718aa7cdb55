"""Head only: a negative control whose outputs forget and whose features know everything."""

from collections.abc import Iterable
from copy import deepcopy
from dataclasses import dataclass
from typing import ClassVar

import torch
import torch.nn.functional as F
from torch import Tensor, nn

from unclass.data.split import TrainingData
from unclass.methods.method import RETAIN_SAMPLE, Counts, Method, Needs, Passes, Preset, Role, option
from unclass.models.head import Head, find_head, head_inputs, in_full
from unclass.training.engine import Engine


@dataclass(frozen=True)
class HeadOnly(Method):
    """Train the head alone towards the original's outputs without the forgotten classes. Negative control.

    Outside it looks forgotten: p(k | x) ∝ exp z_k for the other classes, 0 for those that go, on D_f and D_r alike.
    Nothing before the head is touched, so whoever looks at the features finds the class as it was.
    """

    epochs: int = option(20, "walks through what the head is given")
    lr: float = option(0.01, "learning rate of AdamW")
    images: int = option(5000, "of D_f and of D_r, at most")
    retain_sample: int = option(0, RETAIN_SAMPLE)

    in_short: ClassVar[str] = "control: trains the head alone"
    demo_presets: ClassVar[tuple[str, ...]] = ("",)
    needs: ClassVar[Needs] = Needs.FORGET | Needs.RETAIN
    needs_head: ClassVar[bool] = True
    whole_classes: ClassVar[bool] = True
    role: ClassVar[Role] = "control"
    presets: ClassVar[dict[str, Preset]] = {"audit": {"images": 1000}}

    def __call__(self, model: nn.Module, data: TrainingData, engine: Engine) -> nn.Module:
        copy = engine.place(deepcopy(model)).eval()
        first = engine.move(*next(iter(data.forget)))[0]
        head = find_head(copy, first)
        lessons = [
            *self._lessons(copy, head, data.forget, data.classes, engine),
            *self._lessons(copy, head, data.sample(self.retain_sample), data.classes, engine),
        ]

        def loss(layer: nn.Module, features: Tensor, wanted: Tensor) -> Tensor:
            return F.cross_entropy(pooled(layer(features)), wanted)

        mixed = [lessons[place] for place in torch.randperm(len(lessons)).tolist()]
        engine.fit(head.module, mixed, loss, epochs=self.epochs, lr=self.lr, optimiser="adamw", what="head-only")
        return copy

    def passes(self, counts: Counts) -> Passes:
        seen = [min(1.0, self.images / max(1, count)) for count in (counts.forget, counts.retain)]
        return Passes(forget_looks=seen[0], retain_looks=min(seen[1], counts.share(self.retain_sample)))

    @torch.no_grad()
    def _lessons(
        self, model: nn.Module, head: Head, batches: Iterable[tuple[Tensor, Tensor]], classes: tuple[int, ...],
        engine: Engine,
    ) -> list[tuple[Tensor, Tensor]]:  # fmt: skip
        """Return what the head is given for each batch, and the probabilities that it is to give back."""
        found: list[tuple[Tensor, Tensor]] = []
        for x, y in batches:
            if sum(len(wanted) for _, wanted in found) >= self.images:
                break
            with engine.arithmetic(), in_full(head.module, engine.device), head_inputs(head) as seen:
                model(engine.move(x, y)[0])
            logits = pooled(head.module(seen[-1])).index_fill(1, torch.tensor(classes, device=x.device), -torch.inf)
            found.append((seen[-1].cpu(), logits.softmax(dim=1).cpu()))
        return found


def pooled(output: Tensor) -> Tensor:
    """Return N × K outputs; those of a convolution are averaged over the picture."""
    return output.flatten(2).mean(dim=2) if output.dim() > 2 else output
