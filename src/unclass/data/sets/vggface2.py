"""VGGFace2 (Cao et al. 2018): faces of some of its people, one class each.

The published training and test folders hold different people, so each person's training images are split here.
"""

import re
from dataclasses import replace
from pathlib import Path

import torch

from unclass.data.formats.folder import Tree, images_by_class, load_trees
from unclass.data.images import ImageData
from unclass.data.options import DataOptions
from unclass.errors import InputError

SIZE = 224
PERSON = re.compile(r"n\d{6}")


def load_vggface2(options: DataOptions) -> ImageData:
    """Read the images of `people` people, drawn by `split_seed` among those with at least `min_images`."""
    folder = find_folder(options.folder)
    chosen = choose_people(folder, options)
    details = {"people": list(chosen), "min_images": options.min_images}
    options = replace(options, shape=options.shape or (3, SIZE, SIZE))
    return load_trees("vggface2", folder, {"": chosen}, options, details)


def find_folder(root: Path | None) -> Path:
    """Return the folder that holds one folder for each person: `root`/train, or `root` itself."""
    if root is None:
        raise InputError(
            "vggface2 cannot be downloaded here; give the folder that holds train/n000001/*.jpg with `root`"
        )
    for folder in (root / "train", root):
        if folder.is_dir() and any(PERSON.fullmatch(entry.name) for entry in folder.iterdir()):
            return folder
    raise InputError(f"{root} holds no people; give the folder that holds train/n000001/*.jpg with `root`")


def choose_people(folder: Path, options: DataOptions) -> Tree:
    """Return the images of the people drawn, by name."""
    everyone = images_by_class(folder)
    eligible = [name for name, files in everyone.items() if PERSON.fullmatch(name) and len(files) >= options.min_images]
    if len(eligible) < options.people:
        raise InputError(
            f"{options.people} people were asked for, but {folder} has {len(eligible)} with at least "
            f"{options.min_images} images; lower `people` or `min_images`"
        )
    order = torch.randperm(len(eligible), generator=torch.Generator().manual_seed(options.split_seed))
    return {name: everyone[name] for name in sorted(eligible[place] for place in order[: options.people].tolist())}
