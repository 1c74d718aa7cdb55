"""What benches of the suite share."""

from collections.abc import Iterator

import pytest

from unclass.benchmark import measure


@pytest.fixture(scope="module", autouse=True)
def quick_peak() -> Iterator[None]:
    """Measuring the peak takes seconds: here it is a round number."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(measure, "gemm_peak", lambda precision, device: 1e11)
        yield
