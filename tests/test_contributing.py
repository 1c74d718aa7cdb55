"""CONTRIBUTING.md walks through four additions. Its code is run here as it stands there."""

import doctest
import re
import sys
from pathlib import Path
from types import ModuleType, SimpleNamespace
from typing import Any

import pytest
import torch
from PIL import Image

from fenced import blocks
from unclass.data import DataOptions
from unclass.errors import InputError
from unclass.predictions import Predictions
from unclass.testing import check_method

GUIDE = (Path(__file__).parents[1] / "CONTRIBUTING.md").read_text(encoding="utf-8")


def walked(heading: str) -> ModuleType:
    """The code blocks below a heading, as one module."""
    section = GUIDE.split(f"## {heading}\n")[1].split("\n## ")[0]
    module = ModuleType(re.sub(r"\W", "_", heading).lower())
    sys.modules[module.__name__] = module  # dataclasses look for the module that they are made in
    for code in blocks(section, "python"):
        exec(compile(code, "CONTRIBUTING.md", "exec"), module.__dict__)
    return module


def test_the_method_keeps_the_contract() -> None:
    check_method(walked("Adding a method").FlatAnswers, epochs=6, lr=0.05)


def test_the_metric_has_the_number_that_its_example_says() -> None:
    assert doctest.testmod(walked("Adding a metric")) == (0, 1)


@pytest.mark.parametrize("unlearned, status", [(0.5, "passed"), (4.0, "failed")])
def test_the_check_passes_what_is_near_retraining_and_fails_what_is_not(unlearned: float, status: str) -> None:
    def observed(height: float) -> Any:
        logits = torch.tensor([[height, 0.0], [height, 0.0]])
        return SimpleNamespace(predictions={"forget": Predictions(logits, torch.tensor([0, 0]))})

    roles = {"original": observed(9.0), "unlearned": observed(unlearned), "retrained": observed(0.6)}
    measure = walked("Adding a check to the audit").confidence_measure(SimpleNamespace(observations=roles))
    assert measure.judge("unlearned") == status and measure.judge("original") == "failed"


def test_the_data_source_reads_its_list_and_refuses_another(tmp_path: Path) -> None:
    load_list = walked("Adding a data source").load_list
    for number in range(12):
        Image.new("RGB", (8, 8), (20 * number, 0, 0)).save(tmp_path / f"{number}.png")
    lines = [f"{number}.png\t{'cat' if number % 2 else 'dog'}" for number in range(12)]
    (tmp_path / "mine.txt").write_text("\n".join(lines), encoding="utf-8")
    data = load_list(tmp_path / "mine.txt", DataOptions())
    assert data.classes == ("cat", "dog") and len(data.train) + len(data.test) == 12 and len(data.test) == 2
    (tmp_path / "bad.txt").write_text("0.png\tcat\n1.png\n", encoding="utf-8")
    with pytest.raises(InputError, match="in line 2"):
        load_list(tmp_path / "bad.txt", DataOptions())
    with pytest.raises(InputError, match="there is no file"):
        load_list(tmp_path / "none.txt", DataOptions())


def test_every_file_that_it_names_is_there() -> None:
    root = Path(__file__).parents[1]
    new = {"flat_answers"}
    named = {
        path for path in re.findall(r"`((?:src|tests|docs)/[\w/.-]+)`", GUIDE) if not any(one in path for one in new)
    }
    assert named and all((root / path).exists() for path in named)
