"""How large things may be that a file or an option declares: a wrong number is an error, not a full memory."""

import math
from collections.abc import Sequence

MOST_CLASSES = 100_000
MOST_PIXELS = 8192  # of a side that is asked for
MOST_PIXELS_FOUND = 1024  # of a side that nobody asked for: a file says it
MOST_PIXELS_OF_A_PICTURE = 1 << 26
LONGEST_SIDE_OF_A_PICTURE = 1 << 16  # Pillow keeps a pointer for each row of each copy
MOST_BYTES_OF_A_PICTURE = 1 << 28
MOST_BYTES_OF_A_LABEL = 1 << 20
LONGEST_LINE_OF_A_LIST = 1 << 24  # characters
MOST_SHARDS = 100_000
MOST_IMAGES_IN_A_BATCH = 1 << 20
MOST_SEED = 2**32 - 1
MOST_WORKERS = 256
MOST_JOBS = 1024
MOST_THREADS = 1024
MOST_SHADOW_MODELS = 1024
MOST_MINUTES = 365 * 24 * 60
MOST_REPEATS = 10_000
MOST_IMAGES_IN_A_BENCH = 1 << 30


def is_too_large(shape: Sequence[int]) -> bool:
    """Whether pictures of this shape, channels, height and width, are larger than a file may ask for by itself."""
    return max(shape[1:]) > MOST_PIXELS_FOUND or math.prod(shape) > 4 * MOST_PIXELS_FOUND**2
