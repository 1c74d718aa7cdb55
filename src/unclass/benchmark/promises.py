"""What boundary-shift has promised for All-CNN on CIFAR-10, and whether a bench keeps it."""

from unclass.benchmark.entrants import AUTHORS, LONG_EPOCHS, SHIFT, retrain_name
from unclass.benchmark.result import Bench, Promise, RetainCurve

TIMES_AUTHORS, TIMES_RETRAIN = 20.0, 300.0
STEM_SHARE = 0.6
FLAT = 0.1
MEMORY_GB = 1.5
DATA, ARCHITECTURE = "cifar10", "all-cnn"


def bars(result: Bench) -> tuple[Promise, ...]:
    """Return each promise with the value found; none for other data and models."""
    if result.data != DATA or result.model.architecture != ARCHITECTURE:
        return ()
    shift, long = result.row(SHIFT).seconds, retrain_name(LONG_EPOCHS)
    memory = max(row.peak_memory_gb for row in result.rows)
    found = [
        Promise("times faster than the authors preset", result.row(AUTHORS).seconds / shift, "≥", TIMES_AUTHORS),
        Promise(f"times faster than {long}", result.row(long).seconds / shift, "≥", TIMES_RETRAIN),
        Promise("GB of memory at the peak, over all rows", memory, "≤", MEMORY_GB),
    ]
    if result.stem is not None:
        found.append(Promise("of GEMM peak in the stem pass", result.stem.share_of_peak, "≥", STEM_SHARE))
    if result.growth is not None:
        found.append(_flat(result.growth.retain_images))
    return tuple(found)


def _flat(retain: RetainCurve) -> Promise:
    """Flat: tenfold D_r costs at most 10 % more, or no more than repeated runs of one size differ."""
    return Promise("the time with tenfold D_r, noise included", retain.ratio, "≤", 1 + max(FLAT, retain.noise))
