"""The doctor finds what is wrong before a long run, says what to do, and changes nothing."""

import json
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
import torch
from PIL import Image
from torch import Tensor, nn
from torch.utils.data import TensorDataset

import unclass
from unclass.checkup import Finding, worst
from unclass.checkup import cost as costs
from unclass.checkup.recognition import clearly_better, reordered
from unclass.checkup.sample import evenly
from unclass.cli import run
from unclass.data import Batches, ImageData, ImageSet, Split
from unclass.errors import InputError
from unclass.methods.finetune import Finetune
from unclass.methods.fisher import Fisher
from unclass.methods.logit_mask import LogitMask
from unclass.models import Classifier, save, weights_digest
from unclass.models.networks.small_cnn import SmallCNN
from unclass.training.engine import Engine


def by_check(findings: Sequence[Finding]) -> dict[str, Finding]:
    assert len({finding.check for finding in findings}) == len(findings)
    return {finding.check: finding for finding in findings}


@pytest.fixture(autouse=True)
def nothing_forgotten(trained: Classifier) -> None:
    """Other tests may have written into the shared network's card."""
    trained.card = replace(trained.card, forgotten=())


def consult(model: nn.Module, data: Any, classes: Sequence[str] = ("3",), **more: Any) -> dict[str, Finding]:
    return by_check(unclass.doctor(model, data, list(classes), engine=Engine(precision="float32"), **more))


def relabelled(data: ImageData, order: Sequence[int]) -> ImageData:
    """The same pictures, with every class called by another's name."""
    parts = {name: replace(part, labels=torch.tensor(order)[part.labels]) for name, part in
             (("train", data.train), ("test", data.test))}  # fmt: skip
    return replace(data, **parts)


class TwoHeads(nn.Module):
    """The mean of two linear layers: either could be the head, neither gives the logits."""

    def __init__(self) -> None:
        super().__init__()
        self.one, self.other = nn.Linear(64, 10), nn.Linear(64, 10)

    def forward(self, x: Tensor) -> Tensor:
        return (self.one(x.flatten(1)) + self.other(x.flatten(1))) / 2


class Shifted(nn.Module):
    """A network that is far off unless its pictures are normalised."""

    def __init__(self, network: nn.Module) -> None:
        super().__init__()
        self.network = network

    def forward(self, x: Tensor) -> Tensor:
        return self.network(torch.where(x.amin(dim=(1, 2, 3), keepdim=True) < 0, x, -9 * x))  # type: ignore[no-any-return]


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


def test_wrong_normalisation_is_told_with_both_accuracies_and_the_option(
    trained: Classifier, digits: ImageData
) -> None:
    card = replace(trained.card, mean=(0.0,), std=(1 / 255,))
    found = consult(Classifier(trained.network, card), digits)["normalisation"]
    assert found.status == "wrong"
    assert found.says.count("%") == 2 and "mean and std of 0.5" in found.says
    assert found.advice == "give `model` small-cnn `mean` 0.5 `std` 0.5"


def test_a_bare_network_is_told_to_normalise_its_images(trained: Classifier, digits: ImageData) -> None:
    found = consult(Shifted(trained.network), digits)["normalisation"]
    assert found.status == "wrong" and found.advice == "normalise the images with mean 0.5 and std 0.5"


def test_what_somebody_normalised_already_is_taken_as_it_is(trained: Classifier, digits: ImageData) -> None:
    x, y = next(iter(Batches(digits.train, len(digits.train))))
    found = consult(trained.network, TensorDataset(2 * x - 1, y))
    assert "done by your own code" in found["normalisation"].says
    assert found["accuracy"].status == "good" and "training images" in found["accuracy"].says
    assert worst(found.values()) == "good"


