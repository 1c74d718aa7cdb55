"""Random numbers are the caller's: what a verb draws, transforms of Datasets included, uses none of them up."""

import random
import sys
from collections.abc import Iterator
from contextlib import contextmanager


@contextmanager
def generators_as_they_were() -> Iterator[None]:
    """Give Python's, NumPy's and torch's generators back as they are now; a library that is not imported has none.

    As a decorator, `@generators_as_they_were()`, it does so at every call of a function.
    """
    torch, numpy = (sys.modules.get(name) for name in ("torch", "numpy"))
    plain = random.getstate()
    tensors = None if torch is None else torch.get_rng_state()
    arrays = None if numpy is None else numpy.random.get_state()
    try:
        yield
    finally:
        random.setstate(plain)
        if torch is not None:
            torch.set_rng_state(tensors)
        if numpy is not None:
            numpy.random.set_state(arrays)
