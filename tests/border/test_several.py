"""One thing or several, as people give them, is a list; what is neither is named."""

from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch

from unclass.border.several import paths_of, seeds_of, some_seeds_of
from unclass.errors import InputError


@pytest.mark.parametrize(
    ("given", "seeds"),
    [(3, [3]), ([0, 1], [0, 1]), (range(2), [0, 1]), (np.int64(4), [4]), (np.array([1, 2]), [1, 2]), ((), [])],
)
def test_seeds_in_every_form(given: Any, seeds: list[int]) -> None:
    assert seeds_of("seeds", given) == seeds


@pytest.mark.parametrize("wrong", [None, -1, [-1], 2**40, 0.5, "0", b"0", {0: 1}, [True], [None], torch.tensor(0.5)])
def test_what_is_no_seed_is_one_line(wrong: Any) -> None:
    with pytest.raises(InputError, match=r"^(`seeds` holds|seed -?\d+ is not allowed)"):
        seeds_of("seeds", wrong)


def test_no_seed_at_all_is_an_error_where_one_is_needed() -> None:
    with pytest.raises(InputError, match="there are no `seeds`"):
        some_seeds_of("seeds", [])


def test_paths_in_every_form() -> None:
    assert paths_of("originals", None) == [] and paths_of("originals", "a") == [Path("a")]
    assert paths_of("originals", ["a", Path("b")]) == [Path("a"), Path("b")]
    for wrong in (5, [None], {"a": "b"}, b"a"):
        with pytest.raises(InputError, match="`originals` holds"):
            paths_of("originals", wrong)
