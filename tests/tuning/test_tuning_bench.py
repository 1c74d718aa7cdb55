"""Pieces of tuning are done once, by whoever shares the folder, and one that fails stops no other."""

from dataclasses import dataclass, replace
from pathlib import Path
from typing import ClassVar

import pytest
import torch
from torch import nn

from unclass.comparison.claim import claimed
from unclass.data import DataOptions, ImageData, load_data
from unclass.errors import InputError
from unclass.methods import METHODS, Method, Needs
from unclass.methods.method import option
from unclass.models import Classifier
from unclass.running import Settings, new_model, train_model
from unclass.training.engine import Engine
from unclass.tuning import tune
from unclass.tuning.bench import Bench, Cell

OPTIONS = DataOptions(per_class=20, validation=0.25)


@pytest.fixture(scope="module")
def held() -> ImageData:
    return load_data("digits", OPTIONS)


@pytest.fixture(scope="module")
def original(held: ImageData) -> Classifier:
    torch.manual_seed(0)
    fresh = new_model(held, "small-cnn", {"width": 4})
    return train_model(fresh, held, METHODS["retrain"](epochs=4, lr=0.1), Engine(precision="float32"), Settings())[0]  # type: ignore[arg-type]


@dataclass(frozen=True)
class Fragile(Method):
    """Forgets nothing, and breaks where it is told to."""

    breaks: bool = option(False, "whether it breaks")

    needs: ClassVar[Needs] = Needs.FORGET

    def __call__(self, model: nn.Module, data: object, engine: Engine) -> nn.Module:
        if self.breaks:
            raise RuntimeError("out of\nmemory")
        return model


def test_two_processes_find_what_one_finds_to_the_last_bit(held: ImageData, original: Classifier) -> None:
    def found(jobs: int) -> list[tuple[float, float]]:
        grid = {"lr": [1e-3, 1e-2, 3e-2]}
        made = tune(held, ["3", "5"], "random-labels", grid, model=original, jobs=jobs, threads=1, epochs=3)
        assert [one.options["lr"] for one in made.tried] == grid["lr"]
        return [(one.kept, one.forgotten) for one in made.tried]

    assert found(1) == found(2)


@pytest.mark.long
def test_a_cluster_keeps_the_figures_that_this_process_finds(original: Classifier, tmp_path: Path) -> None:
    def found(**where: object) -> list[float]:
        data = {"model": original, "share": 0.25, "data_options": DataOptions(per_class=20), "threads": 1}
        return [one.kept for one in tune("digits", "3", "random-labels", {"lr": [1e-3, 1e-2]}, **data, **where).tried]  # type: ignore[arg-type]

    out = tmp_path / "out"
    assert found() == found(cluster="slurm", cluster_options={"cluster": "local", "array": 2}, out=out)
    assert len(list((out / "cells").glob("*.json"))) == 2


@pytest.fixture
def bench(held: ImageData, original: Classifier, tmp_path: Path) -> Bench:
    return Bench(original, held, 64, Engine(precision="float32"), tmp_path)


def test_a_piece_that_another_process_works_on_is_left_to_it(bench: Bench) -> None:
    cell = Cell(0, "3", 0, Fragile())
    bench.path(cell).parent.mkdir()
    with claimed(bench.path(cell), folder=False):
        assert "being written by" in bench(cell).held
    assert not bench(cell).held and bench(cell).figures["accuracy_retain_test"] > 0.1


def test_a_setting_that_breaks_is_told_with_its_story_and_tried_again(
    held: ImageData, original: Classifier, bench: Bench, tmp_path: Path
) -> None:
    found = tune(held, "3", Fragile(), {"breaks": [True, False]}, model=original, out=tmp_path)
    broken, fine = found.tried
    assert broken.failed == "RuntimeError: out of memory" and fine.kept > 0.1 and found.best is fine
    (story,) = (tmp_path / "cells").glob("*.failure.txt")
    assert "in __call__" in story.read_text()
    bench(Cell(0, "3", 0, Fragile(breaks=True)))
    assert len(list((tmp_path / "cells").glob("*.json"))) == 1


def test_what_a_bench_is_sent_with_finds_its_images_again(held: ImageData, bench: Bench) -> None:
    sent = replace(bench, source=("digits", OPTIONS)).__getstate__()
    assert sent["images"] is None
    there = Bench.__new__(Bench)
    there.__setstate__(sent)
    assert there.images.train.digest == held.train.digest and there.images.test.digest == held.test.digest


def test_what_cannot_be_sent_is_said_before_anything_is_tried(held: ImageData) -> None:
    model = nn.Sequential(nn.Flatten(), nn.Linear(64, 10))
    model.register_forward_hook(lambda *_: None)
    with pytest.raises(InputError, match="cannot be sent to other processes") as error:
        tune(held, "3", "random-labels", {"lr": [1e-3]}, model=model, jobs=2)
    assert "\n" not in str(error.value)


def test_a_cluster_without_a_folder_is_refused(held: ImageData, original: Classifier) -> None:
    with pytest.raises(InputError, match="needs a folder that all its machines see"):
        tune(held, "3", "random-labels", {"lr": [1e-3]}, model=original, cluster="slurm")
