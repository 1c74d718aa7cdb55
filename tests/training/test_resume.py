"""A finished run stays until its result is on the disk: a kill in between loses nothing."""

import zipfile
from copy import deepcopy

import pytest
import torch

from unclass.data import Batches
from unclass.errors import InputError
from unclass.methods.method import cross_entropy
from unclass.models import build, weights_digest
from unclass.storage import Output, write_text
from unclass.training.engine import Budget, Engine


def fit(card, images, path, **options):
    """Train a network for two epochs, and return it with the steps that were done now."""
    torch.manual_seed(0)
    network, seen = build(card), []

    class Counter:
        def start(self, model):
            pass

        def after_step(self, step, model, y):
            seen.append(step)

    engine = Engine(precision="float32", checkpoint=path, observer=Counter(), **options)
    batches = Batches(images, 64, shuffle=True)
    return engine.fit(network, batches, cross_entropy, epochs=2, lr=0.05), len(seen)


@pytest.mark.parametrize("options", [{}, {"budget": Budget(steps=3)}])
def test_run_that_was_killed_before_its_result_was_written_is_not_done_again(trained, digits, tmp_path, options):
    out = tmp_path / "model"
    with pytest.raises(KeyboardInterrupt), Output(out, resume=tmp_path / "model.resume"):
        first, steps = fit(trained.card, digits.train, tmp_path / "model.resume", **options)
        raise KeyboardInterrupt
    assert steps > 0 and (tmp_path / "model.resume").exists() and not out.exists()
    with Output(out, resume=tmp_path / "model.resume"):
        again, steps = fit(trained.card, digits.train, tmp_path / "model.resume", **options)
        write_text(out, "model")
    assert steps == 0
    assert weights_digest(again) == weights_digest(first)
    assert [path.name for path in tmp_path.iterdir()] == ["model"]


def test_file_goes_with_the_run_where_nobody_else_sees_to_it(trained, digits, tmp_path):
    fit(trained.card, digits.train, tmp_path / "resume")
    assert not list(tmp_path.iterdir())


@pytest.mark.parametrize(
    "damage",
    [
        lambda state: state.pop("run"),
        lambda state: state.update(position=3),
        lambda state: state["position"].update(epoch="x"),
        lambda state: state["position"].update(step=-1),
        lambda state: state["position"].update(seconds=float("nan")),
        lambda state: state["position"].update(later=1),
        lambda state: state.update(rng=torch.zeros(3)),
        lambda state: state.update(model={}),
        lambda state: state.update(optimiser=[]),
    ],
)
def test_damaged_file_is_one_line(trained, digits, tmp_path, damage):
    path = tmp_path / "resume"
    with pytest.raises(KeyboardInterrupt), Output(tmp_path / "model", resume=path):
        fit(trained.card, digits.train, path)
        raise KeyboardInterrupt
    state = torch.load(path, weights_only=True)
    damage(state := deepcopy(state))
    torch.save(state, path)
    with pytest.raises(InputError, match="resume") as error:
        fit(trained.card, digits.train, path)
    assert "\n" not in str(error.value) and "start anew" in str(error.value)


def test_file_that_unpacks_to_more_than_it_holds_is_refused_before_it_does(trained, digits, tmp_path):
    with zipfile.ZipFile(tmp_path / "model.resume", "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("archive/data.pkl", b"\x80\x02}q\x00.")
        archive.writestr("archive/data/0", bytes(100 << 20))
    with pytest.raises(InputError, match="would unpack to 105 MB from"):
        fit(trained.card, digits.train, tmp_path / "model.resume")
