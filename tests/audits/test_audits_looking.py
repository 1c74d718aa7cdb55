"""Looking at models: as many images of D_rt as it takes, each model once, layers in passing."""

from copy import deepcopy
from dataclasses import replace

import pytest
import torch
from torch import nn

from unclass.audits import looking
from unclass.audits.layers import Layers
from unclass.audits.looking import first_part_first, look_at
from unclass.audits.observe import Observation, observe
from unclass.audits.retain_change import is_clear, retain_change
from unclass.audits.stopwatch import Stopwatch
from unclass.data import Split
from unclass.models import Classifier
from unclass.predictions import Predictions
from unclass.training.engine import Engine


def seen(right: int, count: int) -> Observation:
    """An observation of `count` test images, the first `right` of which are named right."""
    logits = torch.eye(2)[(torch.arange(count) >= right).long()]
    return Observation({"retain_test": Predictions(logits, torch.zeros(count, dtype=torch.long))}, {}, logits, None)


@pytest.mark.parametrize(("right", "clear"), [(1000, True), (990, True), (970, False), (965, False), (900, True)])
def test_a_change_is_clear_away_from_its_limit_of_three_points(right: int, clear: bool) -> None:
    assert is_clear({"original": seen(1000, 1000), "unlearned": seen(right, 1000)}) == clear


def test_a_first_look_asks_for_more_confidence_than_the_verdict() -> None:
    both = {"original": seen(1000, 1000), "unlearned": seen(980, 1000)}
    assert retain_change(both).judge("unlearned") == "passed" and not is_clear(both)


def test_a_retrained_model_must_be_clear_too() -> None:
    models = {"original": seen(1000, 1000), "unlearned": seen(1000, 1000), "retrained": seen(1000, 1000)}
    assert is_clear(models) and not is_clear({**models, "retrained-2": seen(968, 1000)})


@pytest.mark.parametrize("clear", [True, False])
def test_the_rest_is_looked_at_only_where_the_first_part_leaves_it_open(
    model: Classifier, split: Split, engine: Engine, monkeypatch: pytest.MonkeyPatch, clear: bool
) -> None:
    monkeypatch.setattr(looking, "FIRST", 40)
    monkeypatch.setattr(looking, "is_clear", lambda _: clear)
    watch = Stopwatch(engine)
    looked_at, found = look_at({"original": model, "unlearned": model}, split, watch, seed=0, workers=0)
    assert len(looked_at.retain_test) == (40 if clear else len(split.retain_test))
    assert ("looking again" in watch.seconds) != clear
    whole = observe(model, looked_at, engine)
    for name, predictions in whole.predictions.items():
        assert torch.equal(found["unlearned"].predictions[name].labels, predictions.labels)
        assert torch.allclose(found["unlearned"].predictions[name].logits, predictions.logits, atol=1e-4)
        assert torch.allclose(found["unlearned"].features[name], whole.features[name], atol=1e-4)


def test_few_images_are_looked_at_at_once_and_stay_in_their_order(
    model: Classifier, split: Split, engine: Engine
) -> None:
    looked_at, _ = look_at({"original": model, "unlearned": model}, split, Stopwatch(engine), seed=0, workers=0)
    assert looked_at is split


def test_the_first_part_is_balanced_and_nothing_is_lost(split: Split, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(looking, "FIRST", 27)
    ordered = first_part_first(split.retain_test, seed=1)
    assert ordered.labels[:27].bincount().tolist() == [3, 3, 3, 0, 3, 3, 3, 3, 3, 3]
    assert ordered.places.sort().values.tolist() == split.retain_test.places.sort().values.tolist()
    labels = dict(zip(split.retain_test.places.tolist(), split.retain_test.labels.tolist(), strict=True))
    assert ordered.labels.tolist() == [labels[place] for place in ordered.places.tolist()]


def test_a_model_of_two_roles_is_examined_once(model: Classifier, engine: Engine) -> None:
    asked: list[nn.Module] = []
    other = deepcopy(model)
    found = Stopwatch(engine).each(
        "counting", {"a": model, "b": other, "c": model}, lambda one, _: asked.append(one) or len(asked)
    )
    assert asked == [model, other] and found == {"a": 1, "b": 2, "c": 1}


def test_what_is_kept_is_found_once_but_for_the_unlearned_model(model: Classifier, engine: Engine) -> None:
    other, kept = deepcopy(model), {}
    with torch.no_grad():
        next(other.parameters()).add_(1)
    asked: list[nn.Module] = []
    for _ in range(2):
        models = {"original": deepcopy(model), "unlearned": other, "retrained": deepcopy(other)}
        watch = Stopwatch(engine, kept=kept)
        found = watch.each("counting", models, lambda one, _: asked.append(one) or len(asked))
    assert found == {"original": 1, "unlearned": 4, "retrained": 3}
    assert watch.examined["counting"] == 1


def test_what_is_kept_is_of_the_same_weights_card_precision_and_model_beside(model: Classifier, engine: Engine) -> None:
    watch = Stopwatch(engine, kept={})
    names = Classifier(model.network, replace(model.card, forgotten=("3",)))
    low = Stopwatch(replace(engine, precision="bfloat16"), kept=watch.kept)
    asked = iter(range(9))
    found = [
        one.once("counting", "original", known, lambda: next(asked), beside)
        for one, known, beside in [
            (watch, model, None), (watch, names, None), (low, model, None), (watch, model, names), (watch, model, None),
        ]
    ]  # fmt: skip
    assert found == [0, 1, 2, 3, 0]


def test_what_one_model_draws_at_random_changes_nothing_for_the_next(model: Classifier, engine: Engine) -> None:
    models = {"original": model, "unlearned": deepcopy(model)}
    found = Stopwatch(engine).each("drawing", models, lambda *_: torch.rand(1).item())
    assert found["original"] == found["unlearned"]


def test_layers_hold_the_first_images_of_each_set_pooled(model: Classifier, split: Split, engine: Engine) -> None:
    kept = observe(model, split, engine).layers
    convolutions = {name: module for name, module in model.named_modules() if isinstance(module, nn.Conv2d)}
    assert list(kept) == list(convolutions)
    outputs: list[torch.Tensor] = []
    name, layer = list(convolutions.items())[-1]
    hook = layer.register_forward_hook(lambda _, __, output: outputs.append(output))
    with torch.no_grad():
        for images in (split.forget, split.retain_test):
            rows = torch.arange(min(200, len(images)))
            model.eval()(images.read(rows).float() / 255)
    hook.remove()
    slow = torch.cat([nn.functional.adaptive_avg_pool2d(one, 2).flatten(1) for one in outputs])
    assert torch.allclose(kept[name], slow, atol=1e-4)


def test_nothing_is_kept_where_no_image_was_asked_for(model: Classifier, split: Split) -> None:
    layers = Layers(model)
    with layers.watched(0), torch.no_grad():
        model(split.forget.read(torch.arange(2)).float() / 255)
    assert layers.outputs() == {}
