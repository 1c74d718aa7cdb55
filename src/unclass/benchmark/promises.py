"""What boundary-shift has promised for All-CNN on CIFAR-10, and whether a bench keeps it."""

from collections.abc import Mapping
from typing import Any

from unclass.benchmark.entrants import AUTHORS, LONG_EPOCHS, SHIFT, retrain_name

TIMES_AUTHORS, TIMES_RETRAIN = 20.0, 300.0
STEM_SHARE = 0.6
FLAT = 0.1
MEMORY_GB = 1.5
DATA, ARCHITECTURE = "cifar10", "all-cnn"


def bars(result: Mapping[str, Any]) -> list[dict[str, Any]]:
    """Return each promise with the value found, the limit, and whether it holds; none for other data and models."""
    if result["data"] != DATA or result["model"]["architecture"] != ARCHITECTURE:
        return []
    seconds = {row["method"]: row["seconds"] for row in result["rows"]}
    memory = max(row["peak_memory_gb"] for row in result["rows"])
    found = [
        _at_least("times faster than the authors preset", seconds[AUTHORS] / seconds[SHIFT], TIMES_AUTHORS),
        _at_least(
            f"times faster than {retrain_name(LONG_EPOCHS)}",
            seconds[retrain_name(LONG_EPOCHS)] / seconds[SHIFT],
            TIMES_RETRAIN,
        ),
        _at_most("GB of memory at the peak, over all rows", memory, MEMORY_GB),
    ]
    if result["stem"] is not None:
        found.append(_at_least("of GEMM peak in the stem pass", result["stem"]["share_of_peak"], STEM_SHARE))
    if result["growth"] is not None:
        found.append(_flat(result["growth"]["retain_images"]))
    return found


def _at_least(what: str, value: float, limit: float) -> dict[str, Any]:
    return {"what": what, "value": value, "bound": "≥", "limit": limit, "holds": value >= limit}


def _at_most(what: str, value: float, limit: float) -> dict[str, Any]:
    return {"what": what, "value": value, "bound": "≤", "limit": limit, "holds": value <= limit}


def _flat(retain: Mapping[str, Any]) -> dict[str, Any]:
    """Flat: tenfold D_r costs at most 10 % more, or no more than repeated runs of one size differ."""
    return _at_most("the time with tenfold D_r, noise included", retain["ratio"], 1 + max(FLAT, retain["noise"]))
