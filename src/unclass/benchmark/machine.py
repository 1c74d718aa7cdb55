"""What this machine can do (matrix products a second), and what a piece of work takes: operations and memory."""

import ctypes
import gc
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

import torch

from unclass.training.precision import PRECISIONS

GIGA = 1e9
GEMM_SIZES = (1024, 2048, 4096)
_STATUS, _CLEAR = Path("/proc/self/status"), Path("/proc/self/clear_refs")
_RESET_HIGH_WATER_MARK = "5"


@dataclass
class Memory:
    """Bytes of main memory that the process held before a piece of work, and at most during it.

    Where the system cannot start the high-water mark anew (`is_own` is false), the peak is that of the whole process.
    """

    before: int
    peak: int = 0
    is_own: bool = True

    @property
    def increase(self) -> int:
        return max(0, self.peak - self.before)


def gemm_peak(precision: str, device: str = "cpu", sizes: tuple[int, ...] = GEMM_SIZES, seconds: float = 0.7) -> float:
    """Return the most FLOP/s (two for each multiply-add) at which square matrices are multiplied here."""
    return max(_gemm(size, PRECISIONS[precision], device, seconds) for size in sizes)


def _gemm(size: int, dtype: torch.dtype, device: str, seconds: float) -> float:
    matrix = torch.rand(size, size, device=device).to(dtype)
    fastest, end = float("inf"), time.perf_counter() + seconds
    while True:
        began = time.perf_counter()
        matrix @ matrix
        wait(device)
        now = time.perf_counter()
        fastest = min(fastest, now - began)
        if now >= end:
            return 2 * size**3 / fastest


def wait(device: str) -> None:
    """Wait until a device has finished the work it was given."""
    if device.startswith("cuda"):
        torch.cuda.synchronize()


@contextmanager
def peak_memory() -> Iterator[Memory]:
    """Watch the process's memory; the peak is known after the block."""
    gc.collect()
    _give_back_freed()
    own = _reset()
    memory = Memory(_status("VmRSS"), is_own=own)
    yield memory
    memory.peak = _status("VmHWM")


def _give_back_freed() -> None:
    """Hand freed memory back to the system, so that it does not count as held before."""
    trim = getattr(ctypes.CDLL(None), "malloc_trim", None) if sys.platform == "linux" else None
    if trim is not None:
        trim(0)


def _reset() -> bool:
    try:
        _CLEAR.write_text(_RESET_HIGH_WATER_MARK, encoding="ascii")
    except OSError:
        return False
    return True


def _status(name: str) -> int:
    """Return bytes from the process's status, or where there is none the most it has held since its start."""
    try:
        lines = _STATUS.read_text(encoding="utf-8").splitlines()
    except OSError:
        import resource  # not on Windows

        most = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
        return most if sys.platform == "darwin" else 1024 * most
    return next(1024 * int(line.split()[1]) for line in lines if line.startswith(f"{name}:"))
