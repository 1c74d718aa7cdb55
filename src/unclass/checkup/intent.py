"""What is to be run, and whether the data holds what it needs."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from torch import nn

from unclass.arguments import DEFAULT_METHOD, Listed
from unclass.checkup.finding import Finding, doubtful, good, refused
from unclass.data import ImageData, Split, listed_rows
from unclass.errors import InputError
from unclass.forgotten import left_by
from unclass.methods import Method, Prepared
from unclass.methods.configure import configure, name_of, own_method
from unclass.models import Classifier
from unclass.running import check_needs

FEW = 10


@dataclass(frozen=True)
class Intent:
    """What is to be run: the arguments of `forget`."""

    classes: Sequence[str | int] = ()
    method: str | Method = DEFAULT_METHOD
    preset: str | None = None
    options: Mapping[str, Any] = field(default_factory=dict)
    head: str = ""
    forget_only: bool = False
    forget_list: Listed | None = None
    batch_size: int = 64
    skip_bad: bool = False

    def __post_init__(self) -> None:
        if isinstance(self.method, str):
            configure(self.method, preset=self.preset, options=self.options)
        else:
            own_method(self.method)


def find_split(model: nn.Module, data: ImageData, intent: Intent, method: Method) -> tuple[Split | None, list[Finding]]:
    """Return what is to be forgotten and what stays, and whether that is what the method needs."""
    if not intent.classes and intent.forget_list is None:
        says = "none was given, so what the method needs and takes was not checked"
        return None, [doubtful("class to forget", says, "give `classes` NAME")]
    try:
        rows = None if intent.forget_list is None else listed_rows(intent.forget_list, data)
        split = left_by(model, Split.of(data, intent.classes, forget_only=intent.forget_only, rows=rows))
    except InputError as error:
        return None, [refused("class to forget", error)]
    findings = [_to_forget(model, data, split)]
    try:
        check_needs(method, split)
        if isinstance(method, Prepared):
            method.check_prepared(model, split.classes)
    except InputError as error:
        return None, [*findings, refused("method", error)]
    return split, [*findings, good("method", f"{name_of(method)} reads {method.needs.words()}, which is there")]


def _to_forget(model: nn.Module, data: ImageData, split: Split) -> Finding:
    names = ", ".join(data.classes[index] for index in split.classes)
    says = f"{names}: {len(split.forget):,} training and {len(split.forget_test):,} test images"
    gone = model.card.forgotten if isinstance(model, Classifier) else ()
    if again := [data.classes[index] for index in split.classes if data.classes[index] in gone]:
        return doubtful("class to forget", f"{says}; the model has forgotten {', '.join(again)} already")
    if len(split.forget) < FEW:
        return doubtful("class to forget", f"{says}, which is few", "add images if there are more")
    return good("class to forget", says)
