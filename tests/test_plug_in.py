"""A package with a method of its own, installed in an environment of its own, is known by its name there."""

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

import unclass

pytestmark = pytest.mark.long  # a package is installed

EXAMPLE = Path(__file__).parent.parent / "examples" / "own_method.py"
TOML = """
[build-system]
requires = ["setuptools"]
build-backend = "setuptools.build_meta"

[project]
name = "uniform-unlearning"
version = "1.0"

[project.entry-points."unclass.methods"]
uniform = "own_method:Uniform"

[tool.setuptools]
py-modules = ["own_method"]
"""


@pytest.fixture(scope="module")
def environment(tmp_path_factory: pytest.TempPathFactory) -> dict[str, str]:
    """An environment in which the example is installed as a package, beside all that is here."""
    project, site = tmp_path_factory.mktemp("project"), tmp_path_factory.mktemp("site")
    (project / "pyproject.toml").write_text(TOML, encoding="utf-8")
    (project / "own_method.py").write_text(EXAMPLE.read_text(encoding="utf-8"), encoding="utf-8")
    pip = [sys.executable, "-m", "pip", "install", "--quiet", "--no-index", "--no-deps", "--no-build-isolation"]
    done = subprocess.run([*pip, "--target", str(site), str(project)], capture_output=True, text=True, timeout=120)
    if done.returncode and ("No module named pip" in done.stderr or "setuptools" in done.stderr):
        pytest.skip("nothing here to install a package with")
    assert done.returncode == 0, done.stderr
    source = Path(unclass.__file__).parent.parent
    return {**os.environ, "PYTHONPATH": os.pathsep.join([str(site), str(source)]), "OMP_NUM_THREADS": "1"}


def command(environment: dict[str, str], folder: Path, *arguments: str) -> str:
    line = [sys.executable, "-m", "unclass", *arguments]
    done = subprocess.run(line, env=environment, cwd=folder, capture_output=True, text=True, timeout=120)
    assert done.returncode == 0, done.stderr
    return done.stdout


def test_it_is_listed_and_forgets_by_its_name(environment: dict[str, str], tmp_path: Path) -> None:
    listed = json.loads(command(environment, tmp_path, "list", "--json"))["methods"]
    assert listed["uniform"]["needs"] == "D_f" and listed["uniform"]["help"]["epochs"]
    unclass.train("digits", epochs=5, out=tmp_path / "model.safetensors")
    data = ["--data", "digits", "--class", "3"]
    forget = ["forget", "model.safetensors", *data, "--method", "uniform", "--out", "new.safetensors", "--json"]
    command(environment, tmp_path, *forget)
    record = json.loads((tmp_path / "new.json").read_text(encoding="utf-8"))
    assert record["method"] == "uniform"
    assert record["scores"]["accuracy_forget_test"] < 0.2 < 0.8 < record["scores"]["accuracy_retain_test"]
