from copy import deepcopy
from functools import partial

import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st
from torch import nn
from torch.nn import functional as F
from torch.utils.data import DataLoader, TensorDataset

from unclass.data import Batches, Paired, Turns
from unclass.errors import Diverged, InputError
from unclass.methods import METHODS
from unclass.methods.method import cross_entropy
from unclass.models import build, weights_digest
from unclass.running import Settings, unlearn
from unclass.training.engine import Budget, Engine, layout_for, learning_rate


class Killed(Exception):  # noqa: N818 - reads as what happened
    """Stands for the end of the process."""


class KilledAfter:
    """An observer that ends the run after some steps."""

    def __init__(self, steps):
        self.steps = steps

    def start(self, model):
        pass

    def after_step(self, step, model, y):
        if step == self.steps:
            raise Killed


class Weights:
    """An observer that keeps the weights after every step."""

    def __init__(self):
        self.seen = []

    def start(self, model):
        self.seen.append(deepcopy(model.state_dict()))

    def after_step(self, step, model, y):
        self.seen.append(deepcopy(model.state_dict()))


def noisy(model, x, y):
    """A loss that draws random numbers, as random labels and dropout do."""
    return F.cross_entropy(model(x + 0.1 * torch.randn_like(x)), y)


def diverging(model, x, y):
    return cross_entropy(model, x, y) * torch.nan


def in_batches(images, seed=0):
    return Batches(images, 64, shuffle=True, seed=seed)


def in_loader(images, seed=0):
    everything = TensorDataset(*next(iter(Batches(images, len(images)))))
    return DataLoader(everything, batch_size=64, shuffle=True)


@pytest.fixture
def start(trained):
    """An untrained network like the trained one."""
    torch.manual_seed(0)
    return build(trained.card)


def run(start, batches, engine, *, seed=0, loss=noisy, epochs=3, **options):
    torch.manual_seed(seed)
    return engine.fit(deepcopy(start), batches, loss, epochs=epochs, **{"lr": 0.05, "schedule": "one-cycle", **options})


def killed(start, batches, path, steps, **options):
    """Run until `steps` and be killed there. The step before is the last in the resume file."""
    engine = Engine(precision="float32", checkpoint=path, checkpoint_seconds=0, observer=KilledAfter(steps))
    with pytest.raises(Killed):
        run(start, batches, engine, **options)


@pytest.mark.parametrize("make", [in_batches, in_loader])
@pytest.mark.parametrize("steps", [4, 8, 9, 16])  # 7 steps an epoch: within one, at its end, at the start of the next
def test_killed_run_goes_on_to_the_same_weights(start, digits, engine, tmp_path, make, steps):
    whole = run(start, make(digits.train), engine)
    path = tmp_path / "run.resume"
    killed(start, make(digits.train), path, steps)
    again = Engine(precision="float32", checkpoint=path)
    resumed = run(start, make(digits.train), again)
    assert again.steps == 21 and again.earlier_seconds > 0  # what the killed run did counts as well
    assert weights_digest(resumed) == weights_digest(whole)
    assert not path.exists()


def test_run_killed_twice_goes_on_to_the_same_weights(start, digits, engine, tmp_path):
    whole = run(start, in_loader(digits.train), engine)
    path = tmp_path / "run.resume"
    killed(start, in_loader(digits.train), path, 4)
    killed(start, in_loader(digits.train), path, 6)
    resumed = run(start, in_loader(digits.train), Engine(precision="float32", checkpoint=path))
    assert weights_digest(resumed) == weights_digest(whole)


