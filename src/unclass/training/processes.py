"""Which of several processes this is: what torchrun says, known before torch is imported."""

import os


def launched() -> int:
    """Return how many processes torchrun started, 1 without it."""
    return int(os.environ.get("WORLD_SIZE", "1"))


def is_first() -> bool:
    """Whether this process is the one that prints and writes."""
    return int(os.environ.get("RANK", "0")) == 0
