"""Models from elsewhere: what the command line opens, and that it writes back what it was given."""

import json
import sys
from pathlib import Path

import pytest
import torch
from safetensors.torch import load_file, save_file

from unclass.cli import run
from unclass.errors import InputError
from unclass.extras import library
from unclass.models import Card, Opening, load, open_model, save
from unclass.models.classifier import Classifier
from unclass.models.origins import IMAGENET, make_network

CODE = """
from unclass.models.networks.small_cnn import SmallCNN
def network(num_classes, width=8):
    return SmallCNN(num_classes, 1, width)
def nothing():
    return 3
"""
DIGITS = tuple("0123456789")
SHRINK = ["--method", "boundary-shrink", "--set", "epochs=1", "--set", "lr=0.01"]
FORGET = ["--data", "digits", "--class", "3", "--per-class", "5", *SHRINK]
GREY, COLOUR = (1, 8, 8), (3, 32, 32)


@pytest.fixture
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """An empty folder to work in, with a module of one's own."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(sys, "path", [*sys.path])
    monkeypatch.delitem(sys.modules, "own_code", raising=False)
    (tmp_path / "own_code.py").write_text(CODE)
    return tmp_path


@pytest.fixture
def vit(torchvision, here: Path) -> Path:
    """A folder as save_pretrained leaves it."""
    transformers = pytest.importorskip("transformers")
    names = {index: name for index, name in enumerate(DIGITS)}
    config = transformers.ViTConfig(
        hidden_size=8, num_hidden_layers=1, num_attention_heads=2, intermediate_size=8, image_size=8, patch_size=4,
        num_channels=1, id2label=names, label2id={name: index for index, name in names.items()},
    )  # fmt: skip
    torch.manual_seed(0)
    transformers.ViTForImageClassification(config).save_pretrained(here / "vit")
    (here / "vit" / "preprocessor_config.json").write_text(json.dumps({"image_mean": [0.3], "image_std": [0.2]}))
    return here / "vit"


def test_own_code_comes_back_in_the_form_of_its_weights(here: Path, trained: Classifier) -> None:
    content = {"state_dict": {f"module.{key}": tensor for key, tensor in trained.network.state_dict().items()}}
    torch.save(content, here / "model.pth")
    model = ["--model", "own_code:network", "--mean", "0.5", "--std", "0.5"]
    assert run(["forget", *model, "--weights", "model.pth", *FORGET, "--no-evaluate"]) == 0
    found = torch.load(here / "forgotten.pth", weights_only=True)["state_dict"]
    assert list(found) == list(content["state_dict"])
    assert any(not torch.equal(found[key], tensor) for key, tensor in content["state_dict"].items())
    assert run(["evaluate", "forgotten.pth", *model, *FORGET[:6]]) == 0
    assert run(["forget", *model, "--weights", "model.pth", "--out", "a.safetensors", *FORGET]) == 2


def test_a_file_may_not_choose_code_to_run(here: Path, trained: Classifier) -> None:
    card = Card("own_code:network", DIGITS, GREY)
    save(Classifier(trained.network, card), here / "evil.safetensors")
    with pytest.raises(InputError, match="a file may not choose to run; if you trust that code, name it: `model` own_"):
        load(here / "evil.safetensors")
    assert "own_code" not in sys.modules
    opened = open_model("own_code:network", here / "evil.safetensors", classes=DIGITS, shape=GREY)
    assert opened.card == card


def test_a_hugging_face_folder_comes_back_as_one_that_transformers_opens(vit: Path) -> None:
    transformers = pytest.importorskip("transformers")
    assert run(["forget", "--model", "hf:vit", "--out", "after", *FORGET, "--no-evaluate"]) == 0
    before, after = (load_file(folder / "model.safetensors") for folder in (vit, vit.parent / "after"))
    assert {key: tensor.shape for key, tensor in before.items()} == {key: one.shape for key, one in after.items()}
    served = transformers.AutoModelForImageClassification.from_pretrained(vit.parent / "after").eval()
    opened = open_model("hf:after", classes=DIGITS, shape=GREY)
    assert opened.card.mean == (0.3,) and opened.card.std == (0.2,) and opened.card.asked == ("3",)
    x = torch.rand(2, 1, 8, 8)
    torch.testing.assert_close(opened(x), served((x - 0.3) / 0.2).logits)
    assert run(["evaluate", "after", *FORGET[:6]]) == 0


def test_timm_brings_its_normalisation_and_takes_the_datas_classes(torchvision, here: Path) -> None:
    timm = pytest.importorskip("timm")
    save_file(timm.create_model("test_efficientnet", num_classes=3).state_dict(), here / "model.safetensors")
    model = open_model("timm:test_efficientnet", here / "model.safetensors", classes=("a", "b", "c"), shape=COLOUR)
    assert (model.card.mean, model.card.std) == IMAGENET and model.card.classes == ("a", "b", "c")
    given = open_model(
        "timm:test_efficientnet", here / "model.safetensors", classes=("a", "b", "c"), shape=COLOUR, mean=(0.1,)
    )
    assert given.card.mean == (0.1,) and given.card.std == IMAGENET[1]
    assert load(save(model, here / "again.safetensors")).card == model.card


def test_torchvision_models_are_opened_by_name(torchvision, here: Path) -> None:
    network = torchvision.models.squeezenet1_1(num_classes=3)
    torch.save(network.state_dict(), here / "model.pt")
    model = open_model("torchvision:squeezenet1_1", here / "model.pt", classes=("a", "b", "c"), shape=COLOUR)
    assert (model.card.mean, model.card.std) == IMAGENET
    with pytest.raises(InputError, match="takes colour pictures"):
        open_model("torchvision:squeezenet1_1", here / "model.pt", classes=("a", "b", "c"), shape=GREY)


@pytest.mark.parametrize(
    ("spec", "said"),
    [
        ("missing_code:network", "missing_code cannot be imported .*timm:NAME"),
        ("own_code:netwrk", r"unknown factory 'netwrk' in own_code.*did you mean network"),
        ("own_code:nothing", "returned a int; it must return a torch.nn.Module"),
        ("own_code:", "unknown model 'own_code:'"),
        ("hf:nowhere", "there is no checkpoint nowhere|no config.json in nowhere"),
        ("timm:test_vit", "comes without trained weights; give them with `weights`"),
        ("small-cnn", "comes without trained weights"),
    ],
)
def test_what_cannot_be_opened_is_said_in_one_line(here: Path, spec: str, said: str) -> None:
    with pytest.raises(InputError, match=said) as error:
        open_model(spec, classes=DIGITS, shape=GREY)
    assert "\n" not in str(error.value)


def test_nothing_is_fetched() -> None:
    with pytest.raises(InputError, match=r"option pretrained .* nothing is fetched"):
        make_network("timm:test_vit", 10, GREY, {"pretrained": True})


def test_a_missing_library_names_its_extra() -> None:
    with pytest.raises(InputError, match=r"not_there is not installed .*pip install 'unclass\[timm\]'"):
        library("not_there", "timm")


def test_a_hugging_face_folder_remembers_what_it_forgot_when_transformers_saves_it_again(vit: Path) -> None:
    transformers = pytest.importorskip("transformers")
    eight = ["8" if word == "3" else word for word in FORGET]
    assert run(["forget", "--model", "hf:vit", "--out", "after", *FORGET, "--no-evaluate"]) == 0
    again = transformers.AutoModelForImageClassification.from_pretrained("after")
    again.save_pretrained("again")
    assert Opening("hf:again").open(None, DIGITS, GREY).card.asked == ("3",)
    assert run(["forget", "again", "--out", "twice", *eight, "--no-evaluate"]) == 0
    assert Opening("hf:twice").open(None, DIGITS, GREY).card.asked == ("3", "8")
    config = json.loads(Path("twice/config.json").read_text())
    Path("twice/config.json").write_text(json.dumps({**config, "unclass": {"forgotten": 7}}))
    assert run(["evaluate", "twice", *FORGET[:6]]) == 0  # the card says it as well
    Path("again/config.json").write_text(json.dumps({**config, "unclass": {"forgotten": 7}}))
    with pytest.raises(InputError, match=r"unclass\.forgotten is int, not"):
        Opening("hf:again").open(None, DIGITS, GREY)


def test_a_class_that_is_given_another_name_has_it_in_the_folder_s_configuration_too(vit: Path) -> None:
    given = [*FORGET, "--rename-class", "erased", "--no-evaluate", "--out", "after"]
    assert run(["forget", "--model", "hf:vit", *given]) == 0
    config = json.loads(Path("after/config.json").read_text())
    assert config["id2label"]["3"] == "erased" and "3" not in config["label2id"] and config["label2id"]["erased"] == 3
    opened = Opening("hf:after").open(None, DIGITS, GREY)
    assert opened.card.classes[3] == "erased" and opened.card.asked == ("erased",)
