"""How fast each method is on this machine, and how its time grows."""

from unclass.benchmark.measure import RETRAIN_IMAGES, measure_methods
from unclass.benchmark.result import Bench
from unclass.benchmark.run import bench

__all__ = ["RETRAIN_IMAGES", "Bench", "bench", "measure_methods"]
