"""The table of methods. A new method is one file, one row here, and one test."""

from unclass.methods.amnesiac import Amnesiac
from unclass.methods.bad_teacher import BadTeacher
from unclass.methods.boundary_expanding import BoundaryExpanding
from unclass.methods.boundary_shift import BoundaryShift
from unclass.methods.boundary_shrink import BoundaryShrink
from unclass.methods.convolution_transpose import ConvolutionTranspose
from unclass.methods.delete import Delete
from unclass.methods.finetune import Finetune
from unclass.methods.fisher import Fisher
from unclass.methods.head_only import HeadOnly
from unclass.methods.jit import Jit
from unclass.methods.l1_sparse import L1Sparse
from unclass.methods.logit_mask import LogitMask
from unclass.methods.masked_small_gradients import MaskedSmallGradients
from unclass.methods.method import Counts, Method, Needs, Passes, Prepared, option, settings
from unclass.methods.mu_mis import MuMis
from unclass.methods.negative_gradient import NegativeGradient
from unclass.methods.negative_gradient_plus import NegativeGradientPlus
from unclass.methods.pour import Pour
from unclass.methods.random_labels import RandomLabels
from unclass.methods.retrain import Retrain
from unclass.methods.salun import Salun
from unclass.methods.scrub import Scrub
from unclass.methods.spotter import Spotter
from unclass.methods.ssd import Ssd
from unclass.methods.subspace_projection import SubspaceProjection
from unclass.methods.unsir import Unsir

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
    "delete": Delete,
    "spotter": Spotter,
    "pour": Pour,
    "jit": Jit,
    "mu-mis": MuMis,
    "negative-gradient-plus": NegativeGradientPlus,
    "scrub": Scrub,
    "salun": Salun,
    "l1-sparse": L1Sparse,
    "masked-small-gradients": MaskedSmallGradients,
    "convolution-transpose": ConvolutionTranspose,
    "ssd": Ssd,
    "subspace-projection": SubspaceProjection,
    "bad-teacher": BadTeacher,
    "unsir": Unsir,
    "logit-mask": LogitMask,
    "head-only": HeadOnly,
}

DEFAULT_METHOD = "boundary-shift"
REFERENCE = next(name for name, kind in METHODS.items() if kind.role == "reference")
CONTROLS = tuple(name for name, kind in METHODS.items() if kind.role == "control")
# `name` or `name@preset`, ours first.
DEMO = sorted(settings(METHODS, "demo_presets"), key=lambda spec: spec != DEFAULT_METHOD)
BENCH = sorted(settings(METHODS, "bench_presets"), key=lambda spec: spec != DEFAULT_METHOD)

__all__ = [
    "BENCH", "CONTROLS", "DEFAULT_METHOD", "DEMO", "METHODS", "REFERENCE", "Counts", "Method", "Needs", "Passes",
    "Prepared", "option",
]  # fmt: skip
