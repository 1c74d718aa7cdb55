"""What the machine can do and what a block takes of it."""

import sys

import pytest
import torch

from unclass.benchmark.machine import gemm_peak, peak_memory

linux = pytest.mark.skipif(sys.platform != "linux", reason="only Linux can reset the high-water mark")


@pytest.mark.parametrize("precision", ["float32", "bfloat16"])
def test_the_peak_is_positive(precision: str) -> None:
    assert gemm_peak(precision, sizes=(64, 128), seconds=0.01) > 0


@linux
def test_peak_memory_is_that_of_the_block_alone() -> None:
    with peak_memory() as large:
        torch.ones(20_000_000)
    with peak_memory() as small:
        torch.ones(1000)
    assert large.increase > 75e6
    assert small.increase < 20e6
