"""Nothing that is written by default shows a picture of the erased class or of anybody else."""

from copy import deepcopy
from pathlib import Path

import pytest
import torch
from tests.shown import shown

import unclass
from unclass.cli import run
from unclass.data import ImageData, Split
from unclass.models import Classifier
from unclass.training.engine import Engine


@pytest.fixture(scope="module")
def comparison(digits: ImageData, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A comparison with its audits, page and every figure."""
    out = tmp_path_factory.mktemp("comparison") / "out"
    unclass.compare(
        digits, "3", ["logit-mask"], model="small-cnn", model_options={"width": 4}, recipe={"epochs": 2, "lr": 0.1},
        out=out, audited=True, engine=Engine(precision="float32"),
    )  # fmt: skip
    assert run(["figures", str(out)]) == 0
    return out


def test_comparisons_and_demos_show_none(comparison: Path, digits: ImageData) -> None:
    assert {"report.html", "audit.json"} <= {file.name for file in comparison.rglob("*") if file.is_file()}
    assert list(comparison.rglob("*.png")) and not list(comparison.rglob("*attention*"))
    assert shown(comparison, digits.train) == shown(comparison, digits.test) == set()


def test_audits_show_some_only_if_asked(model: Classifier, digits: ImageData, engine: Engine, tmp_path: Path) -> None:
    masked = deepcopy(model)
    with torch.no_grad():
        masked.network.head.bias[3] -= 100  # type: ignore[operator, union-attr, index]
    forget = Split.of(digits, ["3"]).forget
    for name in ("default", "asked"):
        unclass.audit(masked, model, digits, "3", engine=engine, out=tmp_path / name, pictures=name == "asked")
        assert run(["figures", str(tmp_path / name)]) == 0
    assert shown(tmp_path / "asked", forget) == {"audit.json", "report.html"}
    page = {name: (tmp_path / name / "report.html").read_text(encoding="utf-8") for name in ("default", "asked")}
    assert "This page holds pictures of the erased class" in page["asked"]
    assert "pictures of the erased class" not in page["default"] and "data:image/" not in page["default"]
    assert (tmp_path / "asked" / "figures" / "attention.png").is_file()
    assert shown(tmp_path / "default", digits.train) == set()
    assert not (tmp_path / "default" / "figures" / "attention.png").exists()


def test_forgetting_writes_none(model: Classifier, digits: ImageData, engine: Engine, tmp_path: Path) -> None:
    unclass.forget(model, digits, "3", method="logit-mask", engine=engine, out=tmp_path / "forgotten.safetensors")
    assert list(tmp_path.iterdir()) and shown(tmp_path, digits.train) == set()
