"""Training the last layers of a network on what the layers before them made of each image, kept from one pass."""

from contextlib import suppress
from copy import deepcopy
from dataclasses import dataclass, field
from itertools import cycle

import torch
import torch.nn.functional as F
from torch import Tensor, nn

from unclass.data.batches import Draws
from unclass.errors import Diverged
from unclass.methods.boundary_shift.following import all_follow, feeding, follow
from unclass.methods.boundary_shift.statistics import Versions
from unclass.training.engine import Engine, Loss

CHECK_IMAGES = 1024
SMALL_STEPS = 0.1  # of the pace, where running means cannot follow the weights


@dataclass(frozen=True)
class Until:
    """When to stop: the share of KL(q ‖ p) that is left, and of images still in the class; and when to turn back.

    Beyond a relative change `moved` of the weights the other classes cannot be trusted to have stayed. It takes the
    place of a look at D_r, and is in proportion to the classes' share of the training images, as what retraining would
    change: with a tenth, the other classes kept their accuracy up to 0.081 and lost it from 0.087; with a fortieth, ten
    erasures one after another are harmless up to 0.02 and eat the model beyond 0.04.
    """

    left: float = 0.02
    held: float = 0.002
    moved: float = 0.085

    @classmethod
    def of_share(cls, share: float) -> "Until":
        """Return the rule for classes with this share of the training images."""
        return cls(moved=min(max(0.85 * share, 0.02), cls.moved))


@dataclass(frozen=True, eq=False)
class Tail:
    """The layers to train, what goes into them under each version of the statistics, and what should come out.

    The first `forgotten` rows are D_f, those of `classes`.
    """

    part: nn.Module
    versions: Versions
    features: list[Tensor]
    targets: Tensor
    forgotten: int
    classes: tuple[int, ...]
    batch_size: int
    places: tuple[Tensor, ...] = field(init=False)

    def __post_init__(self) -> None:
        some = torch.arange(min(self.forgotten, CHECK_IMAGES), device=self.targets.device)
        object.__setattr__(self, "places", some.split(self.batch_size))

    def sample(self, version: int) -> list[Tensor]:
        """Return batches of some forgotten images as the tail is given them."""
        return [self.features[version][i] for i in self.places]

    def train(self, engine: Engine, until: Until, *, pace: float, lr: float, steps: int, rounds: int) -> None:
        """Train towards the targets in rounds of `steps` until `until` is met; if one does harm, start again slower."""
        turns = cycle(range(len(self.features)))

        def loss(part: nn.Module, _: Tensor, i: Tensor) -> Tensor:
            turn = next(turns)
            self.versions.use(turn)
            return F.cross_entropy(part(self.features[turn][i]).float(), self.targets[i])

        start = deepcopy(self.part.state_dict())
        self.versions.use(0)
        with engine.arithmetic():
            fed = feeding(self.part, self.sample(0))
        pace = pace if all_follow(self.part, fed) else SMALL_STEPS * pace
        rate = lr or pace * steepness(self.part, [(i, i) for i in self.places], loss, engine)
        before, _ = self.standing(engine)
        draws = Draws(torch.arange(len(self.targets)), self.batch_size, steps)
        for _ in range(rounds):
            with suppress(Diverged):
                engine.fit(self.part, draws, loss, epochs=1, lr=rate, batch_norm="frozen", what="boundary shift")
            now, still = self.standing(engine)
            lost = not now <= before or moved(self.part, start) > until.moved
            if not lost and still <= until.held and now <= until.left * before:
                break
            if lost:
                self.part.load_state_dict(start)
                rate /= 3
        self.versions.use(0)
        with engine.arithmetic():
            follow(self.part, fed, self.sample(0)[0][:1])

    @torch.no_grad()
    def standing(self, engine: Engine) -> tuple[float, float]:
        """Return KL(q ‖ p) and the share of images still taken for a forgotten class, under the worst statistics."""
        gone = torch.tensor(self.classes, device=self.targets.device)
        apart, held = [], []
        for version in range(len(self.features)):
            self.versions.use(version)
            with engine.arithmetic():
                logits = torch.cat([self.part.eval()(h).float() for h in self.sample(version)])
            apart.append(self.apart(logits))
            held.append(torch.isin(logits.argmax(1), gone).float().mean().item())
        return max(apart, key=lambda value: float("inf") if value != value else value), max(held)

    def apart(self, logits: Tensor) -> float:
        """Return the mean of KL(q ‖ p) over the sample."""
        q = self.targets[torch.cat(self.places)]
        each = torch.where(q > 0, torch.special.xlogy(q, q) - q * logits.log_softmax(1), 0.0)
        return each.sum(1).mean().item()


@torch.no_grad()
def moved(part: nn.Module, start: dict[str, Tensor]) -> float:
    """Return how far the weights have moved from the start: ‖w − w₀‖/‖w₀‖."""
    weights = dict(part.named_parameters())
    change = torch.stack([(weight - start[name]).norm() for name, weight in weights.items()]).norm()
    return float(change / torch.stack([start[name].norm() for name in weights]).norm().clamp_min(1e-12))


def steepness(part: nn.Module, sample: list[tuple[Tensor, Tensor]], loss: Loss, engine: Engine) -> float:
    """Return ‖w‖/‖∇‖ of a part's weights: in these units, a learning rate means the same to every network."""
    weights = [weight for weight in part.parameters() if weight.requires_grad]
    total = [torch.zeros_like(weight) for weight in weights]
    for x, y in sample:
        with engine.arithmetic():
            gradients = torch.autograd.grad(loss(part, x, y), weights, allow_unused=True)
        for one, gradient in zip(total, gradients, strict=True):
            if gradient is not None:
                one.add_(gradient, alpha=1 / len(sample))
    size = torch.stack([weight.detach().norm() for weight in weights]).norm()
    return float(size / torch.stack([gradient.norm() for gradient in total]).norm().clamp_min(1e-12))
