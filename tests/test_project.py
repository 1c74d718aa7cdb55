"""The project's own files agree with each other: one version, one list of tested versions, forms that can be read."""

import re
import tomllib
from pathlib import Path

import pytest

import unclass

ROOT = Path(__file__).parents[1]
FORMS = sorted((ROOT / ".github" / "ISSUE_TEMPLATE").glob("*.yml"))
yaml = pytest.importorskip("yaml")


def text(name: str) -> str:
    return (ROOT / name).read_text(encoding="utf-8")


def project() -> dict:
    return tomllib.loads(text("pyproject.toml"))


def test_the_version_stands_in_one_place() -> None:
    about = project()
    assert "version" not in about["project"] and "version" in about["project"]["dynamic"]
    assert about["tool"]["setuptools"]["dynamic"]["version"] == {"attr": "unclass.__version__"}
    assert f'__version__ = "{unclass.__version__}"' in text("src/unclass/__init__.py")
    assert "version:" not in text("CITATION.cff").replace("cff-version:", "")


def test_the_changelog_tells_of_this_version() -> None:
    released = re.findall(r"^## (\d\S*) – \d{4}-\d{2}-\d{2}$", text("CHANGELOG.md"), re.M)
    assert released[0] == unclass.__version__
    assert "## Unreleased" in text("CHANGELOG.md").split("## 0")[0]


def test_every_dependency_has_a_tested_version() -> None:
    tested = {_plain(name) for name in re.findall(r"^([\w.-]+)==", text("constraints.txt"), re.M)}
    about = project()["project"]
    asked = [*about["dependencies"], *(one for extra in about["optional-dependencies"].values() for one in extra)]
    names = {_plain(re.split(r"[\[<>=;! ]", one)[0]) for one in asked} - {"unclass"}
    assert names <= tested, f"add to constraints.txt: {', '.join(sorted(names - tested))}"


def test_the_citation_names_the_paper_and_its_authors() -> None:
    cited = yaml.safe_load(text("CITATION.cff"))
    paper = cited["preferred-citation"]
    assert [one["family-names"] for one in paper["authors"]] == ["Chen", "Gao", "Liu", "Peng", "Wang"]
    assert paper["title"] in text("README.md") and str(paper["year"]) == "2023"
    assert cited["license"] == project()["project"]["license"]["text"]


def test_the_workflow_runs_what_ci_runs() -> None:
    steps = yaml.safe_load(text(".github/workflows/ci.yml"))["jobs"]["check"]["steps"]
    assert ".ci/run" in [step.get("run") for step in steps]


def test_after_a_merge_everything_is_run_with_every_python_that_we_name() -> None:
    job = yaml.safe_load(text(".github/workflows/ci.yml"))["jobs"]["everything"]
    named = re.findall(r"Programming Language :: Python :: (3\.\d+)", text("pyproject.toml"))
    assert job["strategy"]["matrix"]["python-version"] == named
    assert job["steps"][-1]["run"] == "make test-all"


@pytest.mark.parametrize("path", FORMS, ids=lambda path: path.name)
def test_issue_forms_can_be_read(path: Path) -> None:
    form = yaml.safe_load(path.read_text(encoding="utf-8"))
    if path.name != "config.yml":
        assert {"name", "description", "body"} <= form.keys()
        assert all(part["attributes"]["label"] for part in form["body"])
        assert len({part["id"] for part in form["body"]}) == len(form["body"])


def test_the_hooks_before_a_commit_are_those_of_make_check() -> None:
    hooks = [
        hook["entry"] for repo in yaml.safe_load(text(".pre-commit-config.yaml"))["repos"] for hook in repo["hooks"]
    ]
    for command in ("ruff check", "ruff format", "mypy"):
        assert any(command in entry for entry in hooks) and command in text("Makefile")


def _plain(name: str) -> str:
    return re.sub(r"[-_.]+", "-", name).lower()
