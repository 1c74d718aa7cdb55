"""What people get wrong, each with one line that says what was given and what to do. Files stay as they were.

The command line is asked wherever it can be given such a thing, Python otherwise.
"""

from dataclasses import replace

import numpy as np
import pytest
import torch
from PIL import Image
from safetensors.torch import load_file, save_file
from torch import nn
from torch.utils.data import DataLoader, Dataset, TensorDataset

import unclass
from unclass.cli import run
from unclass.data import ImageData, ImageSet
from unclass.errors import InputError
from unclass.models import Card, build, load, save
from unclass.models.networks.small_cnn import SmallCNN
from unclass.models.weights_file import read_weights_file

NAMES = ("cat", "dog", "emu", "fox")
PICTURES = torch.rand(16, 1, 8, 8, generator=torch.Generator().manual_seed(0))
LABELS = torch.arange(16) % 4

OWN_CODE = """
from torch import nn

class Flat(nn.Module):
    def __init__(self):
        super().__init__()
        self.layer = nn.Linear(192, 4)

    def forward(self, x):
        return self.layer(x.flatten(1)).flatten()

def with_batch_norm():
    return nn.Sequential(nn.Flatten(), nn.Linear(192, 8), nn.BatchNorm1d(8), nn.Linear(8, 4))
"""


@pytest.fixture
def place(tmp_path, monkeypatch):
    """A folder of four classes with five colour pictures each, and a model of them."""
    monkeypatch.chdir(tmp_path)
    random = np.random.default_rng(0)
    for name in NAMES:
        (tmp_path / "photos" / name).mkdir(parents=True)
        for number in range(5):
            pixels = random.integers(0, 255, (8, 8, 3), dtype=np.uint8)
            Image.fromarray(pixels).save(tmp_path / "photos" / name / f"{number}.png")
    torch.manual_seed(0)
    save(build(Card("small-cnn", NAMES, (3, 8, 8), {"width": 4})), tmp_path / "model.safetensors")
    return tmp_path


@pytest.fixture
def failing(place, capsys):
    """Run a command that must fail with exit code 2 and one line, which is returned."""

    def fail(*arguments, command="forget", model="model.safetensors", data="folder:photos"):
        given = [command, *([model] if model else []), "--data", data, "--class", "cat", "--workers", "0"]
        code = run([*given, *arguments])
        found = capsys.readouterr()
        assert code == 2 and found.out == ""
        assert found.err.startswith("error: ") and found.err.count("\n") == 1, found.err
        assert not list(place.glob("forgotten*"))
        return found.err

    return fail


def forget(network, data, method="boundary-shrink", **options):
    return unclass.forget(network, data, [3], method, engine=unclass.Engine(precision="float32"), **options)


def data_of(pictures):
    """The same pictures for training and test, as bytes."""
    images = ImageSet.of((255 * pictures).to(torch.uint8), LABELS)
    return ImageData("pictures", NAMES, images, images, {})


def test_a_model_that_returns_the_wrong_shape(failing, place):
    (place / "own.py").write_text(OWN_CODE)
    message = failing("--model", "own:Flat", model=None)
    assert "returned a tensor of shape (8,) for 2 images; it must return one row of logits for each image" in message


@pytest.mark.parametrize("command", ["forget", "evaluate"])
def test_a_class_count_that_disagrees_with_the_labels(failing, place, command):
    lines = [f"photos/{name}/{number}.png,{3 * index}" for index, name in enumerate(NAMES) for number in range(5)]
    (place / "list.csv").write_text("path,label\n" + "\n".join(lines))
    message = failing(command=command, data="csv:list.csv")
    assert "has labels up to 9, the model has 4 classes only" in message


@pytest.mark.parametrize("images", [TensorDataset(PICTURES, LABELS), data_of(PICTURES)], ids=["Dataset", "ImageData"])
@pytest.mark.parametrize("count", [3, 6])
def test_a_network_with_another_class_count_than_the_labels(images, count):
    if isinstance(images, ImageData) or count < 4:
        with pytest.raises(InputError, match=rf"(model|data) .*{count}|{count} outputs"):
            forget(SmallCNN(count, width=4), images)
    else:  # whole numbers are indices of the model's classes, and not all of them need be there
        assert forget(SmallCNN(count, width=4), images).head.out_features == count


@pytest.mark.parametrize("command", ["forget", "evaluate"])
def test_weights_that_are_not_finite(failing, place, command):
    weights, card = load_file("model.safetensors"), read_weights_file(place / "model.safetensors").metadata
    weights["head.weight"][0, 0] = torch.nan
    save_file(weights, "model.safetensors", card)
    message = failing(command=command)
    assert "model.safetensors" in message and "not finite" in message and "head.weight" in message


@pytest.mark.parametrize("key", ["head.weight", "blocks.0.bn.running_var"])
def test_a_network_whose_weights_are_not_finite(key):
    network = SmallCNN(4, width=4)
    key = key if key in network.state_dict() else next(name for name in network.state_dict() if "running_var" in name)
    network.state_dict()[key].view(-1)[0] = torch.inf
    for act in (forget, lambda network, data: unclass.evaluate(network, data, [3])):
        with pytest.raises(InputError, match=rf"not finite \({key}\).*give an earlier checkpoint"):
            act(network, data_of(PICTURES))