def test_shuffled_labels_are_told_from_a_model_that_knows_nothing(trained: Classifier, digits: ImageData) -> None:
    order = [(index + 3) % 10 for index in range(10)]
    found = consult(trained, relabelled(digits, order))
    shuffled = found["accuracy"]
    assert found["normalisation"].status == "good"
    assert shuffled.status == "wrong" and "in another order of classes" in shuffled.says
    assert "the model says 7 where the data says 0" in shuffled.says
    torch.manual_seed(0)
    ignorant = Classifier(SmallCNN(10, width=4), trained.card)
    guessing = consult(ignorant, digits)["accuracy"]
    assert guessing.status == "wrong" and "as by guessing (10%)" in guessing.says


def test_two_classes_that_were_swapped_are_named(trained: Classifier, digits: ImageData) -> None:
    found = consult(trained, relabelled(digits, [1, 0, *range(2, 10)]))["accuracy"]
    assert found.status == "wrong"
    assert "the model says 1 where the data says 0, 0 where the data says 1" in found.says


def test_chance_is_never_taken_for_an_order_of_classes() -> None:
    labels = torch.arange(10).repeat(25)
    for seed in range(50):
        seen = torch.randint(10, (250,), generator=torch.Generator().manual_seed(seed))
        assert reordered(labels, seen, 10) is None
    assert reordered(labels, (labels + 1) % 10, 10) == (1.0, {index: (index + 1) % 10 for index in range(10)})
    assert reordered(labels, labels, 10) is None


def test_better_means_clearly_better() -> None:
    all_right, half = torch.ones(100, dtype=torch.bool), torch.arange(100) % 2 == 0
    assert clearly_better(all_right, half) and not clearly_better(half, all_right)
    assert not clearly_better(half, half) and not clearly_better(half, ~half)


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


def test_too_little_memory_is_found(trained: Classifier, digits: ImageData, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(costs, "free_memory", lambda device: 1000)
    found = consult(trained, digits)["memory"]
    assert found.status == "wrong" and "`batch_size`" in found.advice


def test_time_is_reckoned_by_epochs_and_images(split: Split) -> None:
    pace = costs.Pace(images=8, looking=0.01, training=0.1, saved=0.0, tail=0.02, features=4.0)
    assert costs.run_seconds(Finetune(epochs=2), split, pace, 10, 64) == (72.0, 72.0)  # 2 × 360 images of D_r
    assert costs.run_seconds(LogitMask(), split, pace, 10, 64) == (0.0, 0.0)
    assert costs.run_seconds(Fisher(images=5), split, pace, 10, 64)[0] == pytest.approx(5 * 10 * 0.1)
    least, most = costs.run_seconds(unclass.METHODS["boundary-shift"](), split, pace, 10, 64)
    assert 2 * 40 * 0.01 < least < most


def test_kept_bytes_are_those_of_a_layer_by_hand() -> None:
    layer, x = nn.Linear(6, 10), torch.rand(4, 6)
    _, kept = costs._step(layer, x, torch.zeros(4, dtype=torch.long), Engine(precision="float32"))
    # x, the log-probabilities and the labels of each image, and one number of all for the mean.
    assert kept == pytest.approx(4 * 6 + 4 * 10 + 8, abs=4)


def test_a_sample_is_even_over_classes() -> None:
    counts = [3, 500, 100, 40]
    labels = torch.arange(4).repeat_interleave(torch.tensor(counts))
    images = ImageSet.of(torch.zeros(len(labels), 1, 1, 1, dtype=torch.uint8), labels)
    assert evenly(images, 43).labels.bincount().tolist() == [3, 14, 13, 13]
    assert len(evenly(images, 10_000)) == sum(counts)
    many = ImageSet.of(torch.zeros(3000, 1, 1, 1, dtype=torch.uint8), torch.arange(1000).repeat(3))
    found = evenly(many, 64).labels.bincount()
    assert sorted(found[found > 0].tolist()) == [3] * 16


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


def test_an_unknown_option_is_an_error_in_python_too(trained: Classifier, digits: ImageData) -> None:
    with pytest.raises(InputError, match="unknown option"):
        unclass.doctor(trained, digits, ["3"], "finetune", epoch=3)
