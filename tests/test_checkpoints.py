"""The checkpoints in the repository are the ones that their page describes."""

import re
from pathlib import Path

import pytest

import unclass
from unclass.storage import sha256

FOLDER = Path(__file__).parents[1] / "checkpoints"
LISTED = dict(
    re.findall(r"`([\w-]+\.safetensors)` \|.*`([0-9a-f]{64})`", (FOLDER / "README.md").read_text(encoding="utf-8"))
)


def test_every_checkpoint_is_listed() -> None:
    assert {path.name for path in FOLDER.glob("*.safetensors")} == set(LISTED)


@pytest.mark.parametrize("name", LISTED)
def test_a_checkpoint_is_what_its_page_says(name: str) -> None:
    assert sha256(FOLDER / name) == LISTED[name]
    model = unclass.load(FOLDER / name)
    assert model.card.architecture == "all-cnn" and ("without-deer" in name) == (model.card.forgotten == ("deer",))
