"""Figures with an image's place or the image itself: decision space and attention."""

from typing import Protocol

import numpy as np
from matplotlib.figure import Figure
from matplotlib.lines import Line2D

from unclass.audits.evidence import Attention, DecisionSpace
from unclass.audits.result import Subject
from unclass.report.figures.panels import ORANGE, class_colours, grid, needed, picture, present

MOST_NAMES = 20


class Pictured(Protocol):
    """What these figures are drawn from: an audit has it, and so has what `unclass paper` looks at."""

    @property
    def subject(self) -> Subject: ...
    @property
    def decision_space(self) -> DecisionSpace | None: ...
    @property
    def attention(self) -> Attention | None: ...


def decision_space(audit: Pictured) -> Figure:
    """t-SNE of the features, a panel for each model: remaining classes solid, forget images hollow (Fig. 5)."""
    space = needed(audit.decision_space, "decision_space")
    points = needed(space.points, "decision_space", "points")
    labels, forget = np.asarray(space.labels), np.asarray(space.forget, dtype=bool)
    classes, forgotten = audit.subject.classes, audit.subject.forget_classes
    colours = class_colours(classes, forgotten)
    solid = [colours[label] for label in labels[~forget]]
    figure, panels = grid(len(present(points)), (3.2, 3.1), sharex=True, sharey=True)
    for panel, role in zip(panels, present(points), strict=True):
        x, y = np.asarray(points[role], dtype=float).T
        panel.scatter(x[~forget], y[~forget], s=8, c=solid, linewidths=0, alpha=0.8)
        panel.scatter(x[forget], y[forget], s=14, facecolors="none", edgecolors=ORANGE, linewidths=0.9)
        panel.set_title(role, fontsize=9)
        panel.set(xticks=[], yticks=[])
    kept = [index for index in np.unique(labels[~forget]) if index < len(classes)][:MOST_NAMES]
    handles = [Line2D([], [], color=colours[index], marker="o", linestyle="", markersize=4) for index in kept]
    ring = Line2D([], [], color=ORANGE, marker="o", linestyle="", markersize=5, markerfacecolor="none")
    names = [", ".join(plain(name) for name in forgotten), *(plain(classes[index]) for index in kept)]
    figure.legend([ring, *handles], names, loc="outside lower center", ncols=5, frameon=False, fontsize=8)
    return figure


def attention_grid(audit: Pictured) -> Figure:
    """Grad-CAM of forget images: a row for each image, a column for each model (the paper's attention maps)."""
    images = needed(needed(audit.attention, "attention").images, "attention", "images")
    shown = present(images[0].maps)
    figure = Figure(figsize=(1.25 * (len(shown) + 1), 1.35 * len(images) + 0.3), layout="constrained")
    panels = figure.subplots(len(images), len(shown) + 1, squeeze=False)
    for line, (row, image) in enumerate(zip(panels, images, strict=True)):
        for panel, title in zip(row, ["image", *shown], strict=True):
            panel.set(xticks=[], yticks=[])
            panel.spines[:].set_visible(False)
            uri = image.picture if title == "image" else image.maps.get(title)
            if uri:
                panel.imshow(picture(uri), interpolation="nearest")
            if line == 0:
                panel.set_title(title, fontsize=9)
            if title != "image":
                panel.set_xlabel(plain(image.predicted.get(title, ""), 16), fontsize=7)
    return figure


def plain(name: object, longest: int = 24) -> str:
    """Return a class name that matplotlib shows as it is: no mathematics, no line breaks, not too long."""
    text = " ".join(str(name).split()).replace("$", r"\$")
    return text if len(text) <= longest else text[: longest - 1] + "…"
