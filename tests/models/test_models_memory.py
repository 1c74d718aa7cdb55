"""What weights without a card have forgotten is known all the same, and stays forgotten."""

import shutil
from pathlib import Path

import pytest
import torch
from safetensors.torch import save_file

import unclass
from unclass.cli import run
from unclass.data import ImageData, Split
from unclass.erasing.erase import erase
from unclass.erasing.job import Job
from unclass.erasing.work import settings_of, unlearned_in
from unclass.errors import InputError
from unclass.forgotten import left_by
from unclass.ledger.erased import forgotten_by
from unclass.ledger.keys import new_key
from unclass.ledger.models import register
from unclass.ledger.requests import add_request
from unclass.ledger.store import Ledger
from unclass.models import Classifier, Opening, build, load, save
from unclass.models.memory import Memory
from unclass.training.engine import Engine

NETWORK = Opening("small-cnn", {"width": 8})
FLAT = {"epochs": 2, "lr": 0.05}


@pytest.fixture
def bare(trained: Classifier, digits: ImageData, engine: Engine, tmp_path: Path) -> Path:
    """A state_dict that has forgotten 3, with the record of that beside it."""
    torch.save(trained.network.state_dict(), tmp_path / "first.pt")
    unclass.forget(
        tmp_path / "first.pt",
        digits,
        "3",
        "retrain",
        opening=NETWORK,
        engine=engine,
        out=tmp_path / "bare.pt",
        epochs=4,
    )
    return tmp_path / "bare.pt"


def forgotten(path: Path, digits: ImageData, opening: Opening = NETWORK) -> tuple[str, ...]:
    return opening.open(path, digits.classes, digits.train.shape).card.forgotten


def test_the_record_beside_says_it_in_one_run_after_the_other(bare: Path, digits: ImageData, engine: Engine) -> None:
    again = bare.with_name("again.pt")
    unclass.forget(bare, digits, "8", "finetune", opening=NETWORK, engine=engine, out=again, **FLAT)
    assert forgotten(bare, digits) == ("3",) and forgotten(again, digits) == ("3", "8")
    assert unclass.read_record(again.with_suffix(".json")).counts["retain"] == 8 * 40
    seen = unclass.evaluate(again, digits, "3", opening=NETWORK, engine=engine)
    assert (seen.accuracy_forget or 0) <= 0.1


@pytest.mark.parametrize("harm", ["gone", "edited", "of other weights"])
def test_a_record_is_believed_only_of_these_very_bytes(bare: Path, digits: ImageData, harm: str) -> None:
    record = bare.with_suffix(".json")
    if harm == "gone":
        record.unlink()
    elif harm == "edited":
        record.write_text(record.read_text().replace('"seed": 0', '"seed": 1'))
    else:
        shutil.copy(bare.with_name("first.pt"), bare)
    assert forgotten(bare, digits) == ()


@pytest.mark.parametrize("form", ["safetensors without its card", "torch.save"])
def test_weights_that_were_saved_again_are_known_by_their_numbers(
    trained: Classifier, digits: ImageData, engine: Engine, tmp_path: Path, form: str
) -> None:
    out = tmp_path / "without.safetensors"
    unclass.forget(save(trained, tmp_path / "model.safetensors"), digits, "3", out=out, engine=engine)
    weights = load(out).network.state_dict()
    out.unlink()
    out = out.with_suffix(".pt" if form == "torch.save" else ".safetensors")
    write = torch.save if form == "torch.save" else save_file
    network = Opening("small-cnn", {"width": 8}, mean=(0.5,), std=(0.5,))
    write(weights, out)
    assert network.open(out, digits.classes, digits.train.shape).card.asked == ("3",)
    write({**weights, "head.bias": weights["head.bias"] + 1e-3}, out)
    assert network.open(out, digits.classes, digits.train.shape).card.asked == ()


def test_whoever_opens_it_may_say_it(bare: Path, digits: ImageData) -> None:
    bare.with_suffix(".json").unlink()
    assert forgotten(bare, digits, Opening("small-cnn", {"width": 8}, forgotten=("3", "8"))) == ("3", "8")
    with pytest.raises(InputError, match="unknown class 'eleven' in the model"):
        forgotten(bare, digits, Opening("small-cnn", {"width": 8}, forgotten=("eleven",)))


def test_the_command_takes_it_as_an_option(bare: Path) -> None:
    bare.with_suffix(".json").unlink()
    out = bare.with_name("again.pt")
    network = ["--model", "small-cnn", "--model-set", "width=8", "--forgotten", "3"]
    data = ["--data", "digits", "--per-class", "40", "--class", "8", "--method", "finetune", "--set", "epochs=1"]
    assert run(["forget", str(bare), *network, *data, "--out", str(out)]) == 0
    assert unclass.read_record(out.with_suffix(".json")).written["forgotten"] == ["3", "8"]


def test_a_ledger_knows_its_versions_whatever_their_format(
    trained: Classifier, digits: ImageData, engine: Engine, tmp_path: Path
) -> None:
    file = tmp_path / "digits.pt"
    torch.save(trained.network.state_dict(), file)
    key, _ = new_key(tmp_path / "signing.pem")
    job = Job(key, "finetune", options={"epochs": 2}, accept="a test", engine=engine)
    with Ledger(tmp_path / "unclass.ledger", create=True) as ledger:
        settings = settings_of("digits", unclass.DataOptions(per_class=40), NETWORK)
        card = NETWORK.open(file, digits.classes, digits.train.shape).card
        register(ledger, file, card.as_dict(), settings, name="digits", operator="ann")
        for label in ("3", "8"):
            done = erase(ledger, add_request(ledger, classes=[label], operator="ann").id, job, "ann")
        assert done.pack is not None
        last = unlearned_in(done.pack / "model")
        assert forgotten_by(ledger, last) == Memory(("3", "8"))
        assert forgotten_by(ledger, file) == Memory()
    seen = unclass.evaluate(last, digits, "3", opening=NETWORK, engine=engine)
    assert (seen.accuracy_forget or 0) <= 0.1


def test_images_of_a_forgotten_class_that_are_listed_leave_the_others_gone(
    trained: Classifier, digits: ImageData
) -> None:
    model = build(unclass.Card(**{**trained.card.as_dict(), "forgotten": ("3",)}))
    own = (digits.train.labels == 3).nonzero().flatten()
    split = left_by(model, Split.of(digits, [], rows=torch.cat([own[:2], torch.tensor([0])])))
    assert not (split.retain.labels == 3).any() and split.earlier is not None and split.earlier.classes == (3,)