@pytest.mark.parametrize(
    "other",
    [{"seed": 1}, {"lr": 0.04}, {"momentum": 0.8}, {"weight_decay": 0.1}, {"epochs": 4}, {"batch_norm": "frozen"}],
    ids=lambda other: next(iter(other)),
)
def test_resume_file_of_another_run_is_refused_and_kept(start, digits, tmp_path, other):
    path = tmp_path / "run.resume"
    killed(start, in_batches(digits.train), path, 4)
    before = path.read_bytes()
    with pytest.raises(InputError, match=r"another run .* delete it") as error:
        run(start, in_batches(digits.train), Engine(precision="float32", checkpoint=path), **other)
    assert "\n" not in str(error.value)
    assert path.read_bytes() == before


def test_resume_file_of_another_network_is_refused(start, trained, digits, tmp_path):
    path = tmp_path / "run.resume"
    killed(start, in_batches(digits.train), path, 4)
    with pytest.raises(InputError, match="another run"):
        run(trained, in_batches(digits.train), Engine(precision="float32", checkpoint=path))


@pytest.mark.parametrize("damage", [lambda whole: whole[:1000], lambda _: b"", lambda _: b"no such thing"])
def test_broken_resume_file_is_an_error_in_one_line(start, digits, tmp_path, damage):
    path = tmp_path / "run.resume"
    killed(start, in_batches(digits.train), path, 4)
    path.write_bytes(damage(path.read_bytes()))
    with pytest.raises(InputError, match="not a whole resume file") as error:
        run(start, in_batches(digits.train), Engine(precision="float32", checkpoint=path))
    assert "\n" not in str(error.value)


def test_no_resume_file_is_written_before_its_time(start, digits, tmp_path):
    path = tmp_path / "run.resume"
    engine = Engine(precision="float32", checkpoint=path, checkpoint_seconds=1000, observer=KilledAfter(5))
    with pytest.raises(Killed):
        run(start, in_batches(digits.train), engine)
    assert not path.exists()


@pytest.mark.parametrize("make", [in_batches, in_loader])
def test_same_seed_same_weights_and_other_seed_others(start, digits, engine, make):
    first, again, other = (
        weights_digest(run(start, make(digits.train, seed), engine, seed=seed)) for seed in (0, 0, 1)
    )
    assert first == again
    assert first != other


def test_loss_falls(start, digits, engine):
    x, y = next(iter(Batches(digits.train, 400)))
    fitted = run(start, in_batches(digits.train), engine, loss=cross_entropy, epochs=8, lr=0.1)
    assert cross_entropy(fitted, x, y) < 0.5 * cross_entropy(start.eval(), x, y)


def test_fit_equals_the_plain_loop(start, digits, engine):
    fitted = run(start, in_batches(digits.train), engine, loss=cross_entropy, schedule="constant", weight_decay=0.01)
    plain, batches = deepcopy(start).train(), in_batches(digits.train)
    optimiser = torch.optim.SGD(plain.parameters(), lr=0.05, momentum=0.9, weight_decay=0.01)
    for epoch in range(3):
        batches.set_epoch(epoch)
        for x, y in batches:
            optimiser.zero_grad()
            F.cross_entropy(plain(x), y).backward()
            optimiser.step()
    for (name, ours), theirs in zip(fitted.state_dict().items(), plain.state_dict().values(), strict=True):
        torch.testing.assert_close(ours, theirs, rtol=1e-3, atol=1e-4, msg=name)


def test_fit_changes_the_model_in_place_and_leaves_it_in_evaluation_mode(model, digits, engine):
    before = weights_digest(model)
    assert engine.fit(model, in_batches(digits.train), cross_entropy, epochs=1, lr=0.1) is model
    assert weights_digest(model) != before
    assert not any(module.training for module in model.modules())


def test_parameters_that_need_no_gradient_stay(model, digits, engine):
    model.network.head.requires_grad_(False)
    before = deepcopy(model.state_dict())
    run_in_place = engine.fit(model, in_batches(digits.train), cross_entropy, epochs=1, lr=0.1, weight_decay=0.1)
    assert torch.equal(run_in_place.network.head.weight, before["network.head.weight"])
    assert not torch.equal(run_in_place.network.blocks[0].conv.weight, before["network.blocks.0.conv.weight"])


