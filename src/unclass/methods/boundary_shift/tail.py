"""Training the last layers of a network on what the layers before them made of each image."""

from collections.abc import Iterator
from contextlib import contextmanager, suppress
from copy import deepcopy
from dataclasses import dataclass
from itertools import cycle

import torch
import torch.nn.functional as F
from torch import Tensor, nn

from unclass.data.batches import Draws
from unclass.errors import Diverged
from unclass.methods.boundary_shift.following import Fed, all_follow, feeding, follow
from unclass.methods.boundary_shift.objective import Level, Nearness, entropies
from unclass.methods.boundary_shift.seen import Seen, outputs
from unclass.methods.boundary_shift.statistics import Versions
from unclass.methods.boundary_shift.strangers import Strangers
from unclass.methods.targets import feature_rows
from unclass.models.head import Head, head_inputs, rows
from unclass.training.engine import Engine, Loss

SMALL_STEPS = 0.1  # of the pace, where running means cannot follow the weights
LEAST_CARE, USUAL_DOUBT = 0.25, 0.06  # of the pace; 1 − p_t on D_f
HELD = 0.002  # of D_f: so few may still be taken for a forgotten class
HARM = 0.5  # nats that the outputs of strangers may move by
STEEPNESS_BATCHES = 8
MOST_COMPARED = 512  # images of D_f, with each other


@dataclass(frozen=True)
class Trained:
    """How far the outputs of strangers moved, how sure the network was of D_f, and how much one image told of it."""

    harm: float
    sure: float
    told: float


@dataclass(frozen=True)
class Apart:
    """How near images of D_f stood to each other at first, and with what weight their features are pushed apart."""

    nearness: Nearness
    weight: float


