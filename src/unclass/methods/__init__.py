"""The table of methods. A new method is one file, one row here, and one test."""

from unclass.methods.amnesiac import Amnesiac
from unclass.methods.boundary_expanding import BoundaryExpanding
from unclass.methods.boundary_shift import BoundaryShift
from unclass.methods.boundary_shrink import BoundaryShrink
from unclass.methods.finetune import Finetune
from unclass.methods.fisher import Fisher
from unclass.methods.head_only import HeadOnly
from unclass.methods.logit_mask import LogitMask
from unclass.methods.method import Counts, Method, Needs, Passes, Prepared, option
from unclass.methods.negative_gradient import NegativeGradient
from unclass.methods.random_labels import RandomLabels
from unclass.methods.retrain import Retrain

METHODS: dict[str, type[Method]] = {
    "retrain": Retrain,
    "finetune": Finetune,
    "random-labels": RandomLabels,
    "negative-gradient": NegativeGradient,
    "fisher": Fisher,
    "amnesiac": Amnesiac,
    "boundary-shrink": BoundaryShrink,
    "boundary-expanding": BoundaryExpanding,
    "boundary-shift": BoundaryShift,
    "logit-mask": LogitMask,
    "head-only": HeadOnly,
}

REFERENCE = next(name for name, kind in METHODS.items() if kind.role == "reference")

__all__ = ["METHODS", "REFERENCE", "Counts", "Method", "Needs", "Passes", "Prepared", "option"]
