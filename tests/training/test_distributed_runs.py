"""Forgetting, evaluating and auditing: two processes against one. They run this file too: see `main`."""

import sys
from pathlib import Path

import pytest
import torch
import torch.distributed as dist

from unclass.audits.run import audit
from unclass.data import DataOptions, Split, load_data
from unclass.methods import METHODS
from unclass.methods.amnesiac.recorder import UpdateRecorder
from unclass.methods.configure import configure
from unclass.metrics import Evaluation
from unclass.predictions import predict_sets
from unclass.running import Settings, new_model, train_model, unlearn
from unclass.training import distributed
from unclass.training.engine import Engine

SETTINGS = Settings(batch_size=31)  # an odd number: the two shares differ
OPTIONS = {
    "retrain": {"epochs": 1, "lr": 0.1},
    "finetune": {"epochs": 1, "lr": 0.05},
    "random-labels": {"epochs": 2, "lr": 0.02},
    "negative-gradient": {"epochs": 1, "lr": 0.01},
    "fisher": {"images": 40},
    "amnesiac": {"repair_epochs": 1},
    "boundary-shrink": {"search": "fgsm", "epsilon": 0.1, "epochs": 2, "lr": 0.02},
    "boundary-expanding": {"epochs": 2, "lr": 0.02},
    "boundary-shift": {},
    "delete": {"epochs": 2, "lr": 1e-3},
    "spotter": {"epochs": 2, "lr": 1e-3, "dispersion": 1.0},
    "pour": {"epochs": 2, "lr": 1e-3},
    "jit": {"lr": 0.01, "samples": 2},
    "mu-mis": {"epochs": 2, "lr": 1e-5},
    "negative-gradient-plus": {"epochs": 1, "lr": 0.01},
    "scrub": {"epochs": 2, "ascent_epochs": 1, "lr": 0.01, "optimiser": "sgd"},
    "salun": {"epochs": 1, "lr": 0.01},
    "l1-sparse": {"epochs": 2, "lr": 0.02},
    "masked-small-gradients": {"epochs": 1, "lr": 0.02},
    "convolution-transpose": {"epochs": 1, "lr": 0.02},
    "ssd": {"alpha": 2.0},
    "subspace-projection": {},
    "bad-teacher": {"epochs": 1, "lr": 0.02},
    "unsir": {"noises": 16, "noise_steps": 5, "impair_lr": 0.01},
    "logit-mask": {},
    "head-only": {},
}


def everything(folder):
    """Train, forget by every method, evaluate, audit; return what comes out, in 64 bits where there are weights."""
    torch.set_num_threads(1)
    data = load_data("digits", DataOptions(per_class=20))
    split, engine = Split.of(data, ["3"]), Engine(precision="float32")
    torch.manual_seed(0)
    fresh = new_model(data, "small-cnn", {"width": 4}).double()
    recipe = configure("retrain", options={"epochs": 4, "lr": 0.1})
    recording = Engine(precision="float32", observer=UpdateRecorder(folder, split.classes))
    original, _ = train_model(fresh, data, recipe, recording, Settings(batch_size=16))
    if dist.is_initialized():
        dist.barrier()  # the first process writes the updates that all of them read
    weights, accuracies = {}, {}
    for name, options in OPTIONS.items():
        where = {"updates": str(folder)} if name == "amnesiac" else {}
        unlearned = unlearn(original, split, configure(name, options=options | where), engine, SETTINGS).model
        weights[name] = unlearned.state_dict()
        accuracies[name] = Evaluation.of(predict_sets(unlearned, split, engine)).as_dict()
    found = audit(unlearned, original, data, ["3"], engine=engine)
    checks = {one["name"]: one["values"] for one in found["checks"]}
    return {"weights": weights, "scores": accuracies, "verdict": found["verdict"], "checks": checks}


def main(folder):
    """Write what this process of several gets."""
    distributed.start()
    torch.save(everything(Path(folder) / "updates"), Path(folder) / f"{distributed.world()[0]}.pt")
    dist.destroy_process_group()


@pytest.fixture(scope="module")
def one(tmp_path_factory):
    return everything(tmp_path_factory.mktemp("one") / "updates")


def test_every_method_is_compared():
    assert set(OPTIONS) == set(METHODS)


@pytest.mark.parametrize("name", METHODS)
def test_two_processes_forget_as_one_does(one, two, name):
    torch.testing.assert_close(two[0]["weights"][name], one["weights"][name], rtol=1e-6, atol=1e-7)
    torch.testing.assert_close(two[1]["weights"][name], two[0]["weights"][name], rtol=0, atol=0)


def test_two_processes_evaluate_as_one_does(one, two):
    for results in two:
        for name, expected in one["scores"].items():
            assert results["scores"][name] == pytest.approx(expected, abs=1e-6), name


def test_two_processes_audit_as_one_does(one, two):
    for results in two:
        assert results["verdict"] == one["verdict"]
        assert results["checks"].keys() == one["checks"].keys()
        for name, expected in one["checks"].items():
            known = {role: value for role, value in expected.items() if value is not None}
            found = {role: value for role, value in results["checks"][name].items() if value is not None}
            assert found == pytest.approx(known, abs=1e-3), name


if __name__ == "__main__":
    main(sys.argv[1])