def test_budget_of_steps_stops_there(start, digits):
    engine, weights = Engine(precision="float32", budget=Budget(steps=5)), Weights()
    engine.observer = weights
    run(start, in_batches(digits.train), engine)
    assert engine.steps == 5
    assert len(weights.seen) == 1 + 5


def test_budget_of_seconds_stops_after_the_step_that_spends_it(start, digits, tmp_path):
    path = tmp_path / "run.resume"
    engine = Engine(precision="float32", budget=Budget(seconds=1e-9), checkpoint=path, checkpoint_seconds=0)
    run(start, in_batches(digits.train), engine)
    assert engine.steps == 1
    assert not path.exists()


def test_steps_of_several_fits_add_up(start, digits, engine):
    run(start, in_batches(digits.train), engine, epochs=1)
    run(start, in_batches(digits.train), engine, epochs=2)
    assert engine.steps == 21


def test_observer_sees_every_step_with_the_labels_of_its_batch(start, digits, engine):
    seen = []

    class Labels(KilledAfter):
        def after_step(self, step, model, y):
            seen.append((step, y.tolist()))

    engine.observer = Labels(None)
    run(start, in_batches(digits.train), engine, epochs=1)
    assert seen == [(step, y.tolist()) for step, (_, y) in enumerate(in_batches(digits.train), 1)]


def statistics(model):
    return torch.cat([tensor.flatten() for name, tensor in model.state_dict().items() if "running" in name])


def test_frozen_batch_norm_keeps_the_running_statistics_and_trains_its_weights(trained, digits, engine):
    frozen = run(trained, in_batches(digits.train), engine, epochs=1, batch_norm="frozen")
    assert torch.equal(statistics(frozen), statistics(trained))
    assert not torch.equal(frozen.network.blocks[0].bn.weight, trained.network.blocks[0].bn.weight)


def test_batch_norm_in_training_changes_the_running_statistics(trained, digits, engine):
    changed = run(trained, in_batches(digits.train), engine, epochs=1, lr=0.0, batch_norm="train")
    assert not torch.equal(statistics(changed), statistics(trained))


def test_loss_that_is_not_finite_stops_in_one_line_before_the_step(model, digits, engine):
    before = [parameter.clone() for parameter in model.parameters()]
    with pytest.raises(Diverged, match=r"not finite in training, step 1 of 7 \(lr 0.1\)") as error:
        engine.fit(model, in_batches(digits.train), diverging, epochs=1, lr=0.1)
    assert "\n" not in str(error.value)
    assert all(torch.equal(now, then) for now, then in zip(model.parameters(), before, strict=True))
    assert not model.training


def test_method_that_diverges_leaves_the_original_alone(model, split, engine):
    before = weights_digest(model)
    with pytest.raises(Diverged):
        unlearn(model, split, METHODS["negative-gradient"](epochs=50, lr=1e30), engine, Settings())
    assert weights_digest(model) == before


@given(done=st.floats(0, 1), peak=st.floats(1e-8, 10))
def test_one_cycle_stays_between_zero_and_its_peak(done, peak):
    assert 0 <= learning_rate("one-cycle", peak, done) <= peak


def test_one_cycle_starts_and_ends_at_zero_and_peaks_once():
    rates = [learning_rate("one-cycle", 0.4, done / 120) for done in range(121)]
    assert rates[0] == rates[-1] == 0
    assert max(rates) == pytest.approx(0.4)
    top = rates.index(max(rates))
    assert top == 10
    assert rates[:top] == sorted(rates[:top])
    assert rates[top:] == sorted(rates[top:], reverse=True)


def test_constant_schedule_is_constant():
    assert {learning_rate("constant", 0.4, done / 10) for done in range(11)} == {0.4}


