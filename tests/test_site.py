"""The documentation site builds without a warning, and its pages ask nobody for anything."""

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

import unclass

ROOT = Path(__file__).parents[1]
pytest.importorskip("mkdocs")


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("site")
    command = [sys.executable, "-m", "mkdocs", "build", "--strict", "--quiet", "--site-dir", str(folder)]
    environment = {**os.environ, "NO_MKDOCS_2_WARNING": "1"}
    done = subprocess.run(command, cwd=ROOT, env=environment, capture_output=True, text=True, timeout=300)
    assert done.returncode == 0 and not done.stderr.strip(), done.stderr
    return folder


def test_every_page_of_the_menu_is_written(site: Path) -> None:
    pages = re.findall(r": ([\w/-]+)\.md$", (ROOT / "mkdocs.yml").read_text(encoding="utf-8"), re.M)
    assert len(pages) > 15 and all((site / f"{page}.html").is_file() for page in pages)


def test_every_page_of_the_docs_is_in_the_menu() -> None:
    menu = (ROOT / "mkdocs.yml").read_text(encoding="utf-8")
    pages = [path.relative_to(ROOT / "docs").as_posix() for path in (ROOT / "docs").rglob("*.md")]
    assert not [page for page in pages if page not in menu], "add it to nav in mkdocs.yml"


def test_pages_load_nothing_from_elsewhere(site: Path) -> None:
    for page in site.rglob("*.html"):
        loaded = re.findall(r'<(?:script|link|img|iframe)[^>]*?(?:src|href)="(https?:[^"]+)"', page.read_text("utf-8"))
        assert not loaded, page


def test_the_reference_shows_signatures_and_what_they_do(site: Path) -> None:
    text = (site / "reference" / "python.html").read_text(encoding="utf-8")
    assert not [name for name in unclass.__all__ if f'id="unclass.{name}"' not in text and not name.isupper()]
    assert "&gt;&gt;&gt; " not in re.sub(r"<code>.*?</code>", "", text, flags=re.S)  # examples are shown as code


def test_the_commands_are_all_there_with_their_help(site: Path) -> None:
    from unclass.cli.commands import COMMANDS

    text = (site / "reference" / "commands.html").read_text(encoding="utf-8")
    groups = {"request", "keys", "ledger"}
    assert all(f'id="{name}"' in text and f"Usage: unclass {name}" in text for name in COMMANDS.keys() - groups)
    assert all(f"Usage: unclass {name} " in text for name in groups)


def test_every_method_is_there_with_its_options(site: Path) -> None:
    from unclass.methods import METHODS

    text = (site / "reference" / "methods.html").read_text(encoding="utf-8")
    assert all(f'id="{name}"' in text for name in METHODS)
    assert "passes over the forgotten images" in text
