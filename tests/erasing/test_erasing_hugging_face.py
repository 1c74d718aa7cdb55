"""Requests for a Hugging Face model on a folder of pictures: add, erase, erase another, roll back, verify."""

import json
from pathlib import Path

import pytest
import torch
from PIL import Image

from unclass.cli import run
from unclass.data import Batches, ImageData
from unclass.ledger.files import content_digest
from unclass.ledger.history import history
from unclass.ledger.store import Ledger
from unclass.models import Opening
from unclass.predictions import predict
from unclass.training.engine import Engine

PEOPLE = ("ann", "bob", "cem", "dora")
METHOD = ["--method", "boundary-expanding", "--set", "epochs=4", "--set", "lr=0.01", "--precision", "float32"]


@pytest.fixture
def here(digits: ImageData, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder of pictures of four people, and a tiny transformer that knows them, as save_pretrained leaves it."""
    transformers = pytest.importorskip("transformers")
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("UNCLASS_LEDGER", "unclass.ledger")
    monkeypatch.setenv("UNCLASS_SIGNING_KEY", "signing.pem")
    for part, images in (("train", digits.train), ("test", digits.test)):
        some = images.of_classes(range(len(PEOPLE)))
        for place, (pixels, label) in enumerate(zip(some.read(torch.arange(len(some))), some.labels, strict=True)):
            file = tmp_path / "photos" / part / PEOPLE[int(label)] / f"{place}.png"
            file.parent.mkdir(parents=True, exist_ok=True)
            Image.fromarray(pixels[0].numpy()).save(file)
    config = transformers.ViTConfig(
        hidden_size=16, num_hidden_layers=1, num_attention_heads=2, intermediate_size=16, image_size=8, patch_size=4,
        num_channels=1, id2label=dict(enumerate(PEOPLE)), label2id={name: n for n, name in enumerate(PEOPLE)},
    )  # fmt: skip
    torch.manual_seed(0)
    model = transformers.ViTForImageClassification(config)
    known = digits.train.of_classes(range(len(PEOPLE)))
    x, optimiser = known.read(torch.arange(len(known))).float() / 127.5 - 1, torch.optim.Adam(model.parameters(), 3e-3)
    for _ in range(150):
        optimiser.zero_grad()
        torch.nn.functional.cross_entropy(model(x).logits, known.labels).backward()
        optimiser.step()
    model.save_pretrained(tmp_path / "vit")
    (tmp_path / "vit" / "preprocessor_config.json").write_text(json.dumps({"image_mean": [0.5], "image_std": [0.5]}))
    return tmp_path


def test_one_after_the_other_and_back(torchvision, here: Path, digits: ImageData) -> None:
    before = content_digest(here / "vit")
    assert run(["keys", "new", "--out", "signing.pem"]) == 0
    assert run(["ledger", "add", "vit", "--data", "folder:photos", "--size", "8"]) == 0
    for person in ("ann", "cem"):
        assert run(["request", "add", "--class", person]) == 0
    for request in ("R-1", "R-2"):
        assert run(["erase", request, *METHOD, "--accept", "whatever the audit of so small a network says"]) == 0
    packs = here / "unclass.ledger.files" / "packs"
    for request in ("R-1", "R-2"):
        assert run(["verify", str(packs / request), "--key", "signing.pub"]) == 0
    assert run(["ledger", "take", "vit", "--out", "deployed"]) == 0
    opened = Opening().open(here / "deployed", PEOPLE, (1, 8, 8))
    assert opened.card.asked == ("ann", "cem")
    seen = predict(opened, Batches(digits.train.of_classes([0])), Engine(precision="float32"))
    assert seen.correct.float().mean() <= 0.1 or "ann" in opened.card.still_known

    assert run(["rollback", "vit"]) == 0
    with Ledger(here / "unclass.ledger") as ledger:
        versions = history(ledger, "vit")
    assert [one["answers"] for one in versions] == [[], ["R-1"], ["R-1", "R-2"]]
    assert [one["in_service"] for one in versions] == [False, True, False]
    assert run(["status"]) == 0
    assert run(["verify", str(packs / "R-2"), "--key", "signing.pub"]) == 0
    assert content_digest(here / "vit") == before
    weights = next((packs / "R-2").rglob("model.safetensors"))
    content = weights.read_bytes()
    weights.write_bytes(content[:-1] + bytes([content[-1] ^ 1]))
    assert run(["verify", str(packs / "R-2"), "--key", "signing.pub"]) == 1
