"""Settings are chosen on training images that were held back, and nothing is done twice."""

import json
from dataclasses import replace
from pathlib import Path

import pytest
import torch

import unclass
from unclass.cli import run
from unclass.data import DataOptions, ImageData, load_data
from unclass.errors import InputError
from unclass.models import Classifier
from unclass.running import Settings, new_model, train_model
from unclass.training.engine import Engine
from unclass.tuning import Tried, Tuning, tune
from unclass.tuning.bench import read_cell


@pytest.fixture(scope="module")
def held() -> ImageData:
    return load_data("digits", DataOptions(per_class=40, validation=0.25))


@pytest.fixture(scope="module")
def original(held: ImageData) -> Classifier:
    """A network that has not seen the images held back."""
    torch.manual_seed(0)
    recipe = unclass.METHODS["retrain"](epochs=8, lr=0.1)
    fresh = new_model(held, "small-cnn", {"width": 8})
    return train_model(fresh, held, recipe, Engine(precision="float32"), Settings(batch_size=32))[0]  # type: ignore[arg-type]


def test_the_best_keeps_the_others_and_forgets_the_class(held: ImageData, original: Classifier) -> None:
    found = tune(held, ["3", "5"], "random-labels", {"lr": [1e-7, 1e-3, 1e3]}, model=original, epochs=6)
    slow, good, wild = found.tried
    assert found.share == 0.25
    assert found.before.kept > 0.9 and found.before.forgotten > 0.9
    assert found.best is good and good.forgotten < 0.5 < good.kept
    assert slow.forgotten > 0.9 and (wild.failed or wild.score < good.score)


def test_figures_are_those_of_the_images_held_back(held: ImageData, original: Classifier) -> None:
    found = tune(held, "3", "random-labels", {"lr": [0.01]}, model=original, epochs=3, batch_size=32)
    unlearned = unclass.forget(original, held, "3", "random-labels", lr=0.01, epochs=3, batch_size=32)
    by_hand = unclass.evaluate(unlearned, held, "3")
    assert (found.tried[0].kept, found.tried[0].forgotten) == (
        by_hand.accuracy_retain_test,
        by_hand.accuracy_forget_test,
    )


class Unreadable:
    """Stands for test images: reading one is an error."""

    shape = (10, 1, 8, 8)
    digest = "test"

    def __len__(self) -> int:
        return 10

    def __getitem__(self, places: object) -> torch.Tensor:
        raise AssertionError("a test image was read")


def test_test_images_are_never_read(held: ImageData) -> None:
    data = load_data("digits", DataOptions(per_class=20))
    few = data.test.select(torch.arange(10))
    unreadable = replace(data, test=replace(few, source=Unreadable(), places=torch.arange(10)))
    found = tune(unreadable, "3", "random-labels", {"lr": [1e-3]}, share=0.25)
    assert 0 < found.before.kept <= 1


def test_a_model_that_saw_the_images_held_back_cannot_be_judged_by_them(trained: Classifier, held: ImageData) -> None:
    with pytest.raises(InputError, match="trained on other images"):
        tune(held, "3", "random-labels", {"lr": [1e-3]}, model=trained)


def test_what_was_tried_is_not_tried_again(held: ImageData, original: Classifier, tmp_path: Path) -> None:
    def once(*rates: float) -> Tuning:
        return tune(held, "3", "random-labels", {"lr": rates}, model=original, out=tmp_path)

    first = once(1e-3)
    (cell,) = (tmp_path / "cells").iterdir()
    content = json.loads(cell.read_text())
    cell.write_text(json.dumps({**content, "accuracy_retain_test": 0.123}))
    again = once(1e-3, 1e-2)
    assert again.tried[0].kept == 0.123 != first.tried[0].kept
    assert len(list((tmp_path / "cells").iterdir())) == 2
    assert json.loads((tmp_path / "tuning.json").read_text())["best"] == dict(again.best.options)


@pytest.mark.parametrize("damaged", ["", "[]", "{}", '{"failed": ""}', '{"failed": "", "seconds": "x"}'])
def test_what_was_tried_and_is_damaged_is_said_in_one_line(damaged: str, tmp_path: Path) -> None:
    (tmp_path / "cell.json").write_text(damaged)
    with pytest.raises(InputError, match=r"cell\.json"):
        read_cell(tmp_path / "cell.json")


def test_without_a_grid_learning_rates_are_tried(held: ImageData, original: Classifier) -> None:
    found = tune(held, "3", "random-labels", model=original, epochs=1, lr=1e-3)
    assert [one.options["lr"] for one in found.tried] == [1e-4, 3e-4, 1e-3, 3e-3, 1e-2]


@pytest.mark.parametrize(
    "arguments, says",
    [
        ({"method": "logit-mask"}, "has no learning rate to try"),
        ({"method": "boundary-shift"}, "has no learning rate to try; say which of its options"),
        ({"method": "random-labels", "share": 1.5}, "cannot be held back"),
        ({"method": "random-labels", "grid": {"lt": [1]}}, "unknown option 'lt'"),
        ({"method": "random-labels", "classes": []}, "no class to forget"),
    ],
)
def test_what_cannot_be_tuned_is_said_in_one_line(
    held: ImageData, original: Classifier, arguments: dict[str, object], says: str
) -> None:
    with pytest.raises(InputError, match=says) as error:
        tune(held, **{"classes": "3", "model": original, **arguments})  # type: ignore[arg-type]
    assert "\n" not in str(error.value)


def test_nothing_is_the_best_of_what_failed() -> None:
    failed = Tuning("x", "digits", ("3",), 0.1, Tried({}), (Tried({"lr": 1}, failed="diverged"),))
    with pytest.raises(InputError, match=r"no setting of x worked \(diverged\)"):
        _ = failed.best


def test_it_is_short_as_text_and_a_table_in_a_notebook() -> None:
    tried = (Tried({"lr": 0.1}, 0.9, 0.2, 1.0), Tried({"lr": 9}, failed="diverged"))
    found = Tuning("<x>", "digits", ("3",), 0.1, Tried({}, 1.0, 1.0), tried)
    assert repr(found) == "<Tuning of <x> on digits: 2 tried, best lr=0.1>"
    shown = found._repr_html_()
    assert shown.count("<tr>") == 4 and "<td>90.0</td><td>20.0</td><td>70.0</td>" in shown and "&lt;x&gt;" in shown
    assert repr(replace(found, tried=tried[1:])).endswith("best none worked>")


def test_the_command_goes_on_where_it_was(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    line = ["tune", "random-labels", "--data", "digits", "--per-class", "30", "--class", "3", "--set", "epochs=4",
            "--try", "lr=1e-5,0.01"]  # fmt: skip
    assert run([*line, "--json"]) == 0
    first = json.loads(capsys.readouterr().out)
    assert [one["options"]["lr"] for one in first["tried"]] == ["1e-5", "0.01"]
    assert (tmp_path / "tuning" / "original.safetensors").exists()
    assert run(line) == 0
    shown = capsys.readouterr().out
    assert f"--set lr={first['best']['lr']}" in shown and "before" in shown
