"""What erasing one class of many costs the others: a pretrained network, fine-tuned on folders of pictures.

python tools/many_classes.py train FOLDER --network SPEC --start WEIGHTS --out network.pt
python tools/many_classes.py erase FOLDER --network SPEC --weights network.pt --class 0,20,40 --sequence 20

SPEC is timm:NAME, torchvision:NAME, resnet-50 or many_classes:efficientnet_lite0 (PyPI's efficientnet-lite-pytorch).
FOLDER holds train/CLASS/* and test/CLASS/*.
"""

import argparse
import json
import statistics
import time
from pathlib import Path

import torch
from torch import nn

import unclass
from unclass.data import Batches, DataOptions, ImageData, Split, load_data
from unclass.methods.retrain import Retrain
from unclass.metrics import accuracy
from unclass.models import Card, Classifier
from unclass.models.classifier import build
from unclass.models.opening import open_model
from unclass.models.origins import make_network
from unclass.predictions import predict
from unclass.running import Settings, train_model, unlearn
from unclass.training.engine import Engine


def efficientnet_lite0(classes: int) -> nn.Module:
    """EfficientNet-Lite0 as PyPI has it: its forward reads the batch size first and uses it last."""
    from efficientnet_lite_pytorch import EfficientNet

    network: nn.Module = EfficientNet.from_name("efficientnet-lite0")
    network._fc = nn.Linear(network._fc.in_features, classes)  # type: ignore[arg-type]
    return network


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("what", choices=("train", "erase"))
    parser.add_argument("folder", type=Path)
    parser.add_argument("--network", required=True, help="SPEC")
    parser.add_argument("--size", type=int, default=96, help="of pictures, in pixels (96)")
    parser.add_argument("--mean", default="0.498", help="of each channel, with commas between (0.498)")
    parser.add_argument("--std", default="0.502", help="likewise (0.502)")
    parser.add_argument("--start", help="weights that all but the head starts from")
    parser.add_argument("--epochs", type=int, default=2)
    parser.add_argument("--lr", type=float, default=0.03)
    parser.add_argument("--without", type=int, action="append", default=[], help="class that is left out of training")
    parser.add_argument("--out", type=Path, help="weights to write")
    parser.add_argument("--weights", type=Path, help="weights to erase from")
    parser.add_argument("--class", dest="classes", default="", help="indices, each erased from the weights as they are")
    parser.add_argument("--sequence", type=int, default=0, help="so many classes, erased one after another")
    parser.add_argument("--first", type=int, default=0, help="index of the first of them (0)")
    parser.add_argument("--retain-sample", type=int, default=0)
    parser.add_argument("--set", action="append", default=[], help="option=number of boundary-shift")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--save", type=Path, help="a JSON file for the figures")
    given = parser.parse_args()
    data = load_data(f"folder:{given.folder}", DataOptions(size=given.size))
    if given.what == "train":
        train(given, data)
    else:
        erase(given, data)


def numbers(text: str) -> tuple[float, ...]:
    """Return numbers that were given with commas between."""
    return tuple(float(one) for one in text.split(","))


def fresh(given: argparse.Namespace, data: ImageData) -> Classifier:
    card = Card(given.network, data.classes, data.train.shape, {}, numbers(given.mean), numbers(given.std))
    if ":" not in given.network:
        return build(card)
    return Classifier(make_network(given.network, len(data.classes), data.train.shape, {}), card)


def train(given: argparse.Namespace, data: ImageData) -> None:
    """Fine-tune the network: mirrored pictures, one cycle of SGD. Prints its accuracy."""
    recipe = Retrain(given.epochs, given.lr, weight_decay=0.0, augment="mirror", start=given.start or "scratch")
    started, engine, settings = time.monotonic(), Engine(), Settings(given.seed)
    if given.without:
        outcome = unlearn(fresh(given, data), Split.of(data, given.without), recipe, engine, settings, look=False)
        model = outcome.model
    else:
        model, _ = train_model(fresh(given, data), data, recipe, engine, settings)
    torch.save({key: value.contiguous() for key, value in model.network.state_dict().items()}, given.out)  # type: ignore[union-attr]
    print(f"{given.out}: {time.monotonic() - started:.0f} s, D_rt {kept(model, data, given.without):.2f} %")


def erase(given: argparse.Namespace, data: ImageData) -> None:
    """Erase classes, each alone and then one after another. Prints what the others lost, in points."""
    options = {name: float(value) for name, _, value in (one.partition("=") for one in given.set)}
    options |= {"retain_sample": given.retain_sample} if given.retain_sample else {}
    original = open_model(
        given.network, given.weights, classes=data.classes, shape=data.train.shape, mean=numbers(given.mean),
        std=numbers(given.std),
    )  # fmt: skip
    right = hits(original, data)
    figures = []
    for k in [int(one) for one in given.classes.split(",") if one]:
        model, figure = forgotten(original, data, [k], options, given.seed)
        figures.append(figure | lost(model, data, right, [k]))
        print("alone", figures[-1], flush=True)
    if figures:
        print("mean", round(statistics.mean(one["change"] for one in figures), 2))
    gone: list[int] = []
    model = original
    for k in range(given.first, given.first + given.sequence):
        gone.append(k)
        model, figure = forgotten(model, data, [k], options, given.seed)
        if len(gone) % 5 == 0 or len(gone) in (1, given.sequence):
            figure |= lost(model, data, right, gone)
        figures.append({"after": len(gone)} | figure)
        print("sequence", figures[-1], flush=True)
    if given.save:
        given.save.write_text(json.dumps(figures, indent=1) + "\n")


def forgotten(
    model: Classifier, data: ImageData, classes: list[int], options: dict[str, float], seed: int
) -> tuple[Classifier, dict[str, float]]:
    """Return a model after `unclass.forget`, with its seconds and findings."""
    unlearned = unclass.forget(model, data, classes, seed=seed, **options)
    record = unclass.record_of(unlearned)
    return unlearned, {"class": classes[0], "seconds": round(record.cost.seconds, 1), **record.findings}  # type: ignore[return-value]


def hits(model: nn.Module, data: ImageData) -> torch.Tensor:
    """Return which test images a model takes for what they are."""
    seen = predict(model, Batches(data.test, 256), Engine())
    return seen.logits.argmax(1) == seen.labels


def kept(model: nn.Module, data: ImageData, classes: list[int]) -> float:
    """Return the accuracy on the test images of the other classes, in %."""
    stays = Split.of(data, classes).retain_test if classes else data.test
    return 100 * accuracy(predict(model, Batches(stays, 256), Engine()))


def lost(model: nn.Module, data: ImageData, right: torch.Tensor, gone: list[int]) -> dict[str, float]:
    """Return what is left of the erased classes on test images, and the change on all others in points."""
    labels = torch.as_tensor(data.test.labels)
    mine, out = hits(model, data), torch.isin(labels, torch.tensor(gone))
    return {
        "D_ft": round(100 * mine[out].float().mean().item(), 2),
        "before": round(100 * right[~out].float().mean().item(), 2),
        "change": round(100 * (mine[~out].float().mean() - right[~out].float().mean()).item(), 2),
    }


if __name__ == "__main__":
    main()
