"""The commands on your own images: only those to forget, some of a class, names that do not match."""

import json
from dataclasses import replace

import pytest
import torch
from PIL import Image

import unclass
from unclass.checkup import worst
from unclass.cli import run
from unclass.data import DataOptions, ImageData, load_data
from unclass.errors import InputError
from unclass.models import Classifier, load, save
from unclass.models.networks.small_cnn import SmallCNN
from unclass.models.origins import make_network

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
    assert "give its index, or --classes FILE" in capsys.readouterr().err
    assert run([*command, "--classes", "names.txt", "--json"]) == 0
    assert json.loads((tmp_path / "out.json").read_text())["forget_classes"] == ["ben"]
    assert run([*command, "--classes", "weights.pt"]) == 2


CLASSES = 7
FACTORY = """
from torch import nn
def tiny(num_classes=2):
    pooled = nn.AdaptiveAvgPool2d(1), nn.Flatten()
    return nn.Sequential(nn.Conv2d(3, 4, 3), nn.ReLU(), *pooled, nn.Linear(4, num_classes))
def of_seven():
    return tiny(7)
"""


def weights_of(spec: str) -> dict[str, torch.Tensor]:
    state = make_network(spec, CLASSES, (3, 32, 32), {}).state_dict()
    return {key: tensor.clone() for key, tensor in state.items()}


@pytest.mark.parametrize(
    "spec",
    ["timm:resnet10t", "torchvision:squeezenet1_1", "people_factory:tiny", "people_factory:of_seven", "small-cnn"],
)
def test_a_class_is_named_by_its_index_where_nobody_knows_the_names(spec, request, tmp_path, monkeypatch, capsys):
    if spec.startswith(("timm", "torchvision")):
        request.getfixturevalue("torchvision")
    monkeypatch.chdir(tmp_path)
    (tmp_path / "people_factory.py").write_text(FACTORY)
    torch.manual_seed(0)
    state = SmallCNN(CLASSES, 3).state_dict() if spec == "small-cnn" else weights_of(spec)
    torch.save({"state_dict": {f"module.{key}": tensor for key, tensor in state.items()}}, "weights.pt")
    people_in = tmp_path / "photos" / "ben"
    people_in.mkdir(parents=True)
    for shade in range(4):
        Image.new("RGB", (32, 32), (40 * shade, 9, 200)).save(people_in / f"{shade}.png")
    command = ["forget", "--model", spec, "--weights", "weights.pt", "--forget-only", "--method", "logit-mask"]
    for data in ("folder:photos/ben", "folder:photos"):
        assert run([*command, "--data", data, "--class", "5", "--out", "out.pt", "--force"]) == 0, capsys.readouterr()
        record = json.loads((tmp_path / "out.json").read_text())
        assert record["forget_classes"] == ["5"] and len(record["data"]["classes"]) == CLASSES
        assert record["data"]["train"]["count"] == 4
    capsys.readouterr()
    assert run([*command, "--data", "folder:photos", "--class", "7", "--out", "out.pt", "--force"]) == 2
    assert "model's 7 outputs" in capsys.readouterr().err
    doctor = ["doctor", *command[1:-2], "--data", "folder:photos/ben", "--class", "5"]
    assert run(doctor) == 0, capsys.readouterr()


def test_a_folder_of_one_persons_pictures_is_enough_in_python_too(tmp_path):
    torch.manual_seed(0)
    network = SmallCNN(6, 3, 8).eval()
    for shade in range(4):
        Image.new("RGB", (8, 8), (40 * shade, 9, 200)).save(tmp_path / f"{shade}.png")
    for data in (tmp_path, f"folder:{tmp_path}"):
        found = unclass.forget(network, data, 4, "logit-mask", forget_only=True)
        assert unclass.evaluate(found, data, 4, forget_only=True).accuracy_forget == 0.0
        assert worst(unclass.doctor(network, data, 4, forget_only=True)) != "wrong"
    with pytest.raises(InputError, match="model's 6 outputs"):
        unclass.forget(network, tmp_path, 6, "logit-mask", forget_only=True)
    with pytest.raises(InputError, match="'ben' is unknown; give its index"):
        unclass.forget(network, tmp_path, "ben", "logit-mask", forget_only=True)


def test_a_path_says_what_kind_of_data_it_is(tmp_path):
    for name in ("a", "b"):
        (tmp_path / name).mkdir()
        for shade in range(2):
            Image.new("RGB", (8, 8), (40 * shade, 9, 200)).save(tmp_path / name / f"{shade}.png")
    listed = "path,label\n" + "".join(f"{name}/{shade}.png,{name}\n" for name in "ab" for shade in range(2))
    (tmp_path / "list.csv").write_text(listed)
    assert load_data(tmp_path).classes == load_data(tmp_path / "list.csv").classes == ("a", "b")
    with pytest.raises(InputError, match="no data; give a folder of images"):
        load_data(tmp_path / "a" / "0.png")
