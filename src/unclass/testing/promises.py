"""What a method promises, each promise a function of a method on trial."""

import json
from copy import deepcopy
from dataclasses import FrozenInstanceError, asdict, fields, replace
from functools import cached_property
from typing import Any, get_type_hints

import torch
from torch import Tensor, nn

from unclass.data import Batches, Split, TrainingData, Withheld
from unclass.methods import Counts, Method, Needs, Prepared
from unclass.methods.configure import check, convert, explanations
from unclass.methods.lookup import checked, name_of
from unclass.models import weights_digest
from unclass.models.networks.small_cnn import SmallCNN
from unclass.running import Outcome, Settings, unlearn
from unclass.testing.originals import (
    Watched,
    classifier,
    confidence,
    digits,
    everything_in,
    loader,
    plain,
    prepared_with,
    trained,
)
from unclass.training.engine import Engine

SETTINGS = Settings(seed=5, batch_size=32)
_SAMPLE = 30


class Trial:
    """A method with its options, and what becomes of a small network; each thing is run once, when it is asked for."""

    def __init__(self, kind: type[Method], options: dict[str, Any]) -> None:
        self.kind, self.options = checked(kind, getattr(kind, "__name__", str(kind))), options
        self.method = kind(**{**kind.presets.get("digits", {}), **options})
        self.name = name_of(self.method)
        self.split = Split.of(digits(), ["3"])

    @cached_property
    def prepared(self) -> tuple[Method, nn.Module]:
        """The method, and a Classifier that knows the digits; of a prepared method, one whose training it watched."""
        if isinstance(self.method, Prepared):
            return prepared_with(self.method, classifier(), (3,))
        return self.method, deepcopy(trained())

    @cached_property
    def before(self) -> dict[str, Any]:
        return everything_in(self.prepared[1])

    @cached_property
    def outcome(self) -> Outcome:
        """What the method makes of the network, given only the data that it declares."""
        _ = self.before
        return self.run()

    def run(self, **changes: Any) -> Outcome:
        method, original = self.prepared
        return unlearn(original, self.split, replace(method, **changes), Engine(precision="float32"), SETTINGS)  # type: ignore[type-var]


def declares_itself(trial: Trial) -> None:
    """It is a frozen dataclass; each option has a default and a line, each preset allowed values."""
    assert checked(trial.kind, trial.name)
    lines = explanations(trial.kind)
    for option, line in lines.items():
        assert line and "\n" not in line, f"option {option} has no line that explains it"
    for preset, chosen in trial.kind.presets.items():
        assert set(chosen) <= set(lines), f"preset {preset} has options that are not there"
        check(trial.kind(**chosen))
    method: Any = check(trial.kind())
    for one in fields(method)[:1]:
        try:
            setattr(method, one.name, getattr(method, one.name))
            raise AssertionError("its options can be changed: write @dataclass(frozen=True)")
        except FrozenInstanceError:
            pass


def is_made_again_from_its_record(trial: Trial) -> None:
    """Its options, as JSON or as text, make the same method again."""
    record = json.loads(json.dumps(asdict(trial.method)))  # type: ignore[call-overload]
    assert trial.kind(**record) == trial.method
    hints = get_type_hints(trial.kind)
    again = {key: convert(str(value), hints[key], key) for key, value in record.items()}
    assert trial.kind(**again) == trial.method


def says_what_it_costs(trial: Trial) -> None:
    """It goes at least once through the data that it needs, and not through other data."""
    passes = trial.method.passes(Counts(forget=100, retain=900, classes=10, batch_size=32))
    over_forget = passes.forget_looks + passes.forget_trains + passes.tail[1]
    over_retain = passes.retain_looks + passes.retain_trains
    for name, need, count in (("D_f", Needs.FORGET, over_forget), ("D_r", Needs.RETAIN, over_retain)):
        reads = "reads" if need in trial.method.needs else "does not read"
        says = f"Its `needs` say that it {reads} {name}, its `passes(counts)` {count:g} passes over it: let them agree."
        assert (count > 0) == (need in trial.method.needs), says
    assert 0 <= passes.tail[0] <= passes.tail[1]


def forgets(trial: Trial) -> None:
    """Confidence in the forgotten class falls to less than half."""
    before, after = (confidence(model, trial.split.forget) for model in (trial.prepared[1], trial.outcome.model))
    assert after < before / 2, f"it was {before:.3f} and is {after:.3f}; try stronger options"


