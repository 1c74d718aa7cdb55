"""How often the audit of listed images is wrong: lists drawn at random, models trained without them and with them.

python tools/list_rates.py --lists 10

On the digits as they are, where hardly an image is remembered, and with a share of all labels, of training and test
images alike, drawn anew, which a network can only learn by heart.
"""

import argparse
from collections import Counter
from dataclasses import replace

import torch

from unclass.data import ImageData, ImageSet, Split, load_data
from unclass.erasing.listed_images import audit_images
from unclass.forgotten import ListedImages, what_is_told
from unclass.methods.retrain import Retrain
from unclass.models import Classifier
from unclass.running import Settings, new_model, train_model
from unclass.training.engine import Engine

WRONG = (0.0, 0.3)  # share of the labels that are drawn anew
SIZES = (10, 50, 200)
ENGINE = Engine(precision="float32")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--lists", type=int, default=10, help="of each size (10)")
    parser.add_argument("--epochs", type=int, default=20, help="of training (20)")
    parser.add_argument("--seed", type=int, default=100, help="of the first list (100)")
    given = parser.parse_args()
    for wrong in WRONG:
        data = with_wrong_labels(load_data("digits"), wrong)
        original = trained(data, given.epochs, 0)
        found: dict[tuple[int, str], Counter[str]] = {}
        for number in range(given.seed, given.seed + given.lists):
            lists = drawn_lists(len(data.train), number)
            left = replace(data, train=Split.of(data, [], rows=torch.cat(lists)).retain)
            without = trained(left, given.epochs, number + 1)  # it saw the lists of no size
            for rows in lists:
                split = Split.of(data, [], rows=rows)
                for name, model in (("without", without), ("with", original)):
                    found.setdefault((len(rows), name), Counter()).update(judged(original, model, data, split))
        for (size, name), counts in sorted(found.items()):
            print(f"labels drawn anew {wrong:.0%}, lists of {size}, trained {name} them:", dict(counts), flush=True)


def drawn_lists(count: int, seed: int) -> list[torch.Tensor]:
    """Return rows for a list of each size, none in two of them."""
    rows = torch.randperm(count, generator=torch.Generator().manual_seed(seed))
    return list(rows[: sum(SIZES)].split(SIZES))


def with_wrong_labels(data: ImageData, share: float) -> ImageData:
    """Return data with a share of all labels drawn anew."""
    draw = torch.Generator().manual_seed(0)

    def drawn(images: ImageSet) -> ImageSet:
        again = torch.rand(len(images), generator=draw) < share
        labels = torch.randint(len(data.classes), (len(images),), generator=draw)
        return replace(images, labels=torch.where(again, labels, images.labels))

    return replace(data, train=drawn(data.train), test=drawn(data.test))


def trained(data: ImageData, epochs: int, seed: int) -> Classifier:
    torch.manual_seed(seed)
    recipe = Retrain(epochs=epochs, lr=0.1)
    return train_model(new_model(data, "small-cnn", {}), data, recipe, ENGINE, Settings(seed=seed))[0]


def judged(original: Classifier, model: Classifier, data: ImageData, split: Split) -> list[str]:
    """Return what the audit says of a model as the unlearned one, and what `forget` would say after such a run."""
    audit = audit_images({"original": original, "unlearned": model}, data, split, ENGINE)
    seen = what_is_told(original, model, split, ENGINE, "")
    attack = audit.check("population-attack").statuses["unlearned"]
    return [f"audit {audit.verdict.status.split()[0]}", f"attack {attack}", f"forget says {in_a_word(seen)}"]


def in_a_word(seen: ListedImages | None) -> str:
    if seen is None:
        return "nothing"
    return "still known" if seen.still_known else "forgot" if seen.are_gone else "open"


if __name__ == "__main__":
    main()
