"""What two processes under torchrun do, and one for comparison. They run this file: see `main`."""

import os
import sys
import time
from pathlib import Path

import torch
import torch.distributed as dist
from torch import nn

from unclass.audits.run import audit
from unclass.data import Batches, DataOptions, Split, load_data
from unclass.errors import Diverged
from unclass.methods.amnesiac.recorder import UpdateRecorder
from unclass.methods.configure import configure
from unclass.methods.method import cross_entropy
from unclass.metrics import Evaluation
from unclass.predictions import predict_sets
from unclass.running import Settings, new_model, train_model, unlearn
from unclass.training import distributed
from unclass.training.engine import Budget, Engine

SHAPES = {"2d": (7, 5, 4, 3), "1d": (9, 5)}  # odd numbers of images: the two shares differ
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


class Late:
    """An observer that starts this process's clock late."""

    def __init__(self, seconds):
        self.seconds = seconds

    def start(self, model):
        time.sleep(self.seconds)

    def after_step(self, step, model, y):
        pass


def fit(dtype=torch.float32, precision="float32", **options):
    """Train the small CNN on batches of 63 images and a last one of 22."""
    data = load_data("digits", DataOptions(per_class=40))
    torch.manual_seed(0)
    model = new_model(data, "small-cnn", {"width": 8}).to(dtype)
    engine = Engine(precision=precision, **options)
    batches = Batches(data.train, 63, shuffle=True)
    engine.fit(model, batches, cross_entropy, epochs=2, lr=0.05, weight_decay=1e-3, schedule="one-cycle")
    return {"steps": engine.steps, "weights": model.state_dict()}


def normalise(kind):
    """Walk forwards and backwards through a batch norm; return what comes out of this process's images."""
    torch.manual_seed(0)
    x, towards = (3 + torch.randn(SHAPES[kind], dtype=torch.double) for _ in range(2))
    layer = (nn.BatchNorm2d if kind == "2d" else nn.BatchNorm1d)(5).double()
    nn.init.normal_(layer.weight)
    nn.init.normal_(layer.bias)
    x, towards = distributed.share(x, towards)
    x.requires_grad_(True)
    with distributed.joint_batch_norm(layer):
        y = layer(x)
    (y * towards).sum().backward()
    distributed.sum_gradients(layer.parameters())
    gradients = {name: parameter.grad for name, parameter in layer.named_parameters()}
    return {"y": y.detach(), "x.grad": x.grad, "gradients": gradients, "statistics": dict(layer.named_buffers())}


def diverge():
    """Train on a loss that is not finite in the second process alone; return what this one says."""
    data = load_data("digits", DataOptions(per_class=40))
    factor = torch.inf if os.environ.get("RANK") == "1" else 1.0
    try:
        model = new_model(data, "small-cnn", {"width": 8})
        loss = lambda model, x, y: factor * cross_entropy(model, x, y)  # noqa: E731
        Engine(precision="float32").fit(model, Batches(data.train, 63), loss, epochs=1, lr=0.1)
    except Diverged as error:
        return str(error)
    return "went on"


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
    torch.set_num_threads(1)
    distributed.start()
    rank, size = distributed.world()
    results = {
        "size": size,
        "first": distributed.is_first(),
        "float32": fit(),
        "float64": fit(torch.double),
        "bfloat16": fit(precision="bfloat16"),
        "seconds": fit(budget=Budget(seconds=0.5), observer=Late(rank))["steps"],
        "2d": normalise("2d"),
        "1d": normalise("1d"),
        "diverged": diverge(),
        "everything": everything(Path(folder) / "updates"),
    }
    torch.save(results, Path(folder) / f"{rank}.pt")
    dist.destroy_process_group()


if __name__ == "__main__":
    main(sys.argv[1])
