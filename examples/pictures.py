"""Pictures to try things with: coloured shapes for the examples, and the embedded digits as a folder of pictures.

python examples/pictures.py photos      # photos/train/three/*.png, photos/test/three/*.png, …
"""

import sys
from pathlib import Path

import numpy as np
import torch
from PIL import Image, ImageDraw

import unclass

COLOURS = {"blue": (40, 60, 220), "green": (30, 170, 60), "red": (220, 40, 40), "yellow": (220, 200, 40)}
DIGITS = ("zero", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine")


def make_folder(folder: Path, count: int, size: int = 32) -> Path:
    """Write `count` training pictures of each class as train/CLASS/*, and half as many as test/CLASS/*."""
    random = np.random.default_rng(0)
    for part, many in (("train", count), ("test", count // 2)):
        for name, colour in COLOURS.items():
            (folder / part / name).mkdir(parents=True, exist_ok=True)
            for number in range(many):
                picture = Image.fromarray(random.integers(0, 120, (size, size, 3), dtype=np.uint8))
                left, top = random.integers(0, size // 2, 2).tolist()
                ImageDraw.Draw(picture).ellipse((left, top, left + size // 2, top + size // 2), colour)
                picture.save(folder / part / name / f"{number}.png")
    return folder


def write_digits(folder: Path) -> Path:
    """Write the 1,797 digits that come with scikit-learn as train/CLASS/* and test/CLASS/*."""
    data = unclass.load_data("digits")
    for part, images in (("train", data.train), ("test", data.test)):
        for row, label in enumerate(images.labels.tolist()):
            (folder / part / DIGITS[label]).mkdir(parents=True, exist_ok=True)
            pixels = images.read(torch.tensor([row]))[0, 0]
            Image.fromarray(pixels.numpy()).save(folder / part / DIGITS[label] / f"{row:04}.png")
    return folder


if __name__ == "__main__":
    print(f"written: {write_digits(Path(sys.argv[1] if len(sys.argv) > 1 else 'photos'))}")