def leaves_the_original_alone(trial: Trial) -> None:
    """The model that it was given is as before: weights, buffers, modes, layout, gradients."""
    _ = trial.outcome
    before, after = trial.before, everything_in(trial.prepared[1])
    assert before.keys() == after.keys()
    for key, value in before.items():
        same = torch.equal(value, after[key]) if isinstance(value, Tensor) else value == after[key]
        assert same, f"{key} was changed"


def keeps_keys_shapes_and_classes(trial: Trial) -> None:
    """What comes out has the same type, keys, shapes, precision and class count, and every weight can be trained."""
    original, unlearned = trial.prepared[1], trial.outcome.model
    assert type(unlearned) is type(original)
    old, new = original.state_dict(), unlearned.state_dict()
    assert list(old) == list(new)
    for key, tensor in new.items():
        assert (tensor.shape, tensor.dtype) == (old[key].shape, old[key].dtype), key
    assert unlearned(torch.rand(2, 1, 8, 8)).shape == (2, 10)
    assert all(weight.requires_grad for weight in unlearned.parameters()), "requires_grad was left switched off"


def returns_another_model_ready_for_use(trial: Trial) -> None:
    """What comes out is another model, in evaluation mode, and no hook is left behind."""
    assert weights_digest(trial.outcome.model) != weights_digest(trial.prepared[1])
    for module in trial.outcome.model.modules():
        assert not module.training
        assert not module._forward_hooks and not module._forward_pre_hooks and not module._backward_hooks
    assert not any(weight._backward_hooks for weight in trial.outcome.model.parameters())


def repeats_itself(trial: Trial) -> None:
    """The same seed gives the same weights, whatever was drawn before."""
    first = weights_digest(trial.outcome.model)
    torch.rand(17)
    assert weights_digest(trial.run().model) == first


def reads_what_it_declares(trial: Trial) -> None:
    """It reads the data that it declares to need, and nothing else."""
    needs = trial.method.needs
    assert (trial.outcome.retain_images_read > 0) == (Needs.RETAIN in needs)
    method, original = trial.prepared
    for need in needs & (Needs.FORGET | Needs.RETAIN):
        data = TrainingData(
            forget=Withheld("D_f") if need is Needs.FORGET else Batches(trial.split.forget, 32),
            retain=Withheld("D_r") if need is Needs.RETAIN else Batches(trial.split.retain, 32),
            classes=trial.split.classes,
        )
        try:
            method(original, data, Engine(precision="float32"))
        except RuntimeError as error:
            assert "withheld" in str(error), error
        else:
            raise AssertionError(f"it never read {need.words()}")


def reads_no_more_than_a_sample(trial: Trial) -> None:
    """Given `retain_sample`, it reads that many images of D_r at most, and others with another seed."""
    if "retain_sample" not in explanations(trial.kind):
        return
    seen = [_images_read(trial, seed) for seed in (0, 1)]
    assert all(0 < len(places) <= _SAMPLE for places in seen), [len(places) for places in seen]
    assert seen[0] != seen[1], "the sample does not depend on the seed"


def takes_any_network_and_loader(trial: Trial) -> None:
    """A plain module forgets two classes from DataLoaders, and stays as it is."""
    data = Split.of(digits(), ["3", "5"])
    method: Any = trial.method
    original: nn.Module = deepcopy(plain())
    if isinstance(method, Prepared):
        method, original = prepared_with(method, SmallCNN(10, width=8), data.classes, loader(digits().train))
    digest, before = weights_digest(original), confidence(original, data.forget)
    torch.manual_seed(0)
    given = TrainingData(loader(data.forget), loader(data.retain), data.classes)
    unlearned = method(original, given, Engine(precision="float32"))
    assert type(unlearned) is type(original) and weights_digest(original) == digest
    assert list(unlearned.state_dict()) == list(original.state_dict())
    for index in data.classes:
        after = confidence(unlearned, data.forget.of_classes([index]))
        assert after < 0.6 * before, f"confidence in class {index} was {before:.3f} and is {after:.3f}"


def _images_read(trial: Trial, seed: int) -> set[int]:
    """Return which images of D_r a method reads that is given a sample of them."""
    method, original = trial.prepared
    source = Watched(trial.split.retain.source)
    retain = replace(trial.split.retain, source=source)
    split = replace(trial.split, retain=retain)
    few: Any = replace(method, retain_sample=_SAMPLE)  # type: ignore[type-var]
    unlearn(original, split, few, Engine(precision="float32"), replace(SETTINGS, seed=seed))
    return source.read
