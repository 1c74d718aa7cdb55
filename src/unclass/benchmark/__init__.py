"""How fast each method is on this machine, and how its time grows."""

from unclass.benchmark.measure import RETRAIN_IMAGES, bench

__all__ = ["RETRAIN_IMAGES", "bench"]
