"""The checkpoints in the repository are the ones that their cards describe."""

import re
from pathlib import Path

import pytest

import unclass
from unclass.storage import sha256

FOLDER = Path(__file__).parents[1] / "checkpoints"
NAMES = sorted(path.stem for path in FOLDER.glob("*.safetensors"))
SETS = {"D_r": "retain", "D_f": "forget", "D_rt": "retain_test", "D_ft": "forget_test"}


def card(name: str) -> str:
    return (FOLDER / f"{name}.md").read_text(encoding="utf-8")


def test_every_checkpoint_is_listed() -> None:
    listed = (FOLDER / "README.md").read_text(encoding="utf-8")
    assert NAMES and set(NAMES) == {path.stem for path in FOLDER.glob("*.md")} - {"README"}
    assert all(f"[{name}]({name}.md)" in listed for name in NAMES)


@pytest.mark.parametrize("name", NAMES)
def test_a_checkpoint_is_what_its_card_says(name: str) -> None:
    text, model = card(name), unclass.load(FOLDER / f"{name}.safetensors")
    own, recipe = model.card, model.card.recipe
    assert f"`{sha256(FOLDER / f'{name}.safetensors')}`" in text
    assert f"`{own.trained_on['digest']}`" in text and f"{own.trained_on['count']:,} training images" in text
    assert f"{recipe['epochs']} epochs, batches of {recipe['batch_size']}" in text and f"seed {recipe['seed']}" in text
    assert f"learning rate {recipe['lr']} {recipe['schedule']}" in text and f"`{own.architecture}`" in text
    assert name.partition("-without-")[2] == "".join(own.forgotten)


@pytest.mark.parametrize("name", [name for name in NAMES if "digits" in name])
def test_the_accuracies_of_the_digits_checkpoints_are_those_on_the_card(name: str) -> None:
    model = unclass.load(FOLDER / f"{name}.safetensors")
    found = unclass.evaluate(model, "digits", ["3"]).as_dict()
    said = dict(re.findall(r"(D_\w+) (\d+\.\d)", card(name)))
    assert {key: f"{100 * found[f'accuracy_{part}']:.1f}" for key, part in SETS.items()} == said
