"""What the figures share: colours, the order of the models, and a grid of panels."""

import base64
import io
from collections.abc import Iterable, Mapping, Sequence
from typing import Any, TypedDict, TypeVar

import numpy as np
from matplotlib.figure import Figure
from PIL import Image

from unclass.errors import InputError
from unclass.report.wording import roles, tone, why_missing

# Okabe and Ito's palette, and Tol's muted one for classes: told apart by colour-blind readers too.
BLUE, ORANGE, GREEN, GREY, PURPLE = "#0072B2", "#D55E00", "#009E73", "#8C8C8C", "#AA4499"
TONES = {"original": GREY, "unlearned": BLUE, "retrained": GREEN, "other": PURPLE}
CLASSES = ("#332288", "#44AA99", "#CC6677", "#117733", "#88CCEE", "#882255", "#DDCC77", "#AA4499", "#999933")
SET_NAMES = {"retain": "D_r", "forget": "D_f", "test": "test"}


T = TypeVar("T")


class LineStyle(TypedDict):
    """How matplotlib draws a line."""

    color: str
    linestyle: str
    linewidth: float


def needed(part: T | None, *names: str) -> T:
    """Return a part of an audit, which has these names there; raise if it was not computed."""
    why = why_missing(part, names[0])
    if part is None or why is not None:
        raise InputError(f"the audit has no {' '.join(names)} ({why}); leave this figure out")
    return part


def present(values: Mapping[str, object]) -> list[str]:
    """Return the roles that have a value, in the order of reading."""
    return [role for role in roles(values) if values[role] is not None]


def style(role: str) -> LineStyle:
    """Return how a model's line is drawn: further retrained models are dashed."""
    further = role.startswith("retrained") and role != "retrained"
    return {"color": TONES[tone(role)], "linestyle": "--" if further else "-", "linewidth": 1 if further else 1.6}


def axes(height: float, width: float = 7) -> tuple[Figure, Any]:
    """Return a figure with one pair of axes."""
    figure = Figure(figsize=(width, height), layout="constrained")
    only = figure.subplots()
    only.spines[["top", "right"]].set_visible(False)
    return figure, only


def grid(
    count: int, size: tuple[float, float], columns: int = 3, sharex: bool = False, sharey: bool = False
) -> tuple[Figure, list[Any]]:
    """Return a figure with so many panels, in lines of at most `columns`."""
    columns = 2 if count == 4 else min(columns, max(1, count))
    lines = -(-max(1, count) // columns)
    figure = Figure(figsize=(size[0] * columns, size[1] * lines + 0.4), layout="constrained")
    panels = list(figure.subplots(lines, columns, squeeze=False, sharex=sharex, sharey=sharey).flat)
    for spare in panels[count:]:
        spare.remove()
    return figure, panels[:count]


def class_colours(classes: Sequence[str], forgotten: Iterable[str]) -> dict[int, str]:
    """Return a colour for each class by index: orange for forgotten ones, the palette in turn for the others."""
    going = set(forgotten)
    staying = [index for index, name in enumerate(classes) if name not in going]
    colours = {index: CLASSES[place % len(CLASSES)] for place, index in enumerate(staying)}
    return {index: colours.get(index, ORANGE) for index in range(len(classes))}


def picture(uri: str) -> np.ndarray[Any, Any]:
    """Return the pixels of an embedded PNG."""
    encoded = uri.partition(",")[2]
    return np.asarray(Image.open(io.BytesIO(base64.b64decode(encoded))).convert("RGB"))
