"""Shared by all tests: a few digits, a tiny network trained on them, and an engine that computes in 32 bits."""

import gc
import os
from collections.abc import Iterator
from copy import deepcopy
from functools import partial
from importlib import import_module
from importlib.util import find_spec
from pathlib import Path

import pytest
import torch

from unclass.audits.decision_space import STEPS, decision_space
from unclass.data import DataOptions, ImageData, Split, load_data
from unclass.extras import library
from unclass.methods.amnesiac.recorder import UpdateRecorder
from unclass.methods.retrain import Retrain
from unclass.models import Classifier
from unclass.running import Settings, new_model, train_model
from unclass.training.engine import Engine

torch.set_num_threads(1)
os.environ["OMP_NUM_THREADS"] = "1"  # and for processes that a test starts: two workers share the machine
RECIPE = Retrain(epochs=8, lr=0.1)
LONGEST = (
    "test_tutorial.py", "test_distributed.py", "test_torchrun.py", "test_paper_command.py", "test_audits_digits.py",
    "test_comparison_grid.py", "test_erasing_erase.py", "test_methods_contract.py", "test_arguments.py",
    "test_no_pictures.py", "test_readme.py", "test_report_page.py", "test_boundary_shift.py", "test_site.py",
)  # fmt: skip


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Begin with the longest files, so that no process is left alone with one at the end."""
    places = {name: place for place, name in enumerate(LONGEST)}
    items.sort(key=lambda item: places.get(item.path.name, len(LONGEST)))


def pytest_collection_finish() -> None:
    """What was imported stays to the end: the garbage collector need not look at it again."""
    gc.freeze()


@pytest.fixture(scope="session", autouse=True)
def few_points() -> Iterator[None]:
    """Audits draw the decision space of 40 images in half the steps: it is half of a small audit. See `all_points`."""
    audits = import_module("unclass.audits.run")
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(audits, "decision_space", partial(decision_space, images=40))
        patch.setattr(import_module("unclass.audits.decision_space"), "STEPS", STEPS // 2)
        yield


@pytest.fixture
def all_points(monkeypatch: pytest.MonkeyPatch) -> None:
    """Audits draw the decision space of as many images as they do for a user."""
    monkeypatch.setattr(import_module("unclass.audits.run"), "decision_space", decision_space)


@pytest.fixture(scope="session")
def digits() -> ImageData:
    return load_data("digits", DataOptions(per_class=40))


@pytest.fixture(scope="session")
def split(digits: ImageData) -> Split:
    """The four sets when 3 is forgotten."""
    return Split.of(digits, ["3"])


@pytest.fixture(scope="session")
def trained(digits: ImageData) -> Classifier:
    """A small CNN that knows the digits. Never change it: take `model`."""
    torch.manual_seed(0)
    fresh = new_model(digits, "small-cnn", {"width": 8})
    return train_model(fresh, digits, RECIPE, Engine(precision="float32"), Settings(batch_size=32))[0]


@pytest.fixture
def model(trained: Classifier) -> Classifier:
    """A copy of the trained model, to change at will."""
    return deepcopy(trained)


@pytest.fixture
def engine() -> Engine:
    return Engine(precision="float32")


@pytest.fixture(scope="session")
def recorded(digits: ImageData, tmp_path_factory: pytest.TempPathFactory) -> tuple[Classifier, Path]:
    """A trained model, and the folder of its updates by batches with a 3. Batches of 16: some hold none."""
    folder = tmp_path_factory.mktemp("recorded") / "updates"
    torch.manual_seed(0)
    fresh = new_model(digits, "small-cnn", {"width": 8})
    recording = Engine(precision="float32", observer=UpdateRecorder(folder, [digits.index("3")]))
    return train_model(fresh, digits, RECIPE, recording, Settings(batch_size=16))[0], folder


@pytest.fixture(scope="session")
def torchvision():
    """torchvision, imported as the package does it, also beside another torch; transformers imports it too."""
    if find_spec("torchvision") is None:
        pytest.skip("torchvision is not installed")
    return library("torchvision", "torchvision")


@pytest.fixture(scope="session")
def key(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A private key to sign with."""
    from unclass.ledger.keys import new_key  # not every test needs cryptography

    return new_key(tmp_path_factory.mktemp("keys") / "signing.pem")[0]
