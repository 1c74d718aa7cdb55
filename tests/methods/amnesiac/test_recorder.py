import json
import os
from pathlib import Path

import pytest
import torch
from safetensors import safe_open
from torch import Tensor, nn

import unclass
from unclass.data import Batches, ImageData
from unclass.errors import InputError
from unclass.methods.amnesiac.recorder import UpdateRecorder, prepare_recording, recorded_size, recorded_updates
from unclass.models import Classifier, weights_digest
from unclass.models.safetensors_file import save_tensors
from unclass.models.weights_file import read_weights_file

EPOCHS, BATCH = 8, 16  # of the `recorded` fixture


def steps_with(digits: ImageData, label: int) -> list[int]:
    """The steps whose batch holds the class, counted from 1."""
    batches = Batches(digits.train, BATCH, shuffle=True)
    orders = [rows for epoch in range(EPOCHS) for rows in batches.order(epoch)]
    return [step for step, rows in enumerate(orders, 1) if (digits.train.labels[rows] == label).any()]


def test_only_batches_with_the_class_are_recorded(recorded: tuple[Classifier, Path], digits: ImageData) -> None:
    wanted = steps_with(digits, 3)
    assert 0 < len(wanted) < EPOCHS * len(Batches(digits.train, BATCH))
    assert sorted(int(path.stem) for path in recorded[1].glob("*.safetensors")) == wanted


def test_the_size_announced_is_the_bytes_of_the_tensors_written(
    recorded: tuple[Classifier, Path], digits: ImageData
) -> None:
    model, folder = recorded
    count, size = recorded_size(Batches(digits.train, BATCH, shuffle=True), [3], EPOCHS, model)
    files = list(folder.glob("*.safetensors"))
    written = sum(
        tensor.numel() * tensor.element_size() for path in files for tensor in read_weights_file(path).tensors.values()
    )
    assert (count, size) == (len(files), written)


def take_steps(recorder: UpdateRecorder, model: nn.Linear, labels: list[list[int]]) -> None:
    """Add 1, 2, 3 … to all weights, step by step."""
    recorder.start(model)
    for step, y in enumerate(labels, 1):
        with torch.no_grad():
            for weight in model.parameters():
                weight.add_(step)
        recorder.after_step(step, model, torch.tensor(y))
    recorder.finish(model)


def test_an_update_is_the_change_of_its_step_alone(tmp_path: Path) -> None:
    model = nn.Linear(2, 2)
    take_steps(UpdateRecorder(tmp_path, [1]), model, [[0, 1], [0, 0], [1, 1]])
    changes = [update["bias"].mean().item() for update in recorded_updates(tmp_path, model, [1])]
    assert changes == pytest.approx([1, 3], abs=1e-5)


def test_each_class_gets_back_its_own_batches(tmp_path: Path) -> None:
    model = nn.Linear(2, 3)
    take_steps(UpdateRecorder(tmp_path, [1, 2]), model, [[0, 1], [2, 0], [1, 2], [0]])

    def changes(*classes: int) -> list[int]:
        return [round(update["bias"].mean().item()) for update in recorded_updates(tmp_path, model, classes)]

    assert (changes(1), changes(2), changes(1, 2)) == ([1, 3], [2, 3], [1, 2, 3])


def test_the_folder_says_whose_updates_it_holds(tmp_path: Path) -> None:
    model = nn.Linear(2, 2)
    take_steps(UpdateRecorder(tmp_path, [1]), model, [[1]])
    assert json.loads((tmp_path / "updates.json").read_text()) == {"classes": [1], "weights": weights_digest(model)}
    with safe_open(tmp_path / "00000001.safetensors", framework="pt") as file:
        assert json.loads(file.metadata()["classes"]) == [1]


def test_updates_left_by_a_killed_run_are_never_taken_for_ours(tmp_path: Path) -> None:
    killed = UpdateRecorder(tmp_path, [1])
    killed.finish = lambda model: None  # type: ignore[method-assign]
    take_steps(killed, nn.Linear(2, 2), [[1], [1], [1], [1]])
    model = nn.Linear(2, 2)
    take_steps(UpdateRecorder(tmp_path, [1]), model, [[0], [1], [0]])
    assert len(list(recorded_updates(tmp_path, model, [1]))) == 1


