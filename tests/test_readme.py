"""What the README prints works as printed: its lines of Python, and its commands one after the other."""

import re
import shlex
from functools import partial
from pathlib import Path

import pytest
import torch
import torch.nn.functional as F
from PIL import Image
from safetensors.torch import save_file
from torch import nn
from torch.utils.data import DataLoader, TensorDataset

import unclass
from fenced import blocks, commands
from unclass.cli import run
from unclass.data import Batches, ImageData
from unclass.models import Classifier

README = (Path(__file__).parents[1] / "README.md").read_text(encoding="utf-8")
OWN = README.split("## A model of your own")[1].split("\n## ")[0]
PEOPLE = ["n000001", "n000002", "n000123", "n000456"]
COLOURS = torch.tensor([[120, 0, 0], [0, 120, 0], [0, 0, 120], [90, 90, 0]], dtype=torch.uint8)
IMAGENET = torch.tensor([[0.485, 0.456, 0.406], [0.229, 0.224, 0.225]]).view(2, 1, 3, 1, 1)


def loader(images: unclass.data.ImageSet) -> DataLoader:
    return DataLoader(TensorDataset(*next(iter(Batches(images, len(images))))), batch_size=32)


def test_the_lines_of_python_forget_a_class_of_any_model(trained: Classifier, digits: ImageData, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    before = {name: tensor.clone() for name, tensor in trained.state_dict().items()}
    names = {"model": trained, "loader": loader(digits.train), "test_loader": loader(digits.test)}
    exec(blocks(OWN, "python")[0], names)
    assert unclass.evaluate(names["forgotten"], loader(digits.test), classes=3).accuracy_forget_test == 0
    assert torch.load("forgotten.pt").keys() == before.keys()
    assert all(torch.equal(tensor, before[name]) for name, tensor in trained.state_dict().items())


@pytest.fixture
def place(torchvision, tmp_path, monkeypatch):
    """A folder as the README supposes it: a timm model's weights, pictures of people, one person's by themselves.

    The ResNet-18 is a quarter as wide as timm's.
    """
    timm = pytest.importorskip("timm")
    monkeypatch.setattr(timm, "create_model", partial(timm.create_model, channels=(16, 32, 64, 128)))
    monkeypatch.chdir(tmp_path)
    torch.manual_seed(0)
    for place, name in enumerate(PEOPLE):
        for part, count in (("train", 16), ("test", 8)):
            (tmp_path / "photos" / part / name).mkdir(parents=True)
            for number in range(count):
                picture = torch.randint(0, 120, (16, 16, 3), dtype=torch.uint8)
                picture[2 : 14 - place, 2:14] += COLOURS[place]
                Image.fromarray(picture.numpy()).save(tmp_path / "photos" / part / name / f"{number}.png")
    (tmp_path / "his-photos").symlink_to(tmp_path / "photos" / "train" / "n000456")
    save_file(trained_on(unclass.load_data("folder:photos"), timm).state_dict(), "model.safetensors")


def trained_on(data: ImageData, timm) -> nn.Module:
    network = timm.create_model("resnet18", num_classes=len(PEOPLE))
    optimiser = torch.optim.SGD(network.parameters(), lr=0.01, momentum=0.9)
    for epoch in range(6):
        for x, y in Batches(data.train, 16, shuffle=True, seed=epoch):
            optimiser.zero_grad()
            F.cross_entropy(network((x - IMAGENET[0]) / IMAGENET[1]), y).backward()
            optimiser.step()
    return network.eval()


def test_the_commands_work_one_after_the_other_as_printed(place, capsys):
    lines = commands(OWN)
    assert [words[:2] for words in lines] == [["unclass", name] for name in ("doctor", "forget", "audit", "forget")]
    for command in lines:
        allowed = (0, 1, 3) if command[1] == "audit" else (0,)  # an audit may find something
        assert run(command[1:]) in allowed, f"{shlex.join(command)}\n{capsys.readouterr().err}"
    assert unclass.load("forgotten-both.safetensors").card.forgotten == ("n000123", "n000456")
    assert Path("audit/report.html").is_file()


def test_the_table_has_at_most_eight_rows_and_no_word_of_the_trade():
    table = README.split("<!-- results")[1]
    rows = [line for line in table.splitlines() if line.startswith("|")]
    assert 3 <= len(rows) - 2 <= 8
    assert not re.search(r"\bD_|\bASR\b", README)


def test_everything_that_it_links_to_is_there():
    links = [link.partition("#")[0] for link in re.findall(r"\]\(([^)]+)\)", README) if "://" not in link]
    assert links and all((Path(__file__).parents[1] / link).exists() for link in links)


def test_it_is_a_three_minute_read():
    prose = re.sub(r"```.*?```|<!--.*?-->|^\|.*?$", "", README, flags=re.S | re.M)
    assert len(prose.split()) <= 750  # 250 words a minute
