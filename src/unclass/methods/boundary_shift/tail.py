"""Training the last layers of a network on what the layers before them made of each image."""

from collections.abc import Iterator
from contextlib import contextmanager, suppress
from copy import deepcopy
from dataclasses import astuple, dataclass
from itertools import cycle
from typing import Self

import torch
import torch.nn.functional as F
from torch import Tensor, nn

from unclass.data.batches import Draws
from unclass.errors import Diverged
from unclass.methods.boundary_shift.average import Average
from unclass.methods.boundary_shift.following import Fed, all_follow, feeding, follow
from unclass.methods.boundary_shift.objective import Level, Nearness, entropies, log_others
from unclass.methods.boundary_shift.seen import Seen, outputs
from unclass.methods.boundary_shift.statistics import Versions
from unclass.methods.targets import feature_rows
from unclass.models.head import Head, head_inputs, rows
from unclass.training.engine import Engine, Loss

SMALL_STEPS = 0.1  # of the pace, where running means cannot follow the weights
LEAST_CARE, USUAL_DOUBT = 0.25, 0.06  # of the pace; 1 − p_t on D_f
HELD = 0.01  # of D_f: so few may still be taken for a forgotten class, before its row goes
HARM = 0.35  # nats that the outputs of bystanders may move by
BYSTANDERS = 2  # of them for each image of D_f in a batch
WATCHED = 4  # one of so many bystanders is not trained, but watched
MOST_COMPARED = 512  # images of D_f, with each other


@dataclass(frozen=True)
class Trained:
    """How far the outputs of bystanders moved, how sure the network was of D_f, and how much one image told of it."""

    harm: float
    sure: float
    told: float


@dataclass(frozen=True)
class Weights:
    """Of what is minimised beside cross-entropy: λ of the level, μ of likeness to views, κ of bystanders, γ of P₀/P."""

    evenness: float = 0.0
    likeness: float = 0.0
    keeping: float = 0.0
    dispersion: float = 0.0

    def halved(self) -> Self:
        """Return half of each, so that what is still to be forgotten counts twice as much."""
        return type(self)(*(weight / 2 for weight in astuple(self)))


@dataclass(frozen=True)
class Apart:
    """How near images of D_f stood to each other at first, and with what weight their features are pushed apart."""

    nearness: Nearness
    weight: float


