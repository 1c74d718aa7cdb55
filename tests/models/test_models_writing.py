"""A model is written as it came, and the record is told what its file cannot say."""

from dataclasses import replace
from pathlib import Path

import pytest
import torch
from torch import nn

from unclass.data import ImageData
from unclass.errors import InputError
from unclass.models import Classifier, load, weights_digest
from unclass.models.writing import write_model
from unclass.running import new_model


@pytest.fixture
def fresh(digits: ImageData) -> Classifier:
    return new_model(digits, "small-cnn", {"width": 2})


def test_what_was_forgotten_is_told_also_where_the_format_has_no_card(fresh: Classifier, tmp_path: Path) -> None:
    fresh.card = replace(fresh.card, forgotten=("3",), forgotten_images=("ab",), still_known={"4": 0.5})
    source = tmp_path / "came.pt"
    torch.save(fresh.network.state_dict(), source)
    found = write_model(fresh, tmp_path / "out.pt", source, None, {})
    assert found == {
        "model": str(tmp_path / "out.pt"), "forgotten": ["3"], "forgotten_images": ["ab"], "still_known": {"4": 0.5},
    }  # fmt: skip
    written = torch.load(tmp_path / "out.pt", weights_only=True)
    assert all(torch.equal(written[name], value) for name, value in fresh.network.state_dict().items())


def test_without_a_file_that_it_came_from_it_is_a_checkpoint_with_its_card(fresh: Classifier, tmp_path: Path) -> None:
    write_model(fresh, tmp_path / "out.safetensors", None, None, {})
    again = load(tmp_path / "out.safetensors")
    assert again.card == fresh.card and weights_digest(again) == weights_digest(fresh)


def test_new_names_and_another_format_are_told_too(
    fresh: Classifier, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def export(model: nn.Module, out: Path, form: str) -> tuple[Path, float]:  # the real one has tests of its own
        return out.with_suffix(f".{form}"), 1e-7

    monkeypatch.setattr("unclass.models.writing.export_model", export)
    found = write_model(fresh, tmp_path / "out.safetensors", None, "onnx", {"3": "removed"})
    assert found["renamed"] == {"3": "removed"}
    assert found["export"] == {"path": str(tmp_path / "out.onnx"), "largest_difference": 1e-7}


def test_a_network_without_a_card_is_refused_in_a_line(tmp_path: Path) -> None:
    with pytest.raises(InputError, match=r"a Linear has no card to be written with; leave `out` out"):
        write_model(nn.Linear(2, 2), tmp_path / "out.pt", None, None, {})
    assert not list(tmp_path.iterdir())
