"""The examples run as they are, at a small size, and the class is gone afterwards."""

from importlib import import_module
from pathlib import Path

import pytest

EXAMPLES = Path(__file__).parent.parent / "examples"
WRITES = {
    "resnet_on_a_folder": ["--out", "new.safetensors"],
    "transformers_vit": ["--out", "new"],
    "forget_one_person": ["--out", "new.safetensors"],
    "training_for_amnesiac": ["--updates", "new"],
    "trade_off": ["--values", "5e-3", "--out", "new.png"],
    "own_method": ["--out", "new.safetensors"],
    "own_scheduler": ["--out", "new"],
}


@pytest.fixture(autouse=True)
def place(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    monkeypatch.syspath_prepend(str(EXAMPLES))


def example(name, request):
    if name == "transformers_vit":
        request.getfixturevalue("torchvision")
        pytest.importorskip("transformers")
    return import_module(name)


def test_every_example_is_run_here_and_listed():
    scripts = {path.stem for path in EXAMPLES.glob("*.py")} - {"pictures"}
    assert scripts == set(WRITES)
    listed = (EXAMPLES / "README.md").read_text(encoding="utf-8")
    assert all(f"python examples/{name}.py" in listed for name in scripts)


LONG = ("resnet_on_a_folder", "transformers_vit", "own_scheduler")


@pytest.mark.parametrize(
    "name", [pytest.param(name, marks=pytest.mark.long) if name in LONG else name for name in WRITES]
)
def test_an_example_forgets_what_its_model_knew(name, request, tmp_path, capsys):
    found = example(name, request).main(["--small", *WRITES[name]])
    known, left = (found[when]["accuracy_forget_test"] for when in ("before", "after"))
    assert known > 0.6 and left < known / 2
    assert found["after"]["accuracy_retain_test"] > 0.6
    assert any(tmp_path.glob("new*"))
    assert "accuracy forget test" in capsys.readouterr().out


@pytest.mark.parametrize("name", WRITES)
def test_an_example_explains_itself(name, request, capsys):
    with pytest.raises(SystemExit, match="0"):
        example(name, request).main(["--help"])
    assert f"python examples/{name}.py" in capsys.readouterr().out


@pytest.mark.parametrize("name", WRITES)
def test_an_example_is_short(name):
    assert len((EXAMPLES / f"{name}.py").read_text(encoding="utf-8").splitlines()) <= 64