def test_one_cycle_takes_no_first_step(start, digits):
    weights = Weights()
    run(start, in_batches(digits.train), Engine(precision="float32", observer=weights), epochs=1)
    before, first, second = (states["network.head.weight"] for states in weights.seen[:3])
    assert torch.equal(before, first)
    assert not torch.equal(first, second)


@pytest.mark.parametrize(
    "make",
    [
        lambda fit: Engine(precision="float31"),
        lambda fit: fit(schedule="one-cicle"),
        lambda fit: fit(batch_norm="frosen"),
    ],
)
def test_unknown_option_names_the_nearest(start, digits, engine, make):
    with pytest.raises(InputError, match=r"did you mean (float32|one-cycle|frozen)"):
        make(lambda **options: run(start, in_batches(digits.train), engine, **options))


@pytest.mark.skipif(torch.cuda.is_available(), reason="there is a GPU")
def test_device_that_is_not_there_is_an_error():
    with pytest.raises(InputError, match="device 'cuda:0' is not there"):
        Engine(device="cuda:0")


def test_automatic_precision_is_one_of_the_table():
    assert Engine().precision in ("float32", "bfloat16")


def test_bfloat16_trains_close_to_float32_and_keeps_32_bit_weights(start, digits, engine):
    x, y = next(iter(Batches(digits.train, 400)))
    recipe = {"loss": cross_entropy, "epochs": 8, "lr": 0.1}
    wide = run(start, in_batches(digits.train), engine, **recipe)
    narrow = run(start, in_batches(digits.train), Engine(precision="bfloat16"), **recipe)
    assert {parameter.dtype for parameter in narrow.parameters()} == {torch.float32}
    assert weights_digest(narrow) != weights_digest(wide)
    assert cross_entropy(narrow, x, y).item() == pytest.approx(cross_entropy(wide, x, y).item(), abs=0.05)
    assert (narrow(x).argmax(1) == wide(x).argmax(1)).float().mean() > 0.95


def test_half_precision_weights_are_trained_as_they_are(model, digits, engine):
    half = model.half()
    before = weights_digest(half)
    engine.fit(half, in_batches(digits.train), cross_entropy, epochs=1, lr=0.01)
    assert {parameter.dtype for parameter in half.parameters()} == {torch.float16}
    assert weights_digest(half) != before


def test_compiled_network_is_the_one_the_loss_sees(start, digits, monkeypatch):
    compiled = []

    class Compiled(nn.Module):
        def __init__(self, inner):
            super().__init__()
            self.inner = inner
            compiled.append(self)

        def forward(self, x):
            return self.inner(x)

    def loss(model, x, y):
        assert model is compiled[0]
        return cross_entropy(model, x, y)

    monkeypatch.setattr(torch, "compile", Compiled)
    ours = run(start, in_batches(digits.train), Engine(precision="float32", compile=True), loss=loss)
    assert len(compiled) == 1
    assert list(ours.state_dict()) == list(start.state_dict())
    plain = run(start, in_batches(digits.train), Engine(precision="float32"), loss=cross_entropy)
    assert weights_digest(ours) == weights_digest(plain)


def test_compiled_run_gives_the_weights_of_a_plain_one(start, digits, engine, monkeypatch):
    # Traced as for any backend; the default one would spend half a minute in a C++ compiler.
    monkeypatch.setattr(torch, "compile", partial(torch.compile, backend="eager"))
    plain = run(start, in_batches(digits.train), engine, loss=cross_entropy)
    ours = run(start, in_batches(digits.train), Engine(precision="float32", compile=True), loss=cross_entropy)
    assert list(ours.state_dict()) == list(start.state_dict())
    torch.testing.assert_close(ours.state_dict(), plain.state_dict(), rtol=1e-4, atol=1e-5)


