"""The doctor finds the size that pictures should have, says which, and is not fooled by chance."""

from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from PIL import Image
from torch import Tensor, nn
from torch.utils.data import TensorDataset

import unclass
from unclass.checkup import Finding
from unclass.checkup.sample import draw
from unclass.checkup.sizes import COARSE, Trial
from unclass.cli import run
from unclass.data import DataOptions, ImageData, load_data
from unclass.training.engine import Engine

SIDE = 96  # of the pictures as they lie in the folder
CLASSES = 4
ENGINE = Engine(precision="float32")


class Stripes(nn.Module):
    """Knows how many pixels wide a stripe is, at one size of the pictures, so at others it mistakes the classes."""

    def __init__(self, size: int, only: bool = False, doubled: bool = False) -> None:
        super().__init__()
        self.size, self.only, self.doubled = size, only, doubled
        self.head = nn.Linear(CLASSES, CLASSES)
        nn.init.eye_(self.head.weight)
        nn.init.zeros_(self.head.bias)

    def forward(self, x: Tensor) -> Tensor:
        if self.only and x.shape[-1] != self.size:
            raise RuntimeError(f"mat1 and mat2 shapes cannot be multiplied at {x.shape[-1]}")
        rows = x.mean(1).mean(1)  # stripes stand upright, so that a row of the picture tells all
        if self.doubled:
            rows = torch.where(rows.amin(1, keepdim=True) < 0, rows, torch.zeros_like(rows))  # normalised or nothing
        rows = rows - rows.mean(1, keepdim=True)
        place = torch.arange(x.shape[-1], dtype=x.dtype) / self.size  # in pictures of its own size
        scores = []
        for stripes in range(CLASSES):
            angle = 2 * torch.pi * (2 + 2 * stripes) * place
            scores.append(((rows * angle.cos()).sum(1) ** 2 + (rows * angle.sin()).sum(1) ** 2) / x.shape[-1])
        return self.head(torch.stack(scores, 1))  # type: ignore[no-any-return]


def picture(label: int, draw: np.random.Generator) -> np.ndarray:
    across = np.arange(SIDE) / SIDE
    wave = 0.5 + 0.4 * np.sin(2 * np.pi * ((2 + 2 * label) * across + draw.random()))
    noisy = np.clip(np.broadcast_to(wave, (SIDE, SIDE)) + draw.normal(0, 0.05, (SIDE, SIDE)), 0, 1)
    return (255 * np.stack([noisy] * 3, -1)).astype(np.uint8)


@pytest.fixture(scope="module")
def stripes(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder, draw = tmp_path_factory.mktemp("stripes"), np.random.default_rng(0)
    for label in range(CLASSES):
        (folder / str(label)).mkdir()
        for number in range(60):
            Image.fromarray(picture(label, draw)).save(folder / str(label) / f"{number}.png")
    return folder


def found(model: nn.Module, data: Any, **more: Any) -> dict[str, Finding]:
    return {one.check: one for one in unclass.doctor(model, data, 1, "logit-mask", engine=ENGINE, **more)}


@pytest.mark.parametrize("size", [24, 40, 64])
def test_the_size_of_training_is_told_with_both_accuracies(stripes: Path, size: int) -> None:
    seen = found(Stripes(size), stripes)["size"]
    assert seen.status == "wrong" and seen.advice == f"give `size` {size}", seen
    assert seen.says.count("%") == 2 and f"at {size} × {size}" in seen.says
    right = found(Stripes(size), stripes, data_options=DataOptions(size=size))["size"]
    assert right.status == "good" and "no other size gives clearly more right answers" in right.says


def test_pictures_in_memory_and_those_of_your_own_code_are_scaled(stripes: Path) -> None:
    data = load_data(stripes)
    assert found(Stripes(48), data)["size"].advice == "give `size` 48"
    rows = torch.arange(len(data.test))
    own = TensorDataset(data.test.read(rows).float() / 255, data.test.labels)
    assert found(Stripes(48), own)["size"].advice == "scale the images to 48 × 48"


@pytest.mark.parametrize("kind", [torch.float16, torch.bfloat16, torch.float64])
def test_sizes_are_tried_in_any_precision(stripes: Path, kind: torch.dtype) -> None:
    data = load_data(stripes, DataOptions(size=24))
    own = TensorDataset(data.test.read(torch.arange(len(data.test))).to(kind) / 255, data.test.labels)
    assert found(Stripes(24).to(kind), own)["size"].status == "good"


def test_a_network_that_takes_one_size_only_is_given_it(stripes: Path) -> None:
    seen = found(Stripes(28, only=True), stripes)["classes"]
    assert seen.status == "wrong" and seen.advice == "give `size` 28", seen


def test_size_and_normalisation_may_both_be_wrong(stripes: Path) -> None:
    seen = found(Stripes(32, doubled=True), stripes)["size"]
    assert seen.status == "wrong" and seen.advice.startswith("give `size` 32, and normalise the images with"), seen


def test_pictures_of_one_class_leave_a_doubt(stripes: Path) -> None:
    alone = found(Stripes(40), stripes / "1", forget_only=True)["size"]
    assert alone.status in ("doubtful", "good")


class Guessing(nn.Module):
    """Says something else at every size, and knows nothing at any."""

    def __init__(self, seed: int) -> None:
        super().__init__()
        self.seed = seed

    def forward(self, x: Tensor) -> Tensor:
        state = self.seed * 1000 + x.shape[-1] + int(1e4 * float(x.double().mean()))
        return torch.rand(len(x), CLASSES, generator=torch.Generator().manual_seed(state))


def test_chance_is_never_taken_for_a_size(stripes: Path) -> None:
    sample = draw(load_data(stripes, DataOptions(size=16)))
    for seed in range(20):
        guess = Guessing(seed)
        trial = Trial(guess, sample, ENGINE, 10.0, CLASSES, one_class=False)  # so slow that few images are tried
        seen = guess(sample.x).argmax(1)
        assert trial.better(seen, [None]) is None


def test_weights_that_fit_one_size_only_say_which(
    stripes: Path, torchvision: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: Any
) -> None:
    timm = pytest.importorskip("timm")
    monkeypatch.chdir(tmp_path)
    model = timm.create_model("vit_tiny_patch16_224", num_classes=CLASSES, img_size=64, depth=1)
    torch.save(model.state_dict(), "vit.pt")
    network = ["--model", "timm:vit_tiny_patch16_224", "--model-set", "depth=1", "--weights", "vit.pt"]
    assert run(["doctor", *network, "--data", f"folder:{stripes}", "--class", "1"]) == 1
    assert "give --size 64" in capsys.readouterr().out


def test_coarse_sizes_are_usual_ones(digits: ImageData) -> None:
    from unclass.checkup.sizes import USUAL

    assert set(COARSE) <= set(USUAL) and list(USUAL) == sorted(USUAL)
    assert draw(digits).first(5).images.read(torch.arange(5)).shape[0] == 5


def test_one_picture_is_too_few_to_tell_a_size(digits: ImageData) -> None:
    network = nn.Sequential(nn.Conv2d(1, 4, 3), nn.ReLU(), nn.AdaptiveAvgPool2d(1), nn.Flatten(), nn.Linear(4, 10))
    one = TensorDataset(digits.train.read(torch.arange(1)).float() / 255, digits.train.labels[:1])
    found = unclass.doctor(network, one, 3, engine=ENGINE)
    assert "size" in {finding.check for finding in found}
