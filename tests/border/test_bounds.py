"""A bound that nobody asks, or that stops nobody, protects nobody."""

from pathlib import Path

import pytest

import unclass
from unclass.border import bounds
from unclass.data import DataOptions
from unclass.errors import InputError
from unclass.models import Card
from unclass.running import Settings

SOURCE = Path(unclass.__file__).parent
NAMES = [name for name in vars(bounds) if name.startswith("MOST_")]


@pytest.mark.parametrize("name", NAMES)
def test_each_is_asked_somewhere_and_is_a_whole_number(name: str) -> None:
    others = [path for path in SOURCE.rglob("*.py") if path.name != "bounds.py"]
    assert any(name in path.read_text(encoding="utf-8") for path in others)
    assert type(getattr(bounds, name)) is int and getattr(bounds, name) > 0


@pytest.mark.parametrize(
    "above, at",
    [
        (lambda: Settings(seed=bounds.MOST_SEED + 1), lambda: Settings(seed=bounds.MOST_SEED)),
        (lambda: DataOptions(size=bounds.MOST_PIXELS + 1), lambda: DataOptions(size=bounds.MOST_PIXELS)),
        (lambda: DataOptions(workers=bounds.MOST_WORKERS + 1), lambda: DataOptions(workers=bounds.MOST_WORKERS)),
        (
            lambda: Card("x", ("a",), (3, bounds.MOST_PIXELS + 1, 8)),
            lambda: Card("x", ("a",), (3, bounds.MOST_PIXELS, 8)),
        ),
        (
            lambda: Settings(batch_size=bounds.MOST_IMAGES_IN_A_BATCH + 1),
            lambda: Settings(batch_size=bounds.MOST_IMAGES_IN_A_BATCH),
        ),
    ],
    ids=["seed", "size", "workers", "card", "batch"],
)
def test_one_more_is_refused_in_a_line_and_the_bound_itself_is_not(above, at) -> None:  # type: ignore[no-untyped-def]
    at()
    with pytest.raises(InputError) as refused:
        above()
    assert "\n" not in str(refused.value)
