"""What the guard of Boundary Shift predicts: how far outputs of bystanders moved, beside what D_rt really lost.

python tools/guard.py --save guard.json

Networks of different kinds are trained on the digits at 32 pixels; one class is forgotten at several paces with the
guard switched off.
"""

import argparse
import json
from copy import deepcopy
from dataclasses import replace
from pathlib import Path

import torch
from scipy.stats import spearmanr

from unclass.data import Batches, DataOptions, ImageData, ImageSet, Split, TrainingData, Withheld, load_data
from unclass.methods.boundary_shift import BoundaryShift
from unclass.methods.boundary_shift.head_rows import forget_rows
from unclass.methods.boundary_shift.tail import Weights
from unclass.methods.retrain import Retrain
from unclass.metrics import accuracy
from unclass.models import Classifier
from unclass.predictions import predict
from unclass.running import Settings, new_model, train_model
from unclass.training.engine import Engine

NETWORKS = (
    "small-cnn", "timm:resnet10t", "timm:mobilenetv3_small_050", "timm:regnetx_002", "timm:lcnet_050",
    "timm:convnext_atto", "torchvision:shufflenet_v2_x0_5", "timm:efficientnet_lite0",
)  # fmt: skip
PACES = (1e-2, 3e-2, 6e-2, 0.1, 0.2)
LABEL = 3


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--networks", default=",".join(NETWORKS), help="with commas between")
    parser.add_argument("--epochs", type=int, default=10, help="of training (10)")
    parser.add_argument("--save", type=Path, help="a JSON file for the points")
    given = parser.parse_args()
    data = enlarged(load_data("digits", DataOptions(per_class=60)))
    points = []
    for name in given.networks.split(","):
        torch.manual_seed(0)
        recipe = Retrain(epochs=given.epochs, lr=0.05)
        model, _ = train_model(new_model(data, name, {}), data, recipe, Engine(), Settings(batch_size=32))
        for pace in PACES:
            points.append({"network": name, "pace": pace, **lost(model, data, pace)})
            figures = (f"{key} {value:.3f}" for key, value in points[-1].items() if key != "network")
            print(name, *figures, flush=True)
    order = spearmanr([one["moved"] for one in points], [one["lost"] for one in points])
    print("rank correlation of moved and lost:", round(float(order.statistic), 3))
    if given.save:
        given.save.write_text(json.dumps(points, indent=1) + "\n")


def enlarged(data: ImageData) -> ImageData:
    """Return pictures of four times their width and height, in three equal colours."""

    def larger(images: ImageSet) -> ImageSet:
        source = (
            images.source[torch.arange(len(images.source))]
            .repeat_interleave(4, 2)
            .repeat_interleave(4, 3)
            .expand(-1, 3, -1, -1)
        )
        return replace(images, source=source.contiguous())

    return replace(data, train=larger(data.train), test=larger(data.test))


def lost(model: Classifier, data: ImageData, pace: float) -> dict[str, float]:
    """Return D_rt before, how far bystanders moved in one round, and the points that D_rt lost."""
    split, engine, unlearned = Split.of(data, [LABEL]), Engine(), deepcopy(model).eval()
    before = accuracy(predict(model, Batches(split.retain_test), engine))
    method = BoundaryShift(pace=pace)
    forget_only = TrainingData(Batches(split.forget, 32, shuffle=True), Withheld("D_r"), split.classes)
    tail = method.look(unlearned, forget_only, engine)
    torch.manual_seed(0)
    weights = Weights(method.evenness, method.likeness, method.keeping, method.dispersion)
    trained = tail.train(engine, pace=pace, steps=method.steps, rounds=1, weights=weights, limit=float("inf"))
    with engine.arithmetic():
        forget_rows(tail.head, split.classes, tail.part, list(tail.batches(0)))
    after = accuracy(predict(unlearned, Batches(split.retain_test), engine))
    return {"before": 100 * before, "moved": trained.harm, "lost": 100 * (before - after)}


if __name__ == "__main__":
    main()
