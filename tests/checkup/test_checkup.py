"""The doctor finds what is wrong before a long run, says what to do, and changes nothing."""

import json
from dataclasses import replace
from pathlib import Path

import pytest
import torch
from consulting import by_check, consult
from PIL import Image
from torch import Tensor, nn

import unclass
from unclass.checkup import Finding, worst
from unclass.cli import run
from unclass.data import Batches, ImageData
from unclass.errors import InputError
from unclass.models import Classifier, save, weights_digest
from unclass.models.networks.small_cnn import SmallCNN


class TwoHeads(nn.Module):
    """The mean of two linear layers: either could be the head, neither gives the logits."""

    def __init__(self) -> None:
        super().__init__()
        self.one, self.other = nn.Linear(64, 10), nn.Linear(64, 10)

    def forward(self, x: Tensor) -> Tensor:
        return (self.one(x.flatten(1)) + self.other(x.flatten(1))) / 2


class Branching(SmallCNN):
    """Takes a way that depends on the picture, so that it cannot be traced."""

    def forward(self, x: Tensor) -> Tensor:
        return super().forward(x if x.sum() > 0 else -x)


def test_a_model_that_fits_its_data_passes_and_is_left_as_it_was(trained: Classifier, digits: ImageData) -> None:
    before, mode = weights_digest(trained), trained.training
    gradients = [weight.grad for weight in trained.parameters()]
    found = consult(trained, digits)
    assert {finding.status for finding in found.values()} == {"good"}, found
    assert "head: 10 × 16, linear" in found["head"].says
    assert "3: 40 training" in found["class to forget"].says
    assert {"weights", "images", "size", "outputs", "batch norm", "cut", "normalisation", "accuracy"} <= set(found)
    assert {"method", "memory", "time"} <= set(found)
    assert weights_digest(trained) == before and trained.training == mode
    assert all(weight.grad is old for weight, old in zip(trained.parameters(), gradients, strict=True))


def test_weights_that_are_no_numbers_are_named_and_end_the_visit(model: Classifier, digits: ImageData) -> None:
    with torch.no_grad():
        next(model.parameters())[0] = float("nan")
    found = consult(model, digits)
    assert list(found) == ["weights"] and found["weights"].status == "wrong"
    assert next(iter(dict(model.named_parameters()))) in found["weights"].says


def test_weights_that_may_not_change_are_found(model: Classifier, digits: ImageData) -> None:
    assert consult(model.requires_grad_(False), digits)["weights"].status == "wrong"


def test_another_number_of_outputs_is_found(digits: ImageData, trained: Classifier) -> None:
    assert "9 outputs, the data 10 classes" in consult(SmallCNN(9, width=4), digits)["classes"].says
    found = consult(Classifier(SmallCNN(9, width=4), trained.card), digits)["outputs"]
    assert found.status == "wrong" and found.says == "9 for 10 classes"


def test_several_heads_are_listed_and_matter_only_to_methods_that_need_one(digits: ImageData) -> None:
    torch.manual_seed(0)
    found = consult(TwoHeads(), digits)["head"]
    assert found.status == "wrong" and "one, other" in found.says and "`head`" in found.advice
    assert consult(TwoHeads(), digits, method="finetune")["head"].status == "doubtful"
    assert consult(TwoHeads(), digits, head="other")["head"].status == "good"


def test_a_network_that_cannot_be_traced_is_cut_all_the_same(digits: ImageData) -> None:
    found = consult(Branching(10, width=4), digits)["cut"]
    assert found.status == "good" and "of the weights are trained" in found.says
    assert "cut" not in consult(Branching(10, width=4), digits, method="random-labels")


def test_a_network_without_a_place_to_cut_is_trained_whole(digits: ImageData) -> None:
    found = consult(nn.Sequential(nn.Flatten(), nn.Linear(64, 10)), digits)["cut"]
    assert found.status == "doubtful" and "all of it is trained" in found.says


def test_a_class_that_is_not_there_is_found_with_the_nearest(trained: Classifier, digits: ImageData) -> None:
    found = consult(trained, digits, ["33"])["class to forget"]
    assert found.status == "wrong" and "unknown class '33'" in found.says and "did you mean 3?" in found.advice
    assert consult(trained, digits, [])["class to forget"].status == "doubtful"


def test_what_a_method_needs_must_be_there(trained: Classifier, digits: ImageData) -> None:
    only = replace(digits, train=digits.train.of_classes([3]), test=digits.test.of_classes(()))
    found = consult(trained, only, forget_only=True, method="finetune")
    assert found["method"].status == "wrong" and "needs D_r" in found["method"].says
    assert consult(trained, only, forget_only=True)["method"].status == "good"
    assert "recorded updates" in consult(trained, digits, method="amnesiac")["method"].says


