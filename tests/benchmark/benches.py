"""Benches written by hand."""

from dataclasses import fields

from unclass.benchmark.entrants import AUTHORS, SHIFT, retrain_name
from unclass.benchmark.result import Bench, ClassCurve, Curve, Growth, Point, RetainCurve, Row, Stem, Subject


def row(method: str, seconds: float) -> Row:
    numbers = {one.name: 1 for one in fields(Row)} | {"spread": (seconds, seconds), "note": "", "peak_memory_gb": 1.5}
    return Row(**(numbers | {"method": method, "seconds": seconds}))  # type: ignore[arg-type]


def points(*methods: str) -> tuple[Point, ...]:
    return tuple(Point(size, method, 1.0, (0.9, 1.2)) for method in methods for size in (10, 100))


def growth(ratio: float = 1.0, noise: float = 0.0) -> Growth:
    flat = Curve(points(SHIFT), 0.0)
    classes = ClassCurve(points(SHIFT, "another"), 51.2, {SHIFT: 0.1})
    return Growth(flat, RetainCurve(points(SHIFT), 0.0, ratio, noise), classes, flat)


def cifar(shift: float, grown: Growth | None = None) -> Bench:
    rows = tuple(row(*one) for one in {SHIFT: shift, AUTHORS: 200.0, retrain_name(30): 3000.0}.items())
    stem, hardware = Stem(1.0, (1.0, 1.0), "layer", 1.0, 0.59), {"processor": "", "cores": 2, "threads": 1, "load": 0.0}
    return Bench(
        "cifar10", Subject("all-cnn", 1), ("deer",), {}, "float32", hardware, 1, 1.0, rows, {}, True, stem, grown
    )
