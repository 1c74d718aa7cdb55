import errno
import json
import os
import shutil
from collections.abc import Callable
from importlib import import_module
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from PIL import Image
from safetensors.torch import load_file, save_file

from unclass.cli import COMMANDS, run
from unclass.data import ImageData
from unclass.models import Card, Classifier, build, load, save, weights_digest
from unclass.models.weights_file import read_weights_file
from unclass.storage import sha256

SMALL = ["--per-class", "20", "--workers", "0"]
Failing = Callable[..., str]


@pytest.fixture(autouse=True)
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Every command runs in an empty folder."""
    monkeypatch.chdir(tmp_path)
    return tmp_path


@pytest.fixture
def checkpoint(trained: Classifier, tmp_path: Path) -> Path:
    return save(trained, tmp_path / "model.safetensors")


@pytest.fixture
def failing(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> Failing:
    """Run a command that must fail with one line and exit code 2, leaving every file as it was."""

    def fail(*arguments: object) -> str:
        before = {path: sha256(path) for path in tmp_path.rglob("*") if path.is_file()}
        code = run([str(argument) for argument in arguments])
        found = capsys.readouterr()
        assert found.out == ""
        assert found.err.startswith("error: ") and found.err.count("\n") == 1, found.err
        assert code == 2
        assert {path: sha256(path) for path in tmp_path.rglob("*") if path.is_file()} == before
        return found.err

    return fail


def forget(model: Path, *more: object, data: str = "digits", label: str = "3") -> list[object]:
    method = [] if "--method" in more else ["--method", "boundary-shrink"]
    return ["forget", model, "--data", data, "--class", label, "--out", "new.safetensors", *method, *SMALL, *more]


def picture(path: Path, seed: int) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    pixels = np.random.default_rng(seed).integers(0, 255, (8, 8, 3), dtype=np.uint8)
    Image.fromarray(pixels).save(path)


@pytest.mark.parametrize(
    "more, expected",
    [
        (["--method", "boundry-shrink"], "unknown method 'boundry-shrink'; choose from: amnesiac, "),
        (["--method", "boundry-shrink"], "(did you mean boundary-shrink?)"),
        (["--set", "epoch=3"], "(did you mean epochs?)"),
        (["--set", "search=fgms"], "(did you mean fgsm?)"),
        (["--set", "batch_norm=freeze"], "choose from: frozen, train"),
        (["--set", "epochs=many"], "epochs is 'many'; it must be a whole number from 0 to 1,000,000,000"),
        (["--set", "lr=-1"], "lr is -1.0; it must be a number from 0 to 1e+30"),
        (["--set", "lr=nan"], "lr is nan"),
        (["--set", "epochs"], "'epochs' is not an assignment; write option=value"),
        (["--set", "=3"], "is not an assignment; write option=value"),
        (["--preset", "autors"], "(did you mean authors?)"),
        (["--precision", "float16"], "unknown precision 'float16'; choose from: auto, bfloat16, float32"),
        (["--seed", "-1"], "--seed"),
        (["--seed", "many"], "--seed"),
        (
            ["--seed", "99999999999999999999"],
            "Input should be less than or equal to 4294967295",
        ),
        (["--batch-size", "0"], "--batch-size"),
        (["--nonsense"], "No such option: --nonsense"),
        (["--data", "digts"], "unknown data set 'digts'"),
        (["--data", "digts"], "(did you mean digits?)"),
        (["--method", "amnesiac"], "record them while training with --record-updates DIR"),
    ],
)
def test_bad_options_are_named_with_what_is_allowed(
    failing: Failing, checkpoint: Path, more: list[str], expected: str
) -> None:
    assert expected in failing(*forget(checkpoint, *more))


def test_an_unknown_class_is_named_with_the_classes_there_are(failing: Failing, checkpoint: Path) -> None:
    message = failing(*forget(checkpoint, label="33"))
    assert "unknown class '33' in digits; choose from: 0, 1, 2" in message and "did you mean 3?" in message


def test_forgetting_nearly_everything_is_refused(failing: Failing, checkpoint: Path) -> None:
    most = [part for label in range(9) for part in ("--class", str(label))]
    assert "leaves fewer than two" in failing("forget", checkpoint, "--data", "digits", *most)


def test_a_missing_checkpoint_is_named(failing: Failing) -> None:
    assert "there is no checkpoint none.safetensors" in failing(*forget(Path("none.safetensors")))


@pytest.mark.parametrize("kept", [0, 7, 300, -1])
def test_a_truncated_checkpoint_is_refused(failing: Failing, checkpoint: Path, kept: int) -> None:
    checkpoint.write_bytes(checkpoint.read_bytes()[:kept])
    for command in (forget(checkpoint), ["evaluate", checkpoint, "--data", "digits", "--class", "3"]):
        assert "is not a whole safetensors file" in failing(*command)


def test_a_checkpoint_whose_weights_are_of_another_architecture_is_refused(
    failing: Failing, checkpoint: Path, digits: ImageData
) -> None:
    other = build(Card("all-cnn", digits.classes, (1, 8, 8), {"width": 0.1}))
    metadata = read_weights_file(checkpoint).metadata
    save_file(other.network.state_dict(), checkpoint, metadata)
    assert "is of another architecture" in failing(*forget(checkpoint))


def test_a_checkpoint_whose_weights_have_another_class_count_is_refused(
    failing: Failing, checkpoint: Path, trained: Classifier
) -> None:
    weights = load_file(checkpoint)
    weights["head.weight"], weights["head.bias"] = weights["head.weight"][:7].clone(), weights["head.bias"][:7].clone()
    save_file(weights, checkpoint, read_weights_file(checkpoint).metadata)
    assert "head." in failing(*forget(checkpoint))


def test_a_checkpoint_of_other_classes_than_the_data_is_refused(failing: Failing, here: Path) -> None:
    nine = build(Card("small-cnn", tuple("012345678"), (1, 8, 8), {"width": 4}))
    message = failing(*forget(save(nine, here / "nine.safetensors")))
    assert "9 classes (0 … 8), digits has 10 (0 … 9); give the data that it was trained on" in message


def test_bare_weights_without_a_card_are_refused(failing: Failing, here: Path) -> None:
    save_file({"weight": torch.zeros(2)}, here / "bare.safetensors")
    assert "has no unclass card" in failing(*forget(here / "bare.safetensors"))


def test_an_empty_or_one_class_folder_is_refused(failing: Failing, here: Path) -> None:
    (here / "empty").mkdir()
    assert "has no images in class folders" in failing("train", "folder:empty", "--out", "m.safetensors")
    picture(here / "one" / "cat" / "1.png", 1)
    picture(here / "one" / "cat" / "2.png", 2)
    assert "has one class only, 'cat'" in failing("train", "folder:one", "--out", "m.safetensors")
    assert "is not a folder" in failing("train", "folder:none", "--out", "m.safetensors")


def test_a_class_without_test_images_is_refused(failing: Failing, here: Path) -> None:
    for name in ("cat", "dog", "owl"):
        for seed in range(3):
            picture(here / "pets" / "train" / name / f"{seed}.png", seed)
    for name in ("cat", "dog"):
        picture(here / "pets" / "test" / name / "9.png", 9)
    model = build(Card("small-cnn", ("cat", "dog", "owl"), (3, 8, 8), {"width": 2}))
    path = save(model, here / "pets.safetensors")
    assert "class 'owl' has no test images" in failing(*forget(path, data="folder:pets", label="owl"))


def test_a_loss_that_is_not_finite_stops_and_keeps_the_original(
    failing: Failing, checkpoint: Path, trained: Classifier
) -> None:
    wild = ("--method", "negative-gradient", "--set", "lr=1e20", "--set", "epochs=20")
    assert "not finite" in failing(*forget(checkpoint, *wild))
    assert "not finite" in failing(*forget(checkpoint, "--set", "lr=1e30", "--set", "epochs=20"))
    assert weights_digest(load(checkpoint)) == weights_digest(trained)


def test_diverging_training_writes_nothing(failing: Failing) -> None:
    assert "not finite" in failing("train", "digits", *SMALL, "--set", "lr=1e20", "--set", "epochs=3")


@pytest.mark.parametrize("name", ["new.safetensors", "new.json"])
def test_an_output_that_exists_is_kept_without_force(failing: Failing, checkpoint: Path, here: Path, name: str) -> None:
    (here / name).write_text("precious")
    for command in (forget(checkpoint), ["train", "digits", "--out", "new.safetensors", *SMALL]):
        assert f"{name} exists already; choose another name or add --force" in failing(*command)


def test_a_checkpoint_is_never_overwritten_by_its_own_record(failing: Failing) -> None:
    assert "end the checkpoint's name in .safetensors" in failing("train", "digits", "--out", "model.json")


def test_an_output_that_cannot_be_written_is_named(failing: Failing, here: Path) -> None:
    (here / "file").write_text("")
    quick = [*SMALL, "--set", "epochs=1", "--model-set", "width=2"]
    assert "file" in failing("train", "digits", "--out", "file/model.safetensors", *quick)


def test_no_disk_space_for_the_result_is_told_in_one_line(
    failing: Failing, checkpoint: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def full(_: int) -> None:
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    monkeypatch.setattr(os, "fsync", full)
    told = failing(*forget(checkpoint, "--set", "epochs=1"))
    assert "no space left for " in told and "new.safetensors" in told


def test_no_disk_space_for_recorded_updates_is_told_before_training(
    failing: Failing, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(shutil, "disk_usage", lambda _: shutil._ntuple_diskusage(10, 9, 1))  # type: ignore[attr-defined]
    recording = ["--record-updates", "updates", "--record-class", "3"]
    assert "no space left for updates" in failing("train", "digits", *SMALL, *recording)


def test_recording_without_a_class_is_refused(failing: Failing) -> None:
    assert "--record-updates needs --record-class" in failing("train", "digits", "--record-updates", "updates")


@pytest.mark.parametrize("seeds", ["", "a", "0,,1", "0.5", "-1", "4294967296"])
def test_bad_seeds_are_refused(failing: Failing, seeds: str) -> None:
    assert "seed" in failing("compare", "digits", "--class", "3", "--methods", "", f"--seeds={seeds}", *SMALL)


@pytest.mark.parametrize(
    "more, expected",
    [
        (["--methods", "finetun"], "did you mean finetune?"),
        (["--methods", "boundary-shrink@autors"], "did you mean authors?"),
        (["--class", "33"], "unknown class '33'"),
        (["--model", "smal-cnn"], "did you mean small-cnn?"),
        (["--original", "a.safetensors", "--original", "b.safetensors"], "2 originals for 1 seeds"),
        (["--set", "epochs=x"], "epochs is 'x'"),
    ],
)
def test_a_bad_comparison_is_refused_before_it_starts(failing: Failing, more: list[str], expected: str) -> None:
    assert expected in failing("compare", "digits", "--class", "3", *SMALL, *more)


@pytest.mark.parametrize("text", ["width", "width=wide", "widht=3", "width=-1", "width=0.5"])
def test_bad_model_options_are_refused(failing: Failing, text: str) -> None:
    assert "wid" in failing("train", "digits", *SMALL, "--model-set", text)


def test_an_unknown_command_or_a_missing_argument_is_one_line(failing: Failing) -> None:
    assert "No such command 'forgt'" in failing("forgt")
    assert "Missing" in failing("forget")


def test_train_forget_and_evaluate_go_hand_in_hand(here: Path, capsys: pytest.CaptureFixture[str]) -> None:
    def ask(*arguments: str) -> Any:
        assert run([*arguments, "--json", *SMALL]) == 0
        found = capsys.readouterr()
        return json.loads(found.out)  # fails if anything else was printed

    quick = ("--set", "epochs=1", "--model-set", "width=4", "--out", "m.safetensors")
    trained = ask("train", "digits", *quick)
    assert trained["weights"] == weights_digest(load("m.safetensors"))
    assert trained["images_per_second"] == pytest.approx(200 / trained["cost"]["seconds"])
    where = ("m.safetensors", "--data", "digits", "--class", "3")
    forgotten = ask("forget", *where, "--method", "finetune", "--set", "epochs=1", "--out", "n.safetensors")
    assert forgotten["options"]["epochs"] == 1 and forgotten["original"]["weights"] == trained["weights"]
    assert load("n.safetensors").card.asked == ("3",)
    assert list(load_file("n.safetensors")) == list(load_file("m.safetensors"))
    record = json.loads(Path("n.json").read_text())
    assert {key: record[key] for key in forgotten} == forgotten
    assert ask("evaluate", "n.safetensors", *where[1:]) == pytest.approx(forgotten["scores"])
    assert sorted(path.name for path in here.iterdir()) == ["m.json", "m.safetensors", "n.json", "n.safetensors"]


def test_people_get_sentences_and_per_cents(checkpoint: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert run([str(part) for part in forget(checkpoint, "--method", "logit-mask")]) == 0
    text = capsys.readouterr().out
    assert "new.safetensors: forgot 3 with logit-mask in" in text
    assert "accuracy forget test" in text and "attack success rate" in text and "%" in text


def test_force_replaces_the_output(checkpoint: Path, here: Path) -> None:
    (here / "new.safetensors").write_text("old")
    assert run([str(part) for part in forget(checkpoint, "--force", "--set", "epochs=1", "--json")]) == 0
    assert load("new.safetensors").card.asked == ("3",)


def test_recorded_updates_lead_to_amnesiac(here: Path, capsys: pytest.CaptureFixture[str]) -> None:
    quick = ["--set", "epochs=1", "--model-set", "width=4", "--out", "m.safetensors", *SMALL]
    assert run(["train", "digits", *quick, "--record-updates", "updates", "--record-class", "3"]) == 0
    assert "GB in updates" in capsys.readouterr().err
    command = forget(Path("m.safetensors"), "--method", "amnesiac", "--set", "updates=updates", "--json")
    assert run([str(part) for part in command]) == 0
    assert json.loads(capsys.readouterr().out)["method"] == "amnesiac"


def test_compare_prints_one_json_and_writes_table_and_figures(
    checkpoint: Path, here: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    quick = ["--original", str(checkpoint), "--methods", "boundary-shrink", "--out", "c", "--json", *SMALL]
    assert run(["compare", "digits", "--class", "3", *quick]) == 0
    answer = json.loads(capsys.readouterr().out)
    assert [row["method"] for row in answer["rows"]] == ["original", "retrain", "boundary-shrink"]
    assert answer["audits"]["boundary-shrink"] in ("passed", "failed", "undecided")
    assert "boundary-shrink" in (here / "c" / "report.html").read_text()
    assert (here / "c" / "table.md").read_text().count("\n") == 5
    assert sorted(path.name for path in (here / "c" / "figures").iterdir()) == [
        "methods-attack-success.png",
        "methods-entropy-3-3.png",
        "methods-time.png",
    ]


def test_forcing_a_demo_deletes_nothing_but_an_earlier_demo(here: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(import_module("unclass.comparison.run"), "compared", lambda *_, **__: None)
    monkeypatch.setattr(import_module("unclass.cli.compare"), "show", lambda *_: None)
    (here / "runs").mkdir()
    (here / "runs" / "mine").write_text("precious")
    (here / "thesis.tex").write_text("precious")
    assert run(["demo", "--force", "--out", "."]) == 0
    assert (here / "runs" / "mine").exists() and (here / "thesis.tex").exists()
    (here / "originals").mkdir()
    assert run(["demo", "--force", "--out", "."]) == 0
    assert not (here / "runs").exists() and (here / "thesis.tex").exists()


def test_the_commands_of_the_issue_are_there() -> None:
    assert {"demo", "train", "forget", "evaluate", "compare", "list"} <= set(COMMANDS)


@pytest.mark.parametrize("command", COMMANDS)
def test_every_command_has_an_example(command: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert run([command, "--help"]) == 0
    text = capsys.readouterr().out
    assert f"Usage: unclass {command}" in text
    assert f"Example: unclass {command}" in text


def test_without_arguments_help_is_shown(capsys: pytest.CaptureFixture[str]) -> None:
    assert run([]) == 0
    found = capsys.readouterr()
    assert found.err == "" and all(command in found.out for command in COMMANDS)


def test_list_is_readable_too(capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["list"]) == 0
    text = capsys.readouterr().out
    assert "boundary-expanding" in text and "folder:PATH" in text and "resnet-50" in text


def test_an_interruption_says_how_to_go_on(
    checkpoint: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    def interrupted(*_: Any, **__: Any) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr(import_module("unclass.api"), "unlearn", interrupted)
    assert run([str(part) for part in forget(checkpoint)]) == 130
    assert "run the same command again" in capsys.readouterr().err