@dataclass(frozen=True, eq=False)
class Tail:
    """The layers to train, D_f and its unseen-like views as they are given them, and how sure they should be of both.

    `others` are images of D_r, where a sample of it is given.
    """

    part: nn.Module
    head: Head
    versions: Versions
    classes: tuple[int, ...]
    batch_size: int
    forget: Seen
    views: Seen | None = None
    level: Level | None = None
    others: Seen | None = None

    def loss(self, version: int, i: Tensor, evenness: float) -> Tensor:
        """CE(q, p) on D_f and its views, and λ times how far the entropies of each are from the level."""
        rows = [(seen, i) for seen in (self.forget, self.views) if seen is not None]
        if self.others is not None:
            rows.append((self.others, torch.randint(len(self.others), (len(i),))))
        logits = self.part(torch.cat([seen.features[version][k] for seen, k in rows])).float().split(len(i))
        value = torch.stack(
            [F.cross_entropy(p, seen.targets[k]) for p, (seen, k) in zip(logits, rows, strict=True)]
        ).sum()
        if self.level is not None:
            value = value + evenness * (self.level.distance(logits[0]) + self.level.distance(logits[1]))
        return value

    def train(
        self,
        engine: Engine,
        *,
        pace: float,
        slower: float = 1.0,
        steps: int,
        rounds: int,
        evenness: float,
        dispersion: float = 0.0,
        keeping: float = 0.0,
        limit: float = HARM,
    ) -> "Trained":
        """Train in rounds of so many steps until the class is gone.

        Steps are `slower` than the pace, or as slow as a network needs that is not sure of D_f (`care`). Features are
        pushed apart by `dispersion` as far as one image tells the class, or where slow steps make that harmless.
        With `keeping` as weight, outputs of strangers and stand-ins among the other classes are trained to stay.
        A round that moves them by more than `limit` is taken back, and the next has half the pace. The head stays as
        it is: the other classes keep the rows by which they are told.
        """
        self.versions.use(0)
        nearness, sure = self.at_first(engine)
        slow = care(sure)
        strangers = Strangers.of(self.part, self.forget.features[0], self.classes, self.batch_size, engine)
        with engine.arithmetic():
            fed = feeding(self.part, self.batches(0))
        slower = slower if all_follow(self.part, fed) else SMALL_STEPS * max(slower, SMALL_STEPS)
        pace *= min(slower, slow)
        apart = Apart(nearness, dispersion * max(nearness.told, 1 - slow))
        loss = self.objective(evenness, apart, strangers, keeping)
        draws = Draws(torch.arange(len(self.forget)), self.batch_size, steps, seed=int(torch.randint(2**31, ())))
        with frozen(self.head, self.part):
            size, slope = self.steepness(engine)
            for _ in range(rounds):
                start = deepcopy(self.part.state_dict())
                self.train_once(draws, loss, engine, lr=pace * size / slope, clip=slope)
                self.settle(fed, engine)
                if not strangers.moved(self.part, engine) <= limit:
                    self.part.load_state_dict(start)
                    pace /= 2
                elif self.held(engine) <= HELD:
                    break
        self.settle(fed, engine)
        self.versions.renew(0)
        return Trained(strangers.moved(self.part, engine), sure, nearness.told)

    def objective(self, evenness: float, apart: Apart, strangers: Strangers, keeping: float) -> Loss:
        """Return what is minimised: the loss under each version of the statistics in turn, and the terms beside it."""
        turns = cycle(range(len(self.forget.features)))

        def loss(part: nn.Module, _: Tensor, i: Tensor) -> Tensor:
            turn = next(turns)
            self.versions.use(turn)
            with head_inputs(self.head) as given:
                value = self.loss(turn, i, evenness)
            features = feature_rows(given[-1], self.head)
            if apart.weight:
                value = value + apart.weight * apart.nearness.left(features[: len(i)])
            return value + keeping * strangers.some_moved(self.part, len(i)) if keeping and turn == 0 else value

        return loss

    def train_once(self, draws: Draws, loss: Loss, engine: Engine, *, lr: float, clip: float) -> None:
        """Train for one round; the weights are then their average over its second half."""
        engine.observer = average = Average(draws.steps // 2)
        with suppress(Diverged):
            engine.fit(
                self.part, draws, loss, epochs=1, lr=lr, clip=clip, schedule="one-cycle", batch_norm="frozen",
                whole=True, what="boundary shift",
            )  # fmt: skip
        average.use(self.part)

    def settle(self, fed: list[Fed], engine: Engine) -> None:
        """Let the running means, as they were at first, follow the weights as they are now."""
        self.versions.use(0)
        with engine.arithmetic():
            follow(self.part, fed, self.batches(0)[0][:1])

    def batches(self, version: int) -> tuple[Tensor, ...]:
        """Return D_f in batches, as the tail is given it under a version of the statistics."""
        features: tuple[Tensor, ...] = self.forget.features[version].split(self.batch_size)
        return features

    @torch.no_grad()
    def held(self, engine: Engine) -> float:
        """Return the share of D_f that is taken for a forgotten class, under the worst of all versions."""
        gone = torch.tensor(self.classes, device=self.forget.targets.device)
        found = []
        for version, features in enumerate(self.forget.features):
            self.versions.use(version)
            said = outputs(self.part, features, self.batch_size, engine).argmax(1)
            found.append(torch.isin(said, gone).float().mean().item())
        self.versions.use(0)
        return max(found)

    @torch.no_grad()
    def at_first(self, engine: Engine) -> tuple[Nearness, float]:
        """Return how near images of D_f stand to each other where the head is given them, and p_t, their mean."""
        with head_inputs(self.head) as given:
            logits = outputs(self.part, self.forget.features[0][:MOST_COMPARED], self.batch_size, engine).float()
        features = torch.cat([feature_rows(one, self.head) for one in given])
        sure = logits.softmax(1)[:, list(self.classes)].sum(1).mean().item()
        weight = rows(self.head).float()
        if self.head.normalised:  # the scale of its outputs is not that of features
            logits = features @ weight.T
        return Nearness.of(features, logits, weight, self.classes), sure

    def membership_gap(self, engine: Engine) -> float:
        """Return how well D_f is told from its unseen-like views: |AUC − ½| of entropy or the classes' probability.

        0 where there is no view that the network does not know.
        """
        if self.views is None:
            return 0.0
        inside, outside = (
            outputs(self.part, one.features[0], self.batch_size, engine) for one in (self.forget, self.views)
        )
        scores = [
            (entropies(one, self.classes), one.log_softmax(1)[:, list(self.classes)].logsumexp(1))
            for one in (inside, outside)
        ]
        return max(abs(auc(a, b) - 0.5) for a, b in zip(*scores, strict=True))

    def steepness(self, engine: Engine) -> tuple[float, float]:
        """Return ‖w‖ and ‖∇‖ of CE(q, p) on D_f: in these units, a learning rate means the same to every network."""
        weights = [weight for weight in self.part.parameters() if weight.requires_grad]
        total = [torch.zeros_like(weight) for weight in weights]
        rows = torch.arange(len(self.forget)).split(self.batch_size)[:STEEPNESS_BATCHES]
        for i in rows:
            with engine.arithmetic():
                value = F.cross_entropy(self.part(self.forget.features[0][i]).float(), self.forget.targets[i])
            for one, gradient in zip(total, torch.autograd.grad(value, weights, allow_unused=True), strict=True):
                if gradient is not None:
                    one.add_(gradient, alpha=1 / len(rows))
        size, slope = (torch.stack([one.detach().norm() for one in many]).norm() for many in (weights, total))
        return float(size), max(float(slope), 1e-12)


def care(sure: float) -> float:
    """Return how much of the pace suits a network that gives D_f this probability: all from 94 % on, or less.

    A network that is not sure of the images it was trained with has not memorised them, and knows the others no better:
    there is less to undo, and more to lose.
    """
    doubt = max(1 - sure, USUAL_DOUBT)
    return max(LEAST_CARE, (USUAL_DOUBT / doubt) ** 3)


def auc(inside: Tensor, outside: Tensor) -> float:
    """Return the probability that a score inside lies above one outside, ties counting half."""
    apart = inside[:, None] - outside
    return float((apart > 0).double().mean() + 0.5 * (apart == 0).double().mean())


@contextmanager
def frozen(head: Head, part: nn.Module) -> Iterator[None]:
    """Keep a head as it is, unless it is all that a part has."""
    own = [weight for weight in head.module.parameters() if weight.requires_grad]
    if any(weight.requires_grad and all(weight is not one for one in own) for weight in part.parameters()):
        for weight in own:
            weight.requires_grad_(False)
    try:
        yield
    finally:
        for weight in own:
            weight.requires_grad_(True)


class Average:
    """Averages the weights over the steps after the first few: steadier than the last of them."""

    def __init__(self, after: int) -> None:
        self.after, self.count = after, 0
        self.weights: dict[str, Tensor] = {}

    def start(self, model: nn.Module) -> None:
        self.weights = {}

    @torch.no_grad()
    def after_step(self, step: int, model: nn.Module, y: Tensor) -> None:
        if step <= self.after:
            return
        self.count += 1
        for name, weight in model.named_parameters():
            kept = self.weights.setdefault(name, weight.detach().clone())
            kept.add_((weight - kept) / self.count)

    @torch.no_grad()
    def use(self, model: nn.Module) -> None:
        """Put the average in place, where there is one."""
        for name, weight in model.named_parameters():
            if name in self.weights:
                weight.copy_(self.weights[name])
