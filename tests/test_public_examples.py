"""Every public function shows an example, and the examples work: the lines after >>>, and those after "Example:"."""

import ast
import doctest
import inspect
import re
from dataclasses import replace
from importlib import import_module
from pathlib import Path
from typing import Any

import pytest
import torch
from PIL import Image
from torch.utils.data import DataLoader, Subset, TensorDataset

import unclass
from fenced import blocks
from unclass.data import Batches
from unclass.models import Classifier

SOURCE = Path(unclass.__file__).parent
LINE = re.compile(r"^ *Example: `(.+)`$", re.M)
PUBLIC = [name for name in unclass.__all__ if callable(getattr(unclass, name))]
SHOWN = [name for name in PUBLIC if name not in ("InputError", "Diverged")]
EXAMPLES = {name: found[1] for name in PUBLIC if (found := LINE.search(inspect.getdoc(getattr(unclass, name)) or ""))}
PAGES = ("docs/data.md", "docs/reference/methods.md")
LONG = {  # minutes: what they are called with is looked at, they are not run
    "bench": "bench", "compare": "compare", "paper": "paper", "tune": "tune", "Bench": "bench", "Paper": "paper",
    "Tuning": "tune",
}  # fmt: skip


def modules_with_examples() -> list[str]:
    files = [path for path in SOURCE.rglob("*.py") if re.search(r"^ *>>> ", path.read_text(encoding="utf-8"), re.M)]
    return sorted(".".join(("unclass", *path.relative_to(SOURCE).with_suffix("").parts)) for path in files)


@pytest.fixture(scope="module")
def names(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Any]:
    """What the examples speak of: a model that knows deer, its data in several forms, and files in the folder."""
    folder = tmp_path_factory.mktemp("examples")
    with pytest.MonkeyPatch.context() as patch:
        patch.chdir(folder)
        digits = unclass.load_data("digits", unclass.DataOptions(per_class=40))
        data = replace(digits, classes=tuple("deer" if name == "3" else name for name in digits.classes))
        trained = unclass.train(digits, epochs=8, lr=0.1, batch_size=32)
        model = Classifier(trained.network, replace(trained.card, classes=data.classes))
        sets = [TensorDataset(*next(iter(Batches(images, len(images))))) for images in (data.train, data.test)]
        loaders = [DataLoader(one, batch_size=64) for one in sets]
        unclass.save(model, "model.safetensors")
        torch.save(model.network.state_dict(), "weights.pt")
        forgotten = unclass.forget("model.safetensors", data, "deer", out="forgotten-too.safetensors")
        unclass.record_of(forgotten).write(folder / "forgotten.json")
        unclass.audit(forgotten, model, data, "deer", out="audit")
        for number in range(8):
            (folder / "photos" / f"class-{number % 2}").mkdir(parents=True, exist_ok=True)
            Image.new("RGB", (16, 16), (30 * number, 0, 0)).save(f"photos/class-{number % 2}/{number}.png")
        yield {
            "unclass": unclass, "Path": Path, "model": model, "forgotten": forgotten, "data": data,
            "loader": loaders[0], "test_loader": loaders[1], "train_loader": loaders[0],
            "train_set": sets[0], "test_set": sets[1],
            "her_images": Subset(sets[0], (data.train.labels == 3).nonzero().flatten().tolist()), "names": data.classes,
        }  # fmt: skip


@pytest.mark.parametrize("name", SHOWN)
def test_every_public_function_and_class_shows_an_example(name: str) -> None:
    text = inspect.getdoc(getattr(unclass, name)) or ""
    assert name in EXAMPLES or name in text.partition(">>>")[2]


@pytest.mark.parametrize("name", [name for name in EXAMPLES if name not in LONG])
def test_an_example_runs(name: str, names: dict[str, Any]) -> None:
    exec(EXAMPLES[name], dict(names))


@pytest.mark.parametrize("page", PAGES)
def test_the_lines_of_a_page_run(page: str, names: dict[str, Any]) -> None:
    found = blocks((SOURCE.parents[1] / page).read_text(encoding="utf-8"), "python")
    assert found
    for code in found:
        exec(code, dict(names))


@pytest.mark.parametrize("name", LONG)
def test_a_long_example_is_called_as_the_function_is_written(name: str) -> None:
    calls = [node for node in ast.walk(ast.parse(EXAMPLES[name])) if isinstance(node, ast.Call)]
    call = next(one for one in calls if ast.unparse(one.func) == f"unclass.{LONG[name]}")
    given = {one.arg: None for one in call.keywords if one.arg}
    inspect.signature(getattr(unclass, LONG[name])).bind(*call.args, **given)


@pytest.mark.parametrize("module", modules_with_examples())
def test_the_lines_after_the_prompt_give_what_they_show(module: str, tmp_path: Path, monkeypatch) -> None:
    monkeypatch.chdir(tmp_path)
    done = doctest.testmod(import_module(module.removesuffix(".__init__")), optionflags=doctest.NORMALIZE_WHITESPACE)
    assert not done.failed
