"""What is damaged: one good input of each kind, made once."""

import csv
import io
import json
import tarfile
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from PIL import Image
from safetensors.torch import save

from unclass.models import Classifier
from unclass.models.checkpoint import save as save_model


@dataclass
class Good:
    """Good inputs: bytes of files, and JSON."""

    files: dict[str, bytes] = field(default_factory=dict)
    json: dict[str, Any] = field(default_factory=dict)
    folder: Path = Path()


def picture(shade: int, form: str = "png") -> bytes:
    file = io.BytesIO()
    pixels = np.random.default_rng(shade).integers(0, 255, (8, 8, 3), dtype=np.uint8)
    Image.fromarray(pixels).save(file, form)
    return file.getvalue()


def shard() -> bytes:
    file = io.BytesIO()
    with tarfile.open(fileobj=file, mode="w") as tar:
        for number in range(8):
            labels = {"cls": str(number % 2).encode(), "json": json.dumps({"label": number % 2}).encode()}
            kind = "json" if number % 3 else "cls"
            for name, content in ((f"{number}.png", picture(number)), (f"{number}.{kind}", labels[kind])):
                info = tarfile.TarInfo(name)
                info.size = len(content)
                tar.addfile(info, io.BytesIO(content))
    return file.getvalue()


def table(pictures: Path) -> str:
    file = io.StringIO()
    rows = csv.writer(file)
    rows.writerow(["path", "label", "split"])
    for number in range(8):
        rows.writerow([pictures / str(number % 2) / f"{number}.png", number % 2, "train" if number < 6 else "test"])
    return file.getvalue()


@pytest.fixture(scope="session")
def good(trained: Classifier, tmp_path_factory: pytest.TempPathFactory) -> Good:
    folder = tmp_path_factory.mktemp("good")
    found = Good(folder=folder)
    save_model(trained, folder / "model.safetensors")
    state = {
        key: tensor.clone(memory_format=torch.contiguous_format) for key, tensor in trained.network.state_dict().items()
    }
    torch.save(state, folder / "plain.pt")
    torch.save(
        {"state_dict": state, "optimizer": {"lr": 0.1, "state": {0: torch.zeros(3)}}, "epoch": 3}, folder / "nested.pt"
    )
    torch.save(state, folder / "old.pt", _use_new_zipfile_serialization=False)
    for name in ("model.safetensors", "plain.pt", "nested.pt", "old.pt"):
        found.files[name] = (folder / name).read_bytes()
    found.files["weights"] = save(state)
    found.json["card"] = json.loads(json.dumps(trained.card.as_dict()))
    pictures = folder / "pictures"
    for number in range(8):
        path = pictures / str(number % 2) / f"{number}.png"
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(picture(number))
    found.files |= {f"picture.{form}": picture(1, form) for form in ("png", "jpeg", "webp", "bmp", "gif", "tiff")}
    found.files["shard.tar"] = shard()
    found.files["list.csv"] = table(pictures).encode()
    return found


@pytest.fixture(scope="session")
def vit_folder(good: Good, torchvision: Any) -> dict[str, Any]:
    """The JSON of a Hugging Face folder, whose weights are in good.files."""
    transformers = pytest.importorskip("transformers")
    names = {index: str(index) for index in range(10)}
    config = transformers.ViTConfig(
        hidden_size=8, num_hidden_layers=1, num_attention_heads=2, intermediate_size=8, image_size=8, patch_size=4,
        num_channels=1, id2label=names, label2id={name: index for index, name in names.items()},
    )  # fmt: skip
    transformers.ViTForImageClassification(config).save_pretrained(good.folder / "vit")
    good.files["vit"] = (good.folder / "vit" / "model.safetensors").read_bytes()
    before = {"image_mean": [0.3], "image_std": [0.2], "do_normalize": True, "size": {"height": 8, "width": 8}}
    keys = {
        key: "model.safetensors"
        for key in json.loads(good.files["vit"][8 : 8 + int.from_bytes(good.files["vit"][:8], "little")])
    }
    return {
        "config.json": json.loads((good.folder / "vit" / "config.json").read_text()),
        "preprocessor_config.json": before,
        "model.safetensors.index.json": {"metadata": {"total_size": 3}, "weight_map": keys},
    }