def test_a_run_resumed_at_its_end_keeps_what_it_recorded(tmp_path: Path) -> None:
    model = nn.Linear(2, 2)
    take_steps(UpdateRecorder(tmp_path, [1]), model, [[1], [1]])
    take_steps(UpdateRecorder(tmp_path, [1]), model, [])
    assert len(list(recorded_updates(tmp_path, model, [1]))) == 2


def test_a_folder_with_updates_is_not_recorded_into_again(recorded: tuple[Classifier, Path]) -> None:
    with pytest.raises(InputError, match="holds recorded updates already"):
        prepare_recording(recorded[1], 0)


def test_recording_needs_room_on_the_disk(tmp_path: Path) -> None:
    prepare_recording(tmp_path / "new", 1)
    with pytest.raises(InputError, match=r"no space left.*are needed"):
        prepare_recording(tmp_path / "new", 1 << 62)
    assert not (tmp_path / "new").exists()


class Named(nn.Module):
    """A network of somebody's own that returns its logits in a dict."""

    def __init__(self) -> None:
        super().__init__()
        self.layer = nn.Linear(4, 3)

    def forward(self, x: Tensor) -> dict[str, Tensor]:
        return {"logits": self.layer(x.flatten(1))}


@pytest.mark.parametrize("wrap", [lambda model: model, nn.DataParallel], ids=["bare", "wrapped"])
def test_a_script_of_ones_own_records_what_amnesiac_takes_back(wrap, tmp_path: Path) -> None:
    model = Named()
    start = [weight.detach().clone() for weight in model.parameters()]
    recorder = UpdateRecorder(str(tmp_path / "updates"), [1], wrap(model))
    for step in (1, 2):
        with torch.no_grad():
            for weight in model.parameters():
                weight.add_(torch.rand_like(weight))
        recorder.after_step(step, wrap(model), torch.tensor([0, 1]))
    recorder.finish(wrap(model))
    images = torch.utils.data.TensorDataset(torch.rand(12, 1, 2, 2), torch.arange(12) % 3)
    updates = str(tmp_path / "updates")
    found = unclass.forget(model, images, [1], "amnesiac", updates=updates, repair_epochs=0)
    assert isinstance(found, Named)
    for weight, expected in zip(found.parameters(), start, strict=True):
        torch.testing.assert_close(weight.detach(), expected, rtol=0, atol=1e-6)


def test_a_script_that_forgets_to_give_the_model_or_a_free_folder_is_told(tmp_path: Path) -> None:
    model = nn.Linear(2, 2)
    with pytest.raises(InputError, match="give the model to UpdateRecorder before the first step"):
        UpdateRecorder(tmp_path, [1]).after_step(1, model, torch.tensor([1]))
    with pytest.raises(InputError, match="give their indices"):
        UpdateRecorder(tmp_path, ["deer"], model)  # type: ignore[list-item]
    take_steps(UpdateRecorder(tmp_path, [1]), model, [[1]])
    with pytest.raises(InputError, match="holds recorded updates already"):
        UpdateRecorder(tmp_path, [1], model)


def damage(path: Path, how: str) -> None:
    """Spoil a recorded update as a disk or somebody else might."""
    weight, metadata = {"weight": torch.ones(2, 2), "bias": torch.ones(2)}, {"classes": "[1]"}
    if how == "cut":
        path.write_bytes(path.read_bytes()[:-1])
    elif how == "a pipe":
        path.unlink()
        os.mkfifo(path)
    elif how == "of nobody":
        save_tensors(weight, path)
    elif how == "of another network":
        save_tensors(weight | {"bias": torch.ones(3)}, path, metadata)
    elif how == "of other names":
        save_tensors(weight | {"other": torch.ones(3)}, path, metadata)
    elif how == "infinite":
        save_tensors(weight | {"bias": torch.full((2,), torch.inf)}, path, metadata)


@pytest.mark.parametrize("how", ["cut", "a pipe", "of nobody", "of another network", "of other names", "infinite"])
def test_an_update_that_is_damaged_is_one_line(tmp_path: Path, how: str) -> None:
    model = nn.Linear(2, 2)
    take_steps(UpdateRecorder(tmp_path, [1]), model, [[0, 1]])
    damage(tmp_path / "00000001.safetensors", how)
    with pytest.raises(InputError, match=r"00000001.safetensors"):
        list(recorded_updates(tmp_path, model, [1]))