class Sizes(Dataset):
    """Pictures that a transform leaves in the sizes that it likes."""

    def __init__(self, *sizes):
        self.sizes, self.targets = sizes, LABELS.tolist()

    def __len__(self):
        return len(self.targets)

    def __getitem__(self, index):
        return torch.rand(1, 8, self.sizes[index % len(self.sizes)]), self.targets[index]


def test_a_transform_that_changes_the_size():
    network = nn.Sequential(nn.Flatten(), nn.Linear(64, 4))
    with pytest.raises(InputError, match=r"cannot take images of 1 × 8 × 9 .*transform them as in training"):
        forget(network, Sizes(9))
    with pytest.raises(InputError, match=r"cannot take images of 1 × 8 × 9 .*transform them as in training"):
        forget(network, data_of(torch.rand(16, 1, 8, 9)))


@pytest.mark.parametrize("wrap", [lambda data: data, lambda data: DataLoader(data, 4)], ids=["Dataset", "DataLoader"])
def test_images_of_different_sizes_in_a_dataset(wrap):
    with pytest.raises(InputError, match=r"images of different sizes: 1 × 8 × 8 and 1 × 8 × 9; let the transform"):
        forget(SmallCNN(4, width=4), wrap(Sizes(8, 8, 8, 8, 8, 8, 8, 9, 9)), "retrain", epochs=1)


def test_files_of_different_sizes_are_brought_to_the_models(place):
    for number, path in enumerate((place / "photos").rglob("*.png")):
        Image.open(path).resize((5 + number, 30 - number)).save(path)
    assert run(["evaluate", "model.safetensors", "--data", "folder:photos", "--class", "cat", "--workers", "0"]) == 0


def test_grey_images_for_a_colour_model(failing, place):
    torch.manual_seed(0)
    colour = build(Card("small-cnn", tuple("0123456789"), (3, 8, 8), {"width": 4}))
    save(colour, place / "colour.safetensors")
    message = failing("--class", "3", model="colour.safetensors", data="digits")
    assert "takes pictures of 3 colour channels, digits has 1; give the data that it was trained on" in message
    for images in (TensorDataset(PICTURES, LABELS), data_of(PICTURES)):
        with pytest.raises(InputError, match=r"cannot take images of 1 × 8 × 8 .*3 channels.*transform them"):
            forget(SmallCNN(4, channels=3, width=4), images)


def test_grey_files_become_colour_where_the_model_takes_colour(place):
    for path in (place / "photos").rglob("*.png"):
        Image.open(path).convert("L").save(path)
    assert run(["evaluate", "model.safetensors", "--data", "folder:photos", "--class", "cat", "--workers", "0"]) == 0


def test_corrupted_images(failing, place, capsys):
    (place / "photos/cat/3.png").write_bytes(b"not a picture")
    whole = (place / "photos/dog/1.png").read_bytes()
    (place / "photos/dog/1.png").write_bytes(whole[: len(whole) // 2])
    message = failing()
    assert "2 of 20 images cannot be read: cat/3.png, dog/1.png; repair them or add --skip-bad" in message
    skipping = ["--data", "folder:photos", "--class", "cat", "--workers", "0", "--skip-bad"]
    assert run(["evaluate", "model.safetensors", *skipping]) == 0


def test_label_names_that_do_not_match(failing, place):
    (place / "photos/emu").rename(place / "photos/emus")
    message = failing()
    assert "has classes that the model lacks: emus (did you mean emu?); it has: cat, dog, emu, fox" in message


def test_a_batch_of_one_with_batch_norm(failing, place):
    (place / "own.py").write_text(OWN_CODE)
    options = ("--model", "own:with_batch_norm", "--method", "finetune", "--batch-size", "1")
    message = failing(*options, model=None)
    assert "batch norm was given one image and needs two; add images or raise --batch-size" in message


@pytest.mark.parametrize("kind", [torch.int64, torch.int16, torch.bool])
def test_images_of_whole_numbers_that_are_no_bytes(kind):
    images = TensorDataset((255 * PICTURES).to(kind), LABELS)
    for data in (images, DataLoader(images, 4)):
        with pytest.raises(InputError, match=rf"images are of type {kind}; give .* floating point, or uint8 pixels"):
            forget(SmallCNN(4, width=4), data)


def test_images_of_bytes_are_pixels():
    torch.manual_seed(0)
    network = SmallCNN(4, width=4)
    pixels = (255 * PICTURES).to(torch.uint8)
    one = unclass.evaluate(network, TensorDataset(pixels, LABELS), [3])
    assert one == unclass.evaluate(network, TensorDataset(pixels.float() / 255, LABELS), [3])


def test_a_model_that_was_opened_with_wrong_class_names_keeps_its_file(failing, place):
    before = load("model.safetensors")
    save(replace_classes(before, ("cat", "dog", "emu", "yak")), place / "model.safetensors")
    assert "fox" in failing() and load("model.safetensors").card.classes[3] == "yak"


def replace_classes(model, names):
    model.card = replace(model.card, classes=names)
    return model
