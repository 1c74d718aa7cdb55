"""What training keeps for later methods: every recorder watches, its time is counted, a full disk is told."""

from importlib import import_module
from pathlib import Path
from typing import Any

import pytest
import torch
from torch import Tensor, nn

from unclass.comparison.layout import kept_folder
from unclass.comparison.plan import Plan
from unclass.comparison.recording import Recording, kept_cost, recording_for, with_kept
from unclass.data import ImageData
from unclass.errors import InputError
from unclass.methods.amnesiac import Amnesiac
from unclass.methods.amnesiac.recorder import UpdateRecorder
from unclass.methods.retrain import Retrain
from unclass.records import UpdatesCost
from unclass.running import new_model

module = import_module("unclass.comparison.recording")
RECIPE = Retrain(epochs=2)


class Watcher:
    """Remembers what it was told."""

    def __init__(self) -> None:
        self.told: list[Any] = []

    def start(self, model: nn.Module) -> None:
        self.told.append("start")

    def after_step(self, step: int, model: nn.Module, y: Tensor) -> None:
        self.told.append((step, y.tolist()))

    def finish(self, model: nn.Module) -> None:
        self.told.append("finish")


def plan(digits: ImageData, out: Path, *methods: str, strict: bool = True) -> Plan:
    return Plan(digits, out, methods, [["3"], ["4", "5"]], model_options={"width": 2}, recipe=RECIPE, strict=strict)


def test_every_recorder_sees_the_whole_training_and_its_time_is_a_mean(monkeypatch: pytest.MonkeyPatch) -> None:
    clock = iter([0.0, 3.0, 10.0, 11.0])
    monkeypatch.setattr(module.time, "perf_counter", lambda: next(clock))
    both, model = (Watcher(), Watcher()), nn.Flatten()
    recording = Recording(both)
    assert recording.seconds_each() == 0
    recording.start(model)
    for step in (0, 1):
        recording.after_step(step, model, torch.tensor([step]))
    recording.finish(model)
    assert recording.seconds_each() == (3.0 + 1.0) / 2
    for one in both:
        assert one.told == ["start", (0, [0]), (1, [1]), "finish"]


def test_only_methods_that_ask_for_it_are_recorded_for_all_classes_at_once(digits: ImageData, tmp_path: Path) -> None:
    model = new_model(digits, "small-cnn", {"width": 2})
    assert recording_for(plan(digits, tmp_path, "finetune"), 0, RECIPE, model) is None
    asked = plan(digits, tmp_path, "finetune", "amnesiac")
    found = recording_for(asked, 0, RECIPE, model)
    assert found is not None
    (recorder,) = found.recorders
    assert isinstance(recorder, UpdateRecorder) and recorder.folder == kept_folder(asked, "amnesiac", 0)
    assert sorted(recorder.classes) == [3, 4, 5]


def test_a_full_disk_stops_a_strict_plan_and_another_goes_on_without(
    digits: ImageData, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def full(folder: Path, size: int) -> None:
        raise InputError(f"{size} bytes do not fit")

    monkeypatch.setattr(module, "require_space", full)
    model = new_model(digits, "small-cnn", {"width": 2})
    with pytest.raises(InputError, match="bytes do not fit"):
        recording_for(plan(digits, tmp_path, "amnesiac"), 0, RECIPE, model)
    assert recording_for(plan(digits, tmp_path, "amnesiac", strict=False), 0, RECIPE, model) is None


def test_a_method_takes_the_folder_of_its_seed_and_what_it_cost_is_counted(digits: ImageData, tmp_path: Path) -> None:
    asked = plan(digits, tmp_path, "amnesiac")
    folder = kept_folder(asked, "amnesiac", 4)
    folder.mkdir(parents=True)
    for number, size in enumerate((5, 7)):
        (folder / f"{number}.safetensors").write_bytes(b"x" * size)
    method = with_kept(asked, Amnesiac(), 4)
    assert kept_cost(asked, method, 4) == UpdatesCost(2, 12)  # seconds are unknown: nothing was trained here
