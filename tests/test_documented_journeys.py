"""docs/architecture.md names every part of the package, and functions that are there."""

import re
from importlib import import_module
from pathlib import Path

import pytest

import unclass

PAGE = (Path(__file__).parents[1] / "docs" / "architecture.md").read_text(encoding="utf-8")
PARTS, JOURNEYS = PAGE.split("## How a command runs")
SOURCE = Path(unclass.__file__).parent


def places() -> list[str]:
    """What the second columns of the journeys name."""
    rows = re.findall(r"^\|.*\|(.*)\|$", JOURNEYS, re.M)
    return sorted({name for row in rows for name in re.findall(r"`([\w.]+)`", row)})


def test_every_part_is_explained_once() -> None:
    explained = [name for row in re.findall(r"^\|(.*?)\|", PARTS, re.M) for name in re.findall(r"`(\w+)`", row)]
    parts = {path.stem for path in SOURCE.iterdir() if path.suffix == ".py" or (path / "__init__.py").exists()}
    assert sorted(explained) == sorted(part for part in parts if not part.startswith("__"))


@pytest.mark.parametrize("place", places())
def test_a_place_in_a_journey_is_there(place: str) -> None:
    parts, found = place.split("."), None
    for count in range(len(parts), 0, -1):
        try:
            found = import_module(".".join(["unclass", *parts[:count]]))
        except ModuleNotFoundError:
            continue
        for name in parts[count:]:
            found = getattr(found, name)
        break
    assert found is not None


def test_every_journey_begins_at_its_command_and_has_the_verb_second() -> None:
    for name in ("forget", "audit", "compare", "demo", "paper"):
        own = JOURNEYS.split(f"### {name}\n")[1].split("###")[0]
        first, second = [re.findall(r"`([\w.]+)`", row) for row in re.findall(r"^\|.*\|(.*)\|$", own, re.M)[2:4]]
        assert first[0].startswith("cli.") and first[0].endswith(f".{name}")
        assert second[0].rpartition(".")[2] in (name, "compare")
