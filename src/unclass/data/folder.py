"""Your own images: `train/CLASS/*` and `test/CLASS/*`, or one `CLASS/*` tree of which a share is held out."""

from pathlib import Path
from typing import Any

import torch

from unclass.data.files import load_images, relative_names
from unclass.data.images import ImageData
from unclass.data.options import DataOptions
from unclass.errors import InputError

SUFFIXES = (".jpg", ".jpeg", ".png", ".webp", ".bmp")
TEST_FOLDERS = ("test", "val", "valid")
LAYOUT = f"lay it out as CLASS/*, or train/CLASS/* and test/CLASS/* ({', '.join(SUFFIXES)})"

Tree = dict[str, list[Path]]


def load_folder(path: Path, options: DataOptions) -> ImageData:
    """Read a folder of images whose subfolders are the classes."""
    if not path.is_dir():
        raise InputError(f"{path} is not a folder; give one with a subfolder of images for each class")
    name = f"folder:{path.resolve().name}"
    if not any(entry.is_dir() for entry in path.glob("train/*")):
        train, test = holdout(_classes(path), options.test_share, options.split_seed)
        return load_trees(name, train, test, options, split_details(options))
    test_folder = next((path / folder for folder in TEST_FOLDERS if (path / folder).is_dir()), None)
    if test_folder is None:
        raise InputError(
            f"{path} has train/ but none of {', '.join(TEST_FOLDERS)}; add one, or give {path / 'train'} to split it"
        )
    train, test = _classes(path / "train"), images_by_class(test_folder)
    if extra := sorted(set(test) - set(train)):
        raise InputError(f"{test_folder} has classes that train/ lacks: {', '.join(extra)}; add them or remove them")
    return load_trees(name, train, test, options, {})


def images_by_class(folder: Path) -> Tree:
    """Return the image files in each subfolder, all sorted by name; hidden files and folders are left out."""
    classes = sorted(entry for entry in folder.iterdir() if entry.is_dir() and not entry.name.startswith("."))
    return {entry.name: sorted(file for file in entry.iterdir() if _is_image(file)) for entry in classes}


def holdout(tree: Tree, share: float, seed: int) -> tuple[Tree, Tree]:
    """Split each class into training and test images, at least one of each where there are two.

    Every class is drawn with the same seed, so that adding a class leaves the split of the others as it was.
    """
    train: Tree = {}
    test: Tree = {}
    for name, paths in tree.items():
        order = torch.randperm(len(paths), generator=torch.Generator().manual_seed(seed)).tolist()
        count = min(max(1, round(share * len(paths))), len(paths) - 1)
        test[name] = [paths[place] for place in sorted(order[:count])]
        train[name] = [paths[place] for place in sorted(order[count:])]
    return train, test


def load_trees(name: str, train: Tree, test: Tree, options: DataOptions, details: dict[str, Any]) -> ImageData:
    """Read both trees as one set of files, so that they share a size, and part them again."""
    classes = tuple(sorted(train))
    files = [(file, label) for tree in (train, test) for label, key in enumerate(classes) for file in tree.get(key, [])]
    paths, labels = [file for file, _ in files], [label for _, label in files]
    images = load_images(paths, labels, options)
    in_train = images.places < sum(len(found) for found in train.values())
    if len(images) < len(paths):
        names, kept = relative_names(paths), set(images.places.tolist())
        details = details | {"skipped": [name for place, name in enumerate(names) if place not in kept]}
    return ImageData(name, classes, images.select(in_train), images.select(~in_train), details)


def split_details(options: DataOptions) -> dict[str, Any]:
    """Return what a record keeps of a split that we drew."""
    return {"split_seed": options.split_seed, "test_share": options.test_share}


def _is_image(file: Path) -> bool:
    return file.suffix.lower() in SUFFIXES and not file.name.startswith(".")


def _classes(folder: Path) -> Tree:
    """Return the training images of each class; there must be two classes, and none may be empty."""
    tree = images_by_class(folder)
    if not any(tree.values()):
        raise InputError(f"{folder} has no images in class folders; {LAYOUT}")
    if empty := [name for name, files in tree.items() if not files]:
        raise InputError(f"{folder} has class folders without images: {', '.join(empty)}; fill them or remove them")
    if len(tree) < 2:
        raise InputError(f"{folder} has one class only, {next(iter(tree))!r}; add another; {LAYOUT}")
    return tree
