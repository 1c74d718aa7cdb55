"""Pictures to try the examples with: coloured shapes on noise, one colour for each class."""

from pathlib import Path

import numpy as np
from PIL import Image, ImageDraw

COLOURS = {"blue": (40, 60, 220), "green": (30, 170, 60), "red": (220, 40, 40), "yellow": (220, 200, 40)}


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