def test_a_class_that_is_forgotten_already_is_pointed_out(trained: Classifier, digits: ImageData) -> None:
    again = Classifier(trained.network, replace(trained.card, forgotten=("3",)))
    assert "forgotten 3 already" in consult(again, digits)["class to forget"].says


@pytest.fixture
def photos(tmp_path: Path, digits: ImageData, trained: Classifier, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder of digits by name, and a model that knows them by these names."""
    monkeypatch.chdir(tmp_path)
    names = tuple(f"n{index}" for index in range(10))
    for part, images in (("train", digits.train), ("test", digits.test)):
        for row, (x, y) in enumerate(Batches(images.per_class(6, 0), 1)):
            path = tmp_path / "photos" / part / names[int(y[0])] / f"{row}.png"
            path.parent.mkdir(parents=True, exist_ok=True)
            Image.fromarray((255 * x[0, 0]).byte().numpy()).save(path)
    save(Classifier(trained.network, replace(trained.card, classes=names)), "model.safetensors")
    return tmp_path / "photos"


def visit(capsys: pytest.CaptureFixture[str], *more: str) -> tuple[int, dict[str, Finding]]:
    code = run(["doctor", "model.safetensors", "--data", "folder:photos", "--class", "n3", *more, "--json"])
    content = json.loads(capsys.readouterr().out)
    findings = [Finding(**finding) for finding in content["findings"]]
    assert content["status"] == worst(findings)
    return code, by_check(findings)


def test_the_command_prints_a_sign_a_line_and_what_to_do(photos: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["doctor", "model.safetensors", "--data", "folder:photos", "--class", "n3"]) == 0
    text = capsys.readouterr().out
    assert "✓ head" in text and "! class to forget" in text and "→ add images" in text and "✗" not in text


def test_folders_under_other_names_are_found_with_the_nearest(photos: Path, capsys: pytest.CaptureFixture[str]) -> None:
    for part in ("train", "test"):
        (photos / part / "n4").rename(photos / part / "n44")
    code, found = visit(capsys)
    assert code == 1 and "n44 (did you mean n4?)" in found["classes"].says


def test_pictures_that_cannot_be_read_are_named(photos: Path, capsys: pytest.CaptureFixture[str]) -> None:
    broken = min((photos / "test" / "n0").iterdir())
    broken.write_text("no picture")
    code, found = visit(capsys)
    assert code == 1 and found["images"].status == "wrong" and broken.name in found["images"].says
    code, found = visit(capsys, "--skip-bad")
    assert code == 0 and found["images"].status == "doubtful"


def test_a_checkpoint_that_does_not_open_is_a_finding(photos: Path, capsys: pytest.CaptureFixture[str]) -> None:
    Path("model.safetensors").write_bytes(b"hello, world")
    code, found = visit(capsys)
    assert code == 1 and list(found) == ["model"] and "not a whole safetensors file" in found["model"].says


def test_a_size_that_the_model_was_not_made_for_is_doubted(photos: Path, capsys: pytest.CaptureFixture[str]) -> None:
    _, found = visit(capsys, "--size", "16")
    assert found["size"].status == "wrong" and found["size"].advice == "give --size 8"


@pytest.mark.parametrize(
    "arguments, problem",
    [
        (["gone.safetensors", "--data", "digits"], "there is no checkpoint gone.safetensors"),
        (["model.safetensors", "--data", "folder:gone"], "gone is not a folder"),
        (["model.safetensors", "--data", "digitz"], "did you mean digits?"),
        (["model.safetensors", "--data", "folder:photos", "--method", "fishr"], "did you mean fisher?"),
        (["--data", "digits"], "no model was given"),
    ],
)
def test_what_cannot_be_understood_is_bad_input_still(
    photos: Path, capsys: pytest.CaptureFixture[str], arguments: list[str], problem: str
) -> None:
    assert run(["doctor", *arguments]) == 2
    message = capsys.readouterr().err
    assert problem in message and message.count("\n") == 1


def test_a_batch_of_no_images_is_an_error(trained: Classifier, digits: ImageData) -> None:
    with pytest.raises(InputError, match="batch size 0 is not allowed"):
        unclass.doctor(trained, digits, "3", batch_size=0)


def test_an_unknown_option_is_an_error_in_python_too(trained: Classifier, digits: ImageData) -> None:
    with pytest.raises(InputError, match="unknown option"):
        unclass.doctor(trained, digits, ["3"], "finetune", epoch=3)
