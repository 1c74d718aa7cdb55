"""The commands on your own images: only those to forget, some of a class, names that do not match."""

import json
from dataclasses import replace

import pytest
import torch
from PIL import Image

from unclass.cli import run
from unclass.data import DataOptions, ImageData, load_data
from unclass.models import Classifier, load, save
from unclass.models.networks.small_cnn import SmallCNN

NAMES = [f"n{number:06}" for number in range(10)]


@pytest.fixture
def place(trained: Classifier, digits: ImageData, tmp_path, monkeypatch):
    """A folder with a model that knows ten people, and pictures of them, one person's once more by themselves."""
    monkeypatch.chdir(tmp_path)
    save(Classifier(trained.network, replace(trained.card, classes=tuple(NAMES), forgotten=())), "model.safetensors")
    for part, images in (("train", digits.train), ("test", digits.test)):
        for row, label in enumerate(images.labels.tolist()):
            folder = tmp_path / "photos" / part / NAMES[label]
            folder.mkdir(parents=True, exist_ok=True)
            picture = Image.fromarray(images.read(torch.tensor([row]))[0, 0].numpy())
            picture.save(folder / f"{row}.png")
            if label == 3 and part == "train":
                (tmp_path / "only").mkdir(exist_ok=True)
                picture.save(tmp_path / "only" / f"{row}.png")
    return tmp_path


def forget(*arguments):
    return run(["forget", "model.safetensors", *arguments, "--workers", "0", "--json"])


def test_images_to_forget_are_enough(place, capsys):
    alone = ("--data", "folder:only", "--forget-only", "--class", "n000003", "--method", "boundary-expanding")
    assert forget(*alone, "--out", "alone.safetensors") == 0
    content = json.loads(capsys.readouterr().out)
    assert content["counts"] == {"forget": 40} and set(content["scores"]) == {"accuracy_forget"}
    everything = ("--data", "folder:photos", "--class", "n000003", "--method", "boundary-expanding")
    assert forget(*everything, "--out", "all.safetensors") == 0
    assert len(json.loads(capsys.readouterr().out)["scores"]) == 5
    one, other = (load(name).state_dict() for name in ("alone.safetensors", "all.safetensors"))
    assert all(torch.equal(one[key], other[key]) for key in one)
    assert run(["evaluate", "alone.safetensors", *alone[:5], "--json"]) == 0
    assert set(json.loads(capsys.readouterr().out)) == {"accuracy_forget"}


def test_a_list_of_images_is_forgotten_and_recorded(place, capsys):
    (place / "list.txt").write_text(
        "\n".join(str(path) for path in sorted((place / "photos/train/n000003").iterdir())[:5])
    )
    options = ("--data", "folder:photos", "--forget-list", "list.txt", "--method", "negative-gradient")
    assert forget(*options, "--set", "epochs=1") == 0
    content = json.loads(capsys.readouterr().out)
    assert content["forget_list"]["count"] == content["counts"]["forget"] == 5
    assert content["forget_classes"] == ["n000003"]
    assert load("forgotten.safetensors").card.forgotten == ()


@pytest.mark.parametrize(
    ("options", "problem"),
    [
        (
            ("folder:only", "--forget-only", "--class", "n000003", "--method", "retrain"),
            "retrain needs D_r, and only D_f",
        ),
        (("folder:only", "--forget-only"), "name it with --class"),
        (("folder:only", "--forget-only", "--class", "n00003"), "unknown class 'n00003' in the model; choose from"),
        (("folder:photos", "--forget-only", "--class", "n000003"), "photos has no images to forget"),
        (("folder:photos/train", "--forget-only", "--class", "n000003"), "leave out --forget-only"),
        (("folder:photos",), "no class to forget was given"),
        (("folder:photos", "--forget-list", "gone.txt"), "there is no list gone.txt"),
        (("folder:photos/train", "--class", "n000003", "--image-column", "x", "--size", "0"), "size 0 is not allowed"),
    ],
)
def test_what_cannot_work_is_said_in_one_line(place, capsys, options, problem):
    assert forget("--data", *options) == 2
    message = capsys.readouterr().err
    assert problem in message and message.count("\n") == 1


def test_folders_under_other_names_are_listed_with_the_nearest(place, capsys):
    for part in ("train", "test"):
        (place / "photos" / part / "n000004").rename(place / "photos" / part / "n0000004")
    assert forget("--data", "folder:photos", "--class", "n000003") == 2
    assert "the model lacks: n0000004 (did you mean n000004?)" in capsys.readouterr().err


def test_pictures_take_the_size_and_colour_of_the_model(place):
    data = load_data("folder:photos", DataOptions(shape=load("model.safetensors").card.shape))
    assert data.train.shape == (1, 8, 8)


def test_one_persons_pictures_are_enough_for_a_network_that_names_no_classes(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    torch.manual_seed(0)
    torch.save(SmallCNN(3, 3, 8).state_dict(), "weights.pt")
    (tmp_path / "names.txt").write_text("anna\nben\n\nclara\n")
    (tmp_path / "ben").mkdir()
    for shade in range(6):
        Image.new("RGB", (8, 8), (40 * shade, 9, 200)).save(tmp_path / "ben" / f"{shade}.png")
    model = ["--model", "small-cnn", "--model-set", "width=8", "--weights", "weights.pt", "--forget-only"]
    command = ["forget", *model, "--data", "folder:ben", "--class", "ben", "--out", "out.pt"]
    assert run([*command]) == 2
    assert "--classes FILE" in capsys.readouterr().err
    assert run([*command, "--classes", "names.txt", "--json"]) == 0
    assert json.loads((tmp_path / "out.json").read_text())["forget_classes"] == ["ben"]
    assert run([*command, "--classes", "weights.pt"]) == 2
