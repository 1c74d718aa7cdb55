"""U-LiRA on the class: shadow models trained with the class and unlearned, against ones that never saw it."""

from collections.abc import Sequence
from dataclasses import dataclass

import torch
from torch import Tensor, nn

from unclass.audits.check import Measure
from unclass.audits.limits import no_advantage
from unclass.audits.observe import look
from unclass.data import ImageData, ImageSet, Split
from unclass.errors import InputError
from unclass.methods import Method, Needs
from unclass.metrics.lira import logit_scores, ulira_scores
from unclass.metrics.population import auc
from unclass.models import Classifier
from unclass.running import Settings, original_recipe, train_model, unlearn
from unclass.training.engine import Engine


@dataclass(frozen=True)
class Shadows:
    """Models whose history is known: trained with the class and then unlearned, or never shown it."""

    unlearned: Sequence[nn.Module]
    retrained: Sequence[nn.Module]

    def __post_init__(self) -> None:
        if min(len(self.unlearned), len(self.retrained)) < 2:
            have = f"{len(self.unlearned)} unlearned and {len(self.retrained)} retrained shadow models"
            raise InputError(f"{have} are too few for U-LiRA; give at least two of each")


def train_shadows(
    original: nn.Module, data: ImageData, split: Split, method: Method, count: int, engine: Engine, settings: Settings
) -> Shadows:
    """Train `count` originals with other seeds and unlearn each by the method; retrain as many without the class."""
    if not isinstance(original, Classifier):
        raise InputError("shadow models need a checkpoint with a card, to train alike; give `shadow_models` instead")
    if Needs.UPDATES in method.needs:
        raise InputError("shadow models cannot be unlearned from recorded updates; give `shadow_models` instead")
    recipe = original_recipe(original, data.name)
    unlearned: list[nn.Module] = []
    retrained: list[nn.Module] = []
    for place in range(count):
        own = Settings(settings.seed + 1000 + place, settings.batch_size, settings.workers)
        trained = train_model(original, data, recipe, engine, own)[0]
        unlearned.append(unlearn(trained, split, method, engine, own).model)
        retrained.append(unlearn(original, split, recipe, engine, own).model)
    return Shadows(unlearned, retrained)


def ulira_measure(unlearned: nn.Module, shadows: Shadows, forget: ImageSet, engine: Engine) -> Measure:
    """AUC of U-LiRA on D_f: the audited model's scores against those of models that never saw the class.

    Each of these is scored with the others as shadow models, so that none is compared with itself.
    """

    def phi(model: nn.Module) -> Tensor:
        return logit_scores(look(engine.place(model), forget, engine))

    target, inside = phi(unlearned), torch.stack([phi(model) for model in shadows.unlearned])
    outside = torch.stack([phi(model) for model in shadows.retrained])
    scores = ulira_scores(target, inside, outside)
    keep = torch.eye(len(outside), dtype=torch.bool).logical_not()
    others = torch.cat([ulira_scores(one, inside, outside[keep[place]]) for place, one in enumerate(outside)])
    value = max(0.0, auc(scores, others) - 0.5)
    note = f"{len(inside)} shadow models unlearned, {len(outside)} retrained"
    return Measure.of("u-lira", no_advantage(len(scores), len(others)), {"unlearned": value}, note=note)
