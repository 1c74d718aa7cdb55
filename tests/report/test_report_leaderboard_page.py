"""The leaderboard's page in a browser: it sorts, filters by what one holds, and is readable on a telephone."""

import shutil
from collections.abc import Iterator
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import pytest

from unclass.comparison.leaderboard import COLUMNS, Board, Standing
from unclass.comparison.rows import Spread
from unclass.report.leaderboard_page import page

CHROMIUM = shutil.which("chromium") or shutil.which("chromium-browser") or shutil.which("google-chrome")
MISSING = (
    "playwright is not installed (pip install '.[dev]')"
    if find_spec("playwright") is None
    else "no chromium on the path (apt-get install chromium)"
)
pytestmark = pytest.mark.skipif(find_spec("playwright") is None or CHROMIUM is None, reason=MISSING)


def standing(method: str, reads: str, kept: float, left: float | None) -> Standing:
    figures = {column.key: Spread(kept if column.better == "higher" else left or 0.0, 0.01) for column in COLUMNS}
    values: dict[str, Spread | None] = {**figures, "probe": None if left is None else Spread(left, 0.1)}
    failed = {"accuracy on D_f after recalibration": 2}
    return Standing(method, reads, "method", 4, 0, 2, values, {"failed": 1, "passed": 1}, failed)


BOARD = Board(
    "digits", "small-cnn", ("3", "8"), (0, 1),
    (
        standing("retrain", "D_r", 0.99, 0.2), standing("amnesiac", "D_r + recorded updates", 0.98, 0.3),
        standing("scrub(epochs=5,lr=0.003)", "D_f + D_r", 0.9, None), standing("scrub@paper", "D_f + D_r", 0.95, 0.9),
        standing("delete", "D_f", 0.5, 0.1), standing("logit-mask", "nothing", 0.97, 1.0),
    ),
)  # fmt: skip


@pytest.fixture(scope="module")
def shown(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Any]:
    from playwright import sync_api

    path: Path = tmp_path_factory.mktemp("board") / "page.html"
    path.write_text(page([BOARD, BOARD]), encoding="utf-8")
    with sync_api.sync_playwright() as playwright:
        chromium = playwright.chromium.launch(executable_path=CHROMIUM, args=["--no-sandbox", "--disable-gpu"])
        opened = chromium.new_page(viewport={"width": 1440, "height": 900})
        opened.goto(path.as_uri())
        yield opened
        chromium.close()


@pytest.fixture(autouse=True)
def anew(shown: Any) -> None:
    shown.reload()


def names(shown: Any) -> list[str]:
    """Return the methods of the first board that are to be seen, from above."""
    rows = shown.locator("table.methods").first.locator("tbody tr:visible")
    return list(rows.evaluate_all("rows => rows.map(row => row.dataset.name)"))


def test_a_heading_sorts_the_better_first_then_the_other_way(shown: Any) -> None:
    heading = shown.locator("table.methods").first.get_by_role("button", name="D_rt", exact=True)
    heading.click()
    assert names(shown) == ["retrain", "amnesiac", "logit-mask", "scrub@paper", "scrub", "delete"]
    heading.click()
    assert names(shown) == ["delete", "scrub", "scrub@paper", "logit-mask", "amnesiac", "retrain"]


def test_what_is_not_known_comes_last_whichever_way_is_sorted(shown: Any) -> None:
    heading = shown.locator("table.methods").first.get_by_role("button", name="probe", exact=True)
    for _ in range(2):
        heading.click()
        assert names(shown)[-1] == "scrub"


@pytest.mark.parametrize(
    ("held", "left"),
    [
        ("forget", ["retrain", "delete", "logit-mask"]),
        ("retain", ["retrain", "scrub", "scrub@paper", "delete", "logit-mask"]),
    ],
)
def test_only_methods_for_what_one_holds_are_left_and_the_reference(shown: Any, held: str, left: list[str]) -> None:
    shown.select_option("#have", held)
    assert names(shown) == left
    drawn = shown.locator("svg").first.locator("g:visible").evaluate_all("all => all.map(one => one.dataset.name)")
    assert drawn == [name for name in left if name != "retrain"]


def test_names_and_the_papers_settings_can_be_left_out(shown: Any) -> None:
    shown.fill("#name", "scrub")
    assert names(shown) == ["retrain", "scrub", "scrub@paper"]
    shown.uncheck("#paper")
    assert names(shown) == ["retrain", "scrub"]


@pytest.mark.parametrize("width", [390, 1440])
def test_the_page_is_never_wider_than_its_window(shown: Any, width: int) -> None:
    shown.set_viewport_size({"width": width, "height": 900})
    assert shown.evaluate("document.documentElement.scrollWidth") <= width
