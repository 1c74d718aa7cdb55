"""Your own images: `train/CLASS/*` and `test/CLASS/*`, or one `CLASS/*` tree of which a share is held out."""

import os
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import torch

from unclass.data.assemble import assemble
from unclass.data.images import ImageData
from unclass.data.names import Names
from unclass.data.options import DataOptions
from unclass.data.pictures import Files
from unclass.errors import InputError
from unclass.storage import real_path

SUFFIXES = (".jpg", ".jpeg", ".png", ".webp", ".bmp")
TEST_FOLDERS = ("test", "val", "valid")
LAYOUT = f"lay it out as CLASS/*, or train/CLASS/* and test/CLASS/* ({', '.join(SUFFIXES)})"

Tree = dict[str, Names]


def load_folder(path: Path, options: DataOptions) -> ImageData:
    """Read a folder of images whose subfolders are the classes."""
    if not path.is_dir():
        raise InputError(f"{path} is not a folder; give one with a subfolder of images for each class")
    name = f"folder:{real_path(path).name}"
    if options.only:
        return _load_forgotten(name, path, options)
    if not any(entry.is_dir() for entry in path.glob("train/*")):
        return load_trees(name, path, {"": _classes(path)}, options, {})
    test = next((folder for folder in TEST_FOLDERS if (path / folder).is_dir()), None)
    if test is None:
        raise InputError(
            f"{path} has train/ but none of {', '.join(TEST_FOLDERS)}; add one, or give {path / 'train'} to split it"
        )
    trees = {"train": _classes(path / "train", path), test: images_by_class(path / test, path)}
    if extra := sorted(set(trees[test]) - set(trees["train"])):
        raise InputError(f"{path / test} has classes that train/ lacks: {', '.join(extra)}; add them or remove them")
    return load_trees(name, path, trees, options, {})


def images_by_class(folder: Path, root: Path | None = None) -> Tree:
    """Return the image files in each subfolder, all sorted by name; hidden files and folders are left out.

    Links may lead to other places within `root`, by default the folder itself.
    """
    root = real_path(root or folder)
    with os.scandir(folder) as entries:
        folders = [entry for entry in entries if _is_folder(entry) and not entry.name.startswith(".")]
    classes = sorted(_inside(entry, root).name for entry in folders)
    return {name: Names(image_names(folder / name, root)) for name in classes}


def image_names(folder: Path, root: Path | None = None) -> list[str]:
    """Return the names of the image files in a folder, sorted."""
    root = real_path(root or folder)
    with os.scandir(folder) as entries:
        return sorted(_inside(entry, root).name for entry in entries if _is_image(entry.name))


def _inside(entry: os.DirEntry[str], root: Path) -> os.DirEntry[str]:
    """Return an entry of a folder that can be read; raise if it is a link out of `root`, a pipe or a device."""
    if entry.is_symlink() and not real_path(entry.path).is_relative_to(root):
        raise InputError(f"{entry.path} is a link out of {root}; put the images there, or give the folder it leads to")
    plain = Path(entry.path).is_file() if entry.is_symlink() else entry.is_file()
    if not plain and not _is_folder(entry):
        raise InputError(f"{entry.path} is a pipe, a device or a link to nothing; remove it")
    return entry


def _is_folder(entry: os.DirEntry[str]) -> bool:
    """Whether an entry is a folder or leads to one; a link to itself is none, where the entry would raise."""
    return Path(entry.path).is_dir() if entry.is_symlink() else entry.is_dir()


def load_trees(
    name: str, root: Path, trees: Mapping[str, Tree], options: DataOptions, details: dict[str, Any]
) -> ImageData:
    """Read trees as one set of files, so that they share a size; the second, if there is one, is the test."""
    classes = tuple(sorted(next(iter(trees.values()))))

    def names() -> Iterator[str]:
        for folder, tree in trees.items():
            for key in classes:
                prefix = f"{folder}/{key}/" if folder else f"{key}/"
                yield from (prefix + file for file in tree.get(key, ()))

    counts = torch.tensor([[len(tree.get(key, ())) for key in classes] for tree in trees.values()])
    labels = torch.arange(len(classes)).repeat(len(trees)).repeat_interleave(counts.flatten())
    test = torch.arange(len(trees)).repeat_interleave(counts.sum(1)).bool() if len(trees) > 1 else None
    return assemble(name, Files(Names(names(), root)), classes, labels, test, options, details)


def _are_numbers(classes: tuple[str, ...]) -> bool:
    return classes == tuple(map(str, range(len(classes))))


def _is_image(name: str) -> bool:
    return name.lower().endswith(SUFFIXES) and not name.startswith(".")


def _classes(folder: Path, root: Path | None = None) -> Tree:
    """Return the training images of each class; there must be two classes, and none may be empty."""
    tree = images_by_class(folder, root)
    if not any(map(len, tree.values())):
        raise InputError(f"{folder} has no images in class folders; {LAYOUT}")
    if empty := [name for name, files in tree.items() if not len(files)]:
        raise InputError(f"{folder} has class folders without images: {', '.join(empty)}; fill them or remove them")
    if len(tree) < 2:
        raise InputError(f"{folder} has one class only, {next(iter(tree))!r}; add another; {LAYOUT}")
    return tree


def _load_forgotten(name: str, path: Path, options: DataOptions) -> ImageData:
    """Read the images to forget: in folders of their classes, or all of one class in the folder itself.

    Where classes are numbers, one folder of another name holds those of the class that is asked for.
    """
    tree = {key: files for key, files in images_by_class(path).items() if len(files)}
    if len(tree) == len(options.only) == 1 and not tree.keys() & {*options.classes} and _are_numbers(options.classes):
        path = path / next(iter(tree))
        tree = {}
    if tree:
        return load_trees(name, path, {"": tree}, options, {})
    files = Names(image_names(path), path)
    if not len(files):
        raise InputError(f"{path} has no images to forget; lay them out as CLASS/*, or put those of one class there")
    if len(options.only) > 1:
        raise InputError(f"{path} does not say which of {', '.join(options.only)} its images are; use CLASS/*")
    labels = torch.zeros(len(files), dtype=torch.long)
    return assemble(name, Files(files), options.only, labels, None, options, {})