@dataclass(frozen=True, eq=False)
class Tail:
    """The layers to train, D_f and its unseen-like views as they are given them, and how sure they should be of both.

    `bystanders` are pictures that stand for D_r, of which some are trained to stay and the others watched; `others` are
    images of D_r itself, where a sample of it is given. What is forgotten is forgotten under both versions of the
    statistics; all else is looked at under those that the network keeps.
    """

    part: nn.Module
    head: Head
    versions: Versions
    classes: tuple[int, ...]
    batch_size: int
    forget: Seen
    bystanders: Seen
    views: Seen | None = None
    level: Level | None = None
    others: Seen | None = None

    def loss(self, version: int, i: Tensor, weights: Weights) -> Tensor:
        """CE(q, p) on D_f, its views and images of D_r; λ and μ times how far the entropies of D_f and views are
        from the level and from each other; κ times how far the outputs of bystanders have moved.
        """
        kinds = [(self.forget, i)]
        if self.others is not None:
            kinds.append((self.others, torch.randint(len(self.others), (len(i),))))
        if version == 0 and self.views is not None:
            kinds.append((self.views, i))
        trained = len(kinds)
        if version == 0 and weights.keeping:
            kinds.append((self.bystanders, self.some_bystanders(BYSTANDERS * len(i))))
        given = torch.cat([seen.features[version][rows] for seen, rows in kinds])
        logits = self.part(given).float().split([len(rows) for _, rows in kinds])
        wanted = [seen.targets[rows] for seen, rows in kinds]
        value = torch.stack([F.cross_entropy(p, q) for p, q in zip(logits[:trained], wanted, strict=False)]).sum()
        if version == 0 and self.level is not None:
            shares, like = self.level.shares(logits[0]), self.level.shares(logits[trained - 1])
            uneven = self.level.distance(shares) + self.level.distance(like)
            value = value + weights.evenness * uneven + weights.likeness * F.l1_loss(shares, like)
        if len(kinds) > trained:
            value = value + weights.keeping * self.moved_by(logits[-1], wanted[-1])
        return value

    def some_bystanders(self, count: int) -> Tensor:
        """Draw so many of the bystanders that are trained to stay."""
        trained = torch.arange(len(self.bystanders))
        trained = trained[trained % WATCHED > 0] if len(trained) > 1 else trained
        return trained[torch.randint(len(trained), (count,))]

    def moved_by(self, logits: Tensor, before: Tensor) -> Tensor:
        """Return the mean of KL(before ‖ now) among the other classes, in nats."""
        return F.kl_div(log_others(logits, self.classes), before, reduction="batchmean")

    @torch.no_grad()
    def harm(self, engine: Engine) -> float:
        """Return how far outputs of the bystanders that are watched have moved, with the statistics as they are now.

        Not a number, if one is not.
        """
        features, before = self.bystanders.features[0][::WATCHED], self.bystanders.targets[::WATCHED]
        return float(self.moved_by(outputs(self.part, features, self.batch_size, engine), before))

    def train(
        self,
        engine: Engine,
        *,
        pace: float,
        slower: float = 1.0,
        steps: int,
        rounds: int,
        weights: Weights,
        limit: float = HARM,
    ) -> "Trained":
        """Train in rounds of so many steps until the class is gone.

        Steps are `slower` than the pace, or as slow as a network needs that is not sure of D_f (`care`). Features are
        pushed apart as far as one image tells the class, or where slow steps make that harmless. A round that moves
        bystanders by more than `limit` is taken back, and the next has half the pace; after one that leaves too much
        of the class, everything else weighs half. The head stays as it is: the other classes keep the rows by which
        they are told.
        """
        self.versions.use(0)
        nearness, sure = self.at_first(engine)
        slow = care(sure)
        with engine.arithmetic():
            fed = feeding(self.part, self.batches(0))
        slower = slower if all_follow(self.part, fed) else SMALL_STEPS * max(slower, SMALL_STEPS)
        pace *= min(slower, slow)
        told = max(nearness.told, 1 - slow) * (1 + slow) / 2  # an unsure network has more to lose by it
        draws = Draws(torch.arange(len(self.forget)), self.batch_size, steps, seed=int(torch.randint(2**31, ())))
        with frozen(self.head, self.part):
            for _ in range(rounds):
                start = deepcopy(self.part.state_dict())
                loss = self.objective(weights, Apart(nearness, weights.dispersion * told))
                self.train_once(draws, loss, engine, lr=pace * self.usual_weight())
                self.settle(fed, engine)
                if not self.harm(engine) <= limit:
                    self.part.load_state_dict(start)
                    pace /= 2
                elif self.held(engine) <= HELD:
                    break
                else:
                    weights = weights.halved()
        self.settle(fed, engine)
        self.versions.renew(0)
        return Trained(self.harm(engine), sure, nearness.told)

    def objective(self, weights: Weights, apart: Apart) -> Loss:
        """Return what is minimised: the loss under each version of the statistics in turn, features pushed apart."""
        turns = cycle(range(len(self.forget.features)))

        def loss(part: nn.Module, _: Tensor, i: Tensor) -> Tensor:
            turn = next(turns)
            self.versions.use(turn)
            with head_inputs(self.head) as given:
                value = self.loss(turn, i, weights)
            if not apart.weight:
                return value
            return value + apart.weight * apart.nearness.left(feature_rows(given[-1], self.head)[: len(i)])

        return loss

    def train_once(self, draws: Draws, loss: Loss, engine: Engine, *, lr: float) -> None:
        """Train for one round; the weights are then their average over its second half."""
        engine.observer = average = Average(draws.steps // 2)
        with suppress(Diverged):
            engine.fit(
                self.part, draws, loss, epochs=1, lr=lr, optimiser="adamw", schedule="one-cycle",
                batch_norm="frozen", whole=True, what="boundary shift",
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

    def usual_weight(self) -> float:
        """Return √(Σ w²/n) of the weights to train: in this unit a step of Adam means the same to every network."""
        weights = [weight.detach() for weight in self.part.parameters() if weight.requires_grad]
        size = torch.stack([weight.norm() for weight in weights]).norm()
        return float(size / sum(weight.numel() for weight in weights) ** 0.5)


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
