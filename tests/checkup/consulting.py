"""A check-up in one call, and pictures under other names."""

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import torch
from torch import nn

import unclass
from unclass.checkup import Finding
from unclass.data import ImageData
from unclass.training.engine import Engine


def by_check(findings: Sequence[Finding]) -> dict[str, Finding]:
    assert len({finding.check for finding in findings}) == len(findings)
    return {finding.check: finding for finding in findings}


def consult(model: nn.Module, data: Any, classes: Sequence[str] = ("3",), **more: Any) -> dict[str, Finding]:
    return by_check(unclass.doctor(model, data, list(classes), engine=Engine(precision="float32"), **more))


def relabelled(data: ImageData, order: Sequence[int]) -> ImageData:
    """The same pictures, with every class called by another's name."""
    parts = {name: replace(part, labels=torch.tensor(order)[part.labels]) for name, part in
             (("train", data.train), ("test", data.test))}  # fmt: skip
    return replace(data, **parts)
