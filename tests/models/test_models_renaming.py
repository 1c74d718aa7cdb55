"""A forgotten class's name is replaced wherever a written model holds it."""

import json
from dataclasses import replace
from pathlib import Path

import pytest

import unclass
from unclass.cli import run
from unclass.data import ImageData
from unclass.errors import InputError
from unclass.models import Classifier, load, save
from unclass.models.renaming import new_names, renamed


def test_the_name_is_in_no_byte_of_the_file_and_the_model_still_fits_its_data(
    model: Classifier, digits: ImageData, tmp_path: Path
) -> None:
    named = replace(digits, classes=(*digits.classes[:3], "trois", *digits.classes[4:]))
    model.card = replace(model.card, classes=named.classes)
    out = tmp_path / "new.safetensors"
    unclass.forget(model, named, "trois", "logit-mask", out=out, rename_class="erased")
    assert b"trois" not in out.read_bytes()
    again = load(out)
    assert again.card.classes[3] == "erased" and again.card.forgotten == ("erased",)
    assert unclass.evaluate(again, named, "trois").accuracy_forget == 0
    assert model.card.classes[3] == "trois"


def test_a_folder_s_configuration_is_changed_as_well() -> None:
    content = {"id2label": {"0": "cat", "1": "deer"}, "label2id": {"cat": 0, "deer": 1}, "label_names": ["cat", "deer"]}
    text = json.dumps(renamed(content, {"deer": "erased"}))
    assert "deer" not in text and json.loads(text)["label2id"] == {"cat": 0, "erased": 1}


def test_a_name_that_another_class_has_is_refused_before_anything_runs() -> None:
    for name in ("cat", " "):
        with pytest.raises(InputError, match="give one that no class has"):
            new_names(["cat", "deer"], ["deer"], name)


def test_the_command_says_that_the_name_still_stands_there_and_replaces_it(
    model: Classifier, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = save(model, tmp_path / "model.safetensors")
    command = ["forget", str(path), "--data", "digits", "--per-class", "40", "--class", "3", "--method", "logit-mask"]
    assert run([*command, "--out", str(tmp_path / "one.safetensors")]) == 0
    assert "--rename-class" in capsys.readouterr().err
    assert run([*command, "--out", str(tmp_path / "two.safetensors"), "--rename-class", "gone"]) == 0
    assert "--rename-class" not in capsys.readouterr().err
    assert load(tmp_path / "two.safetensors").card.classes[3] == "gone"
