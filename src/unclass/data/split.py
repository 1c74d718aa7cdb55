"""The paper's four sets D_r, D_f, D_rt, D_ft, and the part of them that a method may see."""

from collections.abc import Collection, Sequence
from dataclasses import dataclass, replace

import torch
from torch import Tensor

from unclass.border.labels import expand_labels
from unclass.data.batches import BatchSource, sampled
from unclass.data.fingerprints import fingerprints
from unclass.data.images import ImageData, ImageSet
from unclass.errors import InputError


@dataclass(frozen=True)
class Earlier:
    """What a model had forgotten before: in none of the four sets, and only looked at to see that it stays gone.

    `images` are the training images of the classes; single images are known by their fingerprints, and `listed` are
    those of them that the data still holds.
    """

    classes: tuple[int, ...]
    fingerprints: frozenset[str]
    images: ImageSet
    listed: ImageSet


@dataclass(frozen=True)
class Split:
    """D_r, D_f (training) and D_rt, D_ft (test) for the forgotten classes.

    Sets that the data does not hold are empty: D_r where only the images to forget are there, D_rt and D_ft where
    there are no test images. `classes` are those of D_f, all of whose training images are in it if it is `whole`.
    What the model had forgotten before is in none of them.
    """

    classes: tuple[int, ...]
    retain: ImageSet
    forget: ImageSet
    retain_test: ImageSet
    forget_test: ImageSet
    earlier: Earlier | None = None

    @classmethod
    def of(
        cls,
        data: ImageData,
        labels: Sequence[str | int],
        *,
        forget_only: bool = False,
        rows: Tensor | None = None,
    ) -> "Split":
        """Split by class. `rows` says which training images go if not all of these classes do."""
        classes = tuple(sorted({data.index(label) for label in expand_labels(labels, data.classes)}))
        if rows is not None:
            classes = _classes_of(data, classes, rows)
        if not classes:
            raise InputError(f"no class to forget was given; choose from: {', '.join(data.classes)}")
        if rows is None and len(classes) > len(data.classes) - 2:
            raise InputError(
                f"forgetting {len(classes)} of {len(data.classes)} classes leaves fewer than two; forget fewer"
            )
        go = torch.isin(data.train.labels, torch.tensor(classes))
        if rows is not None:
            go = torch.zeros_like(go).index_fill(0, rows, True)
        split = cls(
            classes,
            retain=data.train.select(~go),
            forget=data.train.select(go),
            retain_test=data.test.of_classes(classes, inverse=True),
            forget_test=data.test.of_classes(classes),
        )
        return _checked(split, data, forget_only)

    @property
    def whole(self) -> bool:
        """Whether all training images of the classes go, and not some of them."""
        return not torch.isin(self.retain.labels, torch.tensor(self.classes)).any()

    @property
    def gone(self) -> tuple[int, ...]:
        """The classes that are to be gone: those that go as a whole now, and those that went before."""
        return (*(self.classes if self.whole else ()), *(self.earlier.classes if self.earlier else ()))

    @property
    def test(self) -> ImageSet:
        """D_rt and D_ft together."""
        both = (self.retain_test, self.forget_test)
        labels, places = torch.cat([one.labels for one in both]), torch.cat([one.places for one in both])
        return replace(self.retain_test, labels=labels, places=places)

    def without(self, classes: Collection[int], images: Collection[str] = ()) -> "Split":
        """Return the split for a model that had forgotten these classes, or images by fingerprint, before.

        Nothing of them is in D_r or D_rt: no method trains on it, and no accuracy on what stays counts it.
        """
        # Of a class that went before, single images may be listed now: the others stay gone all the same.
        before, known = tuple(sorted(set(classes) - set(self.classes if self.whole else ()))), frozenset(images)
        same = self.earlier is not None and (self.earlier.classes, self.earlier.fingerprints) == (before, known)
        if same or not (before or known):
            return self
        leaves = torch.isin(self.retain.labels, torch.tensor(before, dtype=torch.long))
        listed = torch.zeros_like(leaves)
        if known:
            listed = torch.tensor([one in known for one in fingerprints(self.retain)], dtype=torch.bool) & ~leaves
        retain = self.retain.select(~(leaves | listed))
        if len(self.retain) and len(retain.labels.unique()) < 2:
            raise InputError("what goes now and what was forgotten before leave fewer than two classes; forget fewer")
        earlier = Earlier(before, known, self.retain.select(leaves), self.retain.select(listed))
        return replace(
            self, retain=retain, retain_test=self.retain_test.of_classes(before, inverse=True), earlier=earlier
        )

    def sets(self) -> dict[str, ImageSet]:
        """Return the sets that hold images."""
        sets = {
            "retain": self.retain,
            "forget": self.forget,
            "retain_test": self.retain_test,
            "forget_test": self.forget_test,
        }
        return {name: images for name, images in sets.items() if len(images)}


def _checked(split: Split, data: ImageData, forget_only: bool) -> Split:
    """Return the split; raise if a class to forget has no images, or what stays is missing or there by mistake."""
    names = ", ".join(data.classes[index] for index in split.classes)
    pairs = ((split.forget, split.retain, "training"), (split.forget_test, split.retain_test, "test"))
    for forget, retain, kind in pairs:
        if forget_only and len(retain):
            others = ", ".join(data.classes[index] for index in retain.labels.unique()[:5].tolist())
            raise InputError(f"{data.name} has images besides {names} ({others}); leave out `forget_only`")
        if not len(forget) + len(retain) and not (forget_only and kind == "training"):
            continue
        for index in split.classes:
            if not (forget.labels == index).any():
                raise InputError(f"class {data.classes[index]!r} has no {kind} images in {data.name}; add some")
        some = kind == "test" and not split.whole  # single images of every class: none of them goes
        if not len(retain) and not forget_only and not some:
            raise InputError(f"{data.name} has no images besides {names}; add images of the other classes")
    return split


def _classes_of(data: ImageData, classes: tuple[int, ...], rows: Tensor) -> tuple[int, ...]:
    """Return the classes of the listed images, all of which must be among `classes` if any are named."""
    found = tuple(data.train.labels[rows].unique().tolist())
    if classes and (others := sorted(set(found) - set(classes))):
        names = ", ".join(data.classes[index] for index in others)
        raise InputError(f"the list has images of {names}, not in `classes`; name them or leave `classes` out")
    return found


@dataclass(frozen=True)
class TrainingData:
    """All that a method may see: batches of D_f and D_r, and which classes go.

    `classes` are those of D_f and those that the model had forgotten before, `earlier` says which these are.
    """

    forget: BatchSource
    retain: BatchSource
    classes: tuple[int, ...]
    earlier: tuple[int, ...] = ()

    def sample(self, most: int) -> BatchSource:
        """Return batches of at most so many images of D_r, as many of each class as can be; 0 means all of D_r."""
        return sampled(self.retain, most)
