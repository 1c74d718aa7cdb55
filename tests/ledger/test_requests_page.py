"""docs/requests.md: ten commands, run as written, end with a request that is answered and a pack that holds."""

import os
import re
from pathlib import Path

import pytest

from fenced import commands
from unclass.cli import run

ROOT = Path(__file__).parents[2]
PAGE = (ROOT / "docs" / "requests.md").read_text(encoding="utf-8")


@pytest.fixture(scope="module")
def place(tmp_path_factory: pytest.TempPathFactory):
    """A folder in which the ten commands have been run."""
    folder = tmp_path_factory.mktemp("requests")
    before, variables = Path.cwd(), dict(os.environ)
    os.environ.update(re.findall(r"(UNCLASS_\w+)=(\S+)", re.search(r"^export (.*)$", PAGE, re.M)[1]))
    os.chdir(folder)
    try:
        lines = commands(PAGE)
        assert len(lines) == 10 and all(program == "unclass" for program, *_ in lines)
        for _, *words in lines:
            assert run(words) == 0, words
        yield folder
    finally:
        os.chdir(before)
        os.environ.clear()
        os.environ.update(variables)


def test_the_pack_is_filed_and_every_file_of_it_is_explained(place: Path) -> None:
    pack = place / "unclass.ledger.files" / "packs" / "R-1"
    files = {path.relative_to(pack).parts[0] for path in pack.rglob("*")}
    table = PAGE[PAGE.index("## What a pack holds") : PAGE.index("## When something")]
    assert files == {
        name.rstrip("/") for row in re.findall(r"^\| (`.*?) \|", table, re.M) for name in re.findall(r"`(.*?)`", row)
    }


def test_what_is_deployed_is_what_was_audited(place: Path) -> None:
    assert (
        run(
            ["verify", "unclass.ledger.files/packs/R-1", "--key", "signing.pub", "--model-file", "deployed.safetensors"]
        )
        == 0
    )
    assert (
        run(["verify", "unclass.ledger.files/packs/R-1", "--key", "signing.pub", "--model-file", "digits.safetensors"])
        == 1
    )


def test_the_page_links_to_the_pack(place: Path) -> None:
    text = (place / "ledger.html").read_text(encoding="utf-8")
    way = re.search(r'href="([^"]*regulator\.html)"', text)[1]
    assert (place / way).is_file()


def test_paths_are_left_out_as_asked(place: Path) -> None:
    pack = place / "unclass.ledger.files" / "packs" / "R-1"
    for file in pack.rglob("*.json"):
        assert str(place) not in file.read_text(encoding="utf-8"), file
