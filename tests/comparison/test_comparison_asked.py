"""What is asked of a comparison in Python, one or several of everything, is made normal or refused in one line."""

from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch

from unclass.comparison.run import make_plan
from unclass.data import DataOptions, ImageData
from unclass.errors import InputError


def asked(data: ImageData, folder: Path, **more: Any) -> dict[str, Any]:
    return {"data": data, "classes": 3, "methods": "logit-mask", "out": folder, **more}


@pytest.mark.parametrize("name", ["seeds", "unlearn_seeds", "originals", "retrained"])
@pytest.mark.parametrize("wrong", [3.5, True, int, [None], {"a": 1.5}.values(), np.ones(2), torch.tensor(1.5)])
def test_what_is_no_seed_and_no_checkpoint_is_said_in_one_line(
    name: str, wrong: Any, digits: ImageData, tmp_path: Path
) -> None:
    with pytest.raises(InputError, match=rf"`{name}` holds .*; give "):
        make_plan(asked(digits, tmp_path, **{name: wrong}), DataOptions())


@pytest.mark.parametrize("seeds", [[0, 1], (0, 1), range(2), np.arange(2), iter([0, 1])])
def test_seeds_in_every_form(seeds: Any, digits: ImageData, tmp_path: Path) -> None:
    assert make_plan(asked(digits, tmp_path, seeds=seeds), DataOptions()).seeds == [0, 1]
    assert make_plan(asked(digits, tmp_path, seeds=np.int64(7)), DataOptions()).seeds == [7]


@pytest.mark.parametrize("one", [str, Path])
def test_one_original_is_a_list_of_one(one: Any, digits: ImageData, tmp_path: Path) -> None:
    path = tmp_path / "a.safetensors"
    assert make_plan(asked(digits, tmp_path, originals=one(path)), DataOptions()).originals == [path]
