from copy import deepcopy
from dataclasses import dataclass, replace
from typing import ClassVar

import pytest
import torch
from torch import nn

from unclass.compatibility import check_fit
from unclass.data import ImageData, Split, TrainingData
from unclass.errors import Diverged, InputError
from unclass.methods import Needs
from unclass.methods.finetune import Finetune
from unclass.methods.negative_gradient import NegativeGradient
from unclass.methods.retrain import Retrain
from unclass.models import Card, Classifier, weights_digest
from unclass.records import Cost
from unclass.running import Settings, describe_run, new_model, original_recipe, train_model, unlearn
from unclass.training.engine import Engine


@dataclass(frozen=True)
class Probe:
    """A method of somebody else's that keeps what it was given."""

    broken: bool = False
    needs: ClassVar[Needs] = Needs.FORGET
    presets: ClassVar[dict[str, dict[str, object]]] = {}
    given: ClassVar[list[TrainingData]] = []

    def __call__(self, model: nn.Module, data: TrainingData, engine: Engine) -> nn.Module:
        self.given.append(data)
        result = deepcopy(model)
        if self.broken:
            next(result.parameters()).data.fill_(torch.nan)
        return result


def test_a_method_is_handed_only_what_it_declared(model: Classifier, split: Split, engine: Engine) -> None:
    unlearn(model, split, Probe(), engine, Settings(batch_size=16))
    data = Probe.given.pop()
    assert data.classes == (3,)
    assert {int(label) for _, y in data.forget for label in y} == {3}
    with pytest.raises(RuntimeError, match="D_r is withheld"):
        list(data.retain)


def test_steps_and_images_read_are_counted(model: Classifier, split: Split) -> None:
    engine = Engine(precision="float32")
    first = unlearn(model, split, Finetune(epochs=2), engine, Settings(batch_size=32))
    second = unlearn(model, split, Finetune(epochs=1), engine, Settings(batch_size=32))
    assert first.retain_images_read == 2 * len(split.retain)
    assert second.retain_images_read == len(split.retain)
    assert first.steps == 2 * second.steps == engine.steps - second.steps
    assert first.seconds > 0
    assert first.cost() == Cost(first.seconds, first.steps, first.retain_images_read)


def test_weights_that_are_not_finite_are_never_handed_out(model: Classifier, split: Split, engine: Engine) -> None:
    with pytest.raises(Diverged, match="Probe made weights that are not finite"):
        unlearn(model, split, Probe(broken=True), engine, Settings())
    with pytest.raises(Diverged):
        unlearn(model, split, NegativeGradient(epochs=20, lr=1e20), engine, Settings())


def test_bad_options_are_refused_before_anything_runs(model: Classifier, split: Split) -> None:
    engine = Engine(precision="float32")
    with pytest.raises(InputError, match="finetune option lr"):
        unlearn(model, split, Finetune(lr=-1.0), engine, Settings())
    assert engine.steps == 0


@pytest.mark.parametrize("seed", [-1, 2**32, 10**30])
def test_seeds_out_of_range_are_refused(seed: int) -> None:
    with pytest.raises(InputError, match=f"seed {seed} is not allowed"):
        Settings(seed=seed)


def test_the_largest_seed_works(digits: ImageData, engine: Engine) -> None:
    fresh = new_model(digits, "small-cnn", {"width": 2})
    trained, outcome = train_model(fresh, digits, Retrain(epochs=1), engine, Settings(seed=2**32 - 1, batch_size=200))
    assert outcome.steps > 0 and trained.card.recipe["seed"] == 2**32 - 1


def test_training_says_on_the_card_what_was_done_on_what(trained: Classifier, digits: ImageData) -> None:
    assert trained.card.trained_on == {
        "name": "digits",
        "count": len(digits.train),
        "digest": digits.train.digest,
    }
    recipe = dict(trained.card.recipe)
    assert (recipe.pop("batch_size"), recipe.pop("seed")) == (32, 0)
    assert Retrain(**recipe) == original_recipe(trained, "digits") == Retrain(epochs=8, lr=0.1)


def test_training_leaves_the_fresh_model_alone_and_repeats_under_a_seed(digits: ImageData, engine: Engine) -> None:
    fresh = new_model(digits, "small-cnn", {"width": 2})
    digest = weights_digest(fresh)
    recipe = Retrain(epochs=1)
    one, two, three = (
        weights_digest(train_model(fresh, digits, recipe, engine, Settings(seed, 64))[0]) for seed in (4, 4, 5)
    )
    assert weights_digest(fresh) == digest
    assert one == two != three


def test_a_model_without_a_recipe_is_retrained_with_the_data_sets(digits: ImageData) -> None:
    assert original_recipe(nn.Linear(1, 1), "digits") == Retrain(**Retrain.presets["digits"])


def test_a_model_of_other_classes_or_channels_does_not_fit(trained: Classifier, digits: ImageData) -> None:
    check_fit(trained, digits)
    check_fit(nn.Linear(1, 1), digits)  # nothing is known of a plain module
    fewer = replace(digits, classes=digits.classes[:9])
    with pytest.raises(InputError, match=r"m has 10 classes \(0 … 9\), digits has 9 \(0 … 8\)"):
        check_fit(trained, fewer, "m")
    coloured = Classifier(trained.network, Card("small-cnn", digits.classes, (3, 8, 8)))
    with pytest.raises(InputError, match="3 colour channels, digits has 1"):
        check_fit(coloured, digits)


def test_a_description_tells_runs_apart(trained: Classifier, digits: ImageData, split: Split, engine: Engine) -> None:
    def describe(model: nn.Module = trained, lr: float = 0.1, seed: int = 0, batch: int = 64) -> dict[str, object]:
        return describe_run(model, digits, split, Finetune(lr=lr), Settings(seed, batch), engine)

    other = Classifier(new_model(digits, "small-cnn", {"width": 8}).network, trained.card)
    assert describe() == describe()
    for different in (describe(other), describe(lr=0.2), describe(seed=1), describe(batch=32)):
        assert different != describe()
    assert describe().method == "finetune" and describe().forget_classes == ("3",)
    assert describe_run(trained, digits, split, None, Settings(), engine).method == "original"
    assert describe_run(nn.Linear(1, 1), digits, split, None, Settings(), engine).original.card == {
        "architecture": "Linear"
    }