def test_networks_with_group_norm_can_be_trained() -> None:
    network = nn.Sequential(
        nn.Conv2d(3, 16, 3), nn.GroupNorm(4, 16), nn.ReLU(), nn.AdaptiveAvgPool2d(1), nn.Flatten(), nn.Linear(16, 4)
    )
    pairs = [(torch.rand(8, 3, 8, 8), torch.arange(8) % 4) for _ in range(3)]
    before = weights_digest(network)
    Engine().fit(network, pairs, lambda model, x, y: torch.nn.functional.cross_entropy(model(x), y), epochs=1, lr=0.1)
    assert weights_digest(network) != before


def both(model, forget, retain):
    """A loss over two sets, with random numbers."""
    parts = [sign * noisy(model, x, y) for sign, (x, y) in ((-0.1, forget), (1.0, retain)) if len(x)]
    return sum(parts)


def paired(split, make):
    return Paired(make(split.forget), make(split.retain))


def in_turns(split, make):
    return Turns(make(split.forget), make(split.retain), epochs=2)


@pytest.mark.parametrize("join", [paired, in_turns])
@pytest.mark.parametrize("make", [in_batches, in_loader])
@pytest.mark.parametrize("steps", [4, 7, 12])
def test_killed_run_over_two_sets_goes_on_to_the_same_weights(start, split, engine, tmp_path, join, make, steps):
    whole = run(start, join(split, make), engine, loss=both, optimiser="adamw", lr=0.003)
    path = tmp_path / "run.resume"
    killed(start, join(split, make), path, steps, loss=both, optimiser="adamw", lr=0.003)
    again = Engine(precision="float32", checkpoint=path)
    resumed = run(start, join(split, make), again, loss=both, optimiser="adamw", lr=0.003)
    assert weights_digest(resumed) == weights_digest(whole)


def test_fit_over_pairs_by_adamw_equals_the_plain_loop(start, split, engine):
    options = {"optimiser": "adamw", "weight_decay": 0.01, "schedule": "constant", "lr": 0.003}

    def loss(model, forget, retain):
        return F.cross_entropy(model(retain[0]), retain[1]) - 0.1 * F.cross_entropy(model(forget[0]), forget[1])

    fitted = run(start, paired(split, in_batches), engine, loss=loss, **options)
    plain = deepcopy(start).train()
    optimiser = torch.optim.AdamW(plain.parameters(), lr=0.003, weight_decay=0.01)
    torch.manual_seed(0)
    pairs = paired(split, in_batches)
    for epoch in range(3):
        pairs.set_epoch(epoch)
        for forget, retain in pairs:
            optimiser.zero_grad()
            loss(plain, forget, retain).backward()
            optimiser.step()
    torch.testing.assert_close(fitted.state_dict(), plain.state_dict(), rtol=1e-3, atol=1e-3)


def test_cosine_falls_from_its_peak_to_zero():
    rates = [learning_rate("cosine", 0.4, done / 10) for done in range(11)]
    assert rates[0] == 0.4 and rates[5] == pytest.approx(0.2) and rates[-1] == pytest.approx(0)
    assert rates == sorted(rates, reverse=True)


def test_fit_ends_when_it_is_told_to(start, digits, engine):
    run(start, in_batches(digits.train), engine, until=lambda: engine.steps == 4)
    assert engine.steps == 4


def test_a_fit_that_cannot_be_resumed_leaves_the_file_alone(start, digits, tmp_path):
    path = tmp_path / "run.resume"
    killed(start, in_batches(digits.train), path, 4)
    before = path.read_bytes()
    run(start, in_batches(digits.train), Engine(precision="float32", checkpoint=path), resumable=False, epochs=1)
    assert path.read_bytes() == before


def test_one_model_does_not_change_how_the_next_is_laid_out(model, engine):
    before = vars(engine).copy()
    engine.place(nn.Sequential(nn.Conv2d(1, 4, 3), nn.GroupNorm(2, 4)))
    assert vars(engine) == before
    assert layout_for(model, "cpu") is torch.channels_last
    placed = engine.place(model).network.blocks[1].conv.weight
    assert placed.is_contiguous(memory_format=torch.channels_last)
