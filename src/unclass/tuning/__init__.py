"""Choosing a method's settings on training images that were held back, never on test images."""

from unclass.tuning.result import Tried, Tuning
from unclass.tuning.run import SHARE, tune

__all__ = ["SHARE", "Tried", "Tuning", "tune"]
