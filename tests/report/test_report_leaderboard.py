"""The leaderboard: from the records and audits of a comparison to a table and a page, never stale."""

import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from unclass.audits import Audit, Verdict
from unclass.audits.result import Check, Subject
from unclass.cli import run
from unclass.comparison.agreement import between_boards, rank_correlations
from unclass.comparison.leaderboard import COLUMNS, Board, Standing, board_of, read_board
from unclass.comparison.plan import label_of
from unclass.comparison.plan_file import read_plan
from unclass.comparison.rows import Spread
from unclass.errors import InputError
from unclass.metrics import Evaluation
from unclass.records import Cost, Record
from unclass.report.leaderboard import about, across, markdown, rewrite, shown, side_by_side, verdict
from unclass.report.leaderboard_page import page, scatter

ROOT = Path(__file__).parents[2]
KEPT = sorted((ROOT / "docs" / "leaderboard").glob("*.json"))


def write(folder: Path, label: str, name: str, seed: int, asr: float, seconds: float, js: float | None = None) -> None:
    place = folder / "runs" / f"0-{name}" / label / f"seed{seed}"
    scores = Evaluation(accuracy_retain=0.9, accuracy_forget=0.1, accuracy_retain_test=0.8, accuracy_forget_test=0.0,
                        attack_success_rate=asr)  # fmt: skip
    cost = None if label == "original" else Cost(seconds, 5, 100)
    Record("compare", label, (name,), seed=seed, original_seed=seed, cost=cost, scores=scores).write(
        place / "record.json"
    )
    if js is not None:
        failed = Check("recalibration", "accuracy on D_f after recalibration", "residual", "?", "lower", "failed",
                       carries_verdict=True, values={"unlearned": 0.4})  # fmt: skip
        near = Check("js-forget", "JS divergence on D_f", "closeness", "?", "lower", "failed", values={"unlearned": js})
        Audit(
            Verdict("failed", "No."), (failed, near), subject=Subject("digits", forget_classes=(name,)),
            noise={"js-forget": (0.1, 0.2)},
        ).save(place / "audit.json")  # fmt: skip


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    for name, asr in (("deer", 0.2), ("cat", 0.4)):
        for seed in (0, 1):
            write(tmp_path, "original", name, seed, 0.9, 0)
            write(tmp_path, "retrain", name, seed, asr + 0.02 * seed, 40.0)
            write(tmp_path, "finetune", name, seed, asr + 0.11, 4.0, 0.6 if not seed else None)
    return tmp_path


def test_figures_are_means_over_classes_of_means_over_seeds(folder: Path) -> None:
    board = board_of(folder)
    assert [one.method for one in board.standings] == ["original", "retrain", "finetune"]
    own = board.standings[2]
    distance = own.values["asr_distance"]
    assert distance is not None and (distance.mean, distance.spread) == pytest.approx((0.1, 0.0), abs=1e-9)
    assert own.values["js"] == Spread(pytest.approx(3.0), 0.0)  # 0.6 is three times the 0.2 between retrained models
    assert own.values["recalibration"] == Spread(0.4, 0.0) and own.values["probe"] is None
    assert (own.runs, own.audits, own.verdicts) == (4, 2, {"failed": 2})
    assert own.reasons == {"accuracy on D_f after recalibration": 2}  # JS fails too, but carries no verdict
    assert own.reads == "D_r" and (board.classes, board.seeds) == (("cat", "deer"), (0, 1))
    assert verdict(own) == "failed 2 of 2: accuracy on D_f after recalibration"


def test_a_verdict_of_some_classes_alone_says_of_how_many_audits_it_is(folder: Path) -> None:
    own = board_of(folder).standings[2]
    assert verdict(replace(own, audits=1, verdicts={"failed": 1})).startswith("failed 1 of 1:")
    one_class = {key: dict(list(values.items())[:1]) for key, values in own.each.items()}
    assert verdict(replace(own, audits=1, verdicts={"failed": 1}, each=one_class)).startswith("failed:")


def test_a_board_comes_back_from_its_file(folder: Path, tmp_path: Path) -> None:
    board = board_of(folder)
    assert read_board(board.save(tmp_path / "board.json")) == board
    (tmp_path / "other.json").write_text("{}")
    with pytest.raises(InputError, match="is no leaderboard"):
        read_board(tmp_path / "other.json")
    (tmp_path / "empty").mkdir()
    with pytest.raises(InputError, match="holds no records"):
        read_board(tmp_path / "empty")


def standings(**columns: list[float]) -> Board:
    count = len(next(iter(columns.values())))
    rows = [
        Standing(
            f"m{place}", "D_f", "method", 1, 0, 1, {key: Spread(values[place], 0.0) for key, values in columns.items()}
        )
        for place in range(count)
    ]
    return Board("digits", "small-cnn", ("3",), (0, 1), tuple(rows))


def test_rank_correlation_counts_better_as_better_whichever_way_a_column_points() -> None:
    board = standings(accuracy_retain=[0.9, 0.8, 0.7, 0.6], seconds=[1, 2, 3, 4], recalibration=[0.4, 0.3, 0.2, 0.1])
    found = rank_correlations(board)
    assert found["accuracy_retain", "seconds"] == pytest.approx(1.0)  # the most accurate is the fastest
    assert found["recalibration", "seconds"] == pytest.approx(-1.0)  # the fastest is the worst


def test_two_data_sets_are_ranked_alike_or_not_over_the_methods_of_both_whatever_their_options() -> None:
    one = standings(accuracy_retain=[0.9, 0.8, 0.7, 0.6], recalibration=[0.1, 0.2, 0.3, 0.4])
    other = standings(accuracy_retain=[0.5, 0.4, 0.3, 0.2], recalibration=[0.4, 0.3, 0.2, 0.1])
    named = tuple(replace(row, method=f"{row.method}(lr=0.1)") for row in other.standings)
    alone = replace(named[0], method="only-here", values={"accuracy_retain": Spread(0.0, 0.0)})
    found = between_boards(one, replace(other, standings=(alone, *named)))
    assert found == {"accuracy_retain": pytest.approx(1.0), "recalibration": pytest.approx(-1.0)}
    assert between_boards(one, replace(other, standings=named[:3])) == {}


def test_of_two_data_sets_without_common_methods_no_agreement_is_told() -> None:
    one = standings(accuracy_retain=[0.9, 0.8, 0.7, 0.6])
    apart = replace(one, data="other", standings=tuple(replace(row, method=f"x{row.method}") for row in one.standings))
    assert across([one, replace(one, data="third"), apart]) == [
        "Rank correlation of the methods between digits and third: D_r +1.00."
    ]


def test_several_data_sets_stand_side_by_side_with_the_most_often_passed_first() -> None:
    one = standings(accuracy_retain=[0.9, 0.8])
    first, second = one.standings
    good, bad = replace(first, verdicts={"failed": 1}), replace(second, verdicts={"passed": 1})
    several = replace(one, data="other", standings=(replace(first, audits=2, verdicts={"failed": 1, "undecided": 1}),))
    boards = [replace(one, standings=(good, bad)), several]
    assert side_by_side(boards) == [
        ("m1", ["passed", "–"]), ("m0", ["failed", "failed 1 of 2, undecided 1 of 2"]),
    ]  # fmt: skip
    assert "| method | digits | other |" in rewrite("", boards) and "All data sets" not in rewrite("", boards[:1])
    assert page(boards).count("All data sets") == 1 and "All data sets" not in page(boards[:1])


def test_a_board_says_what_was_measured_and_over_what_the_means_are() -> None:
    one = standings(accuracy_retain=[0.9])
    assert "Forgetting class 3; 2 originals" in about(one) and "Mean over the originals." in about(one)
    wide = replace(one, classes=("3", "8"), model_options={"width": 8}, images={"train": 3000, "test": 10000})
    assert about(wide).startswith("small-cnn, width 8; 3,000 training, 10,000 test images. Forgetting classes 3, 8,")
    assert "± standard deviation between classes" in about(wide)
    assert "each method is audited on the first" in about(one) and "for a part of the classes" in about(wide)
    bare = replace(one, seeds=(0,), standings=tuple(replace(row, audits=0) for row in one.standings))
    assert "; one original and retrained model (seed 0); nothing was audited. " in about(bare)


def test_shares_are_per_cents_and_what_is_not_known_is_a_dash() -> None:
    columns = {column.key: column for column in COLUMNS}
    assert shown(columns["accuracy_retain"], Spread(0.1234, 0.05)) == "12.3 ± 5.0"
    assert shown(columns["js"], Spread(3.0, 0.0)) == "3.00" and shown(columns["js"], None) == "–"
    assert shown(columns["retain_images_read"], Spread(12345.0, 9.0)) == "12,345"


def test_a_page_keeps_what_people_wrote_around_the_table(folder: Path) -> None:
    board = board_of(folder)
    text = rewrite("", [board])
    mine = text.replace("# Leaderboard\n", "# Ours\n\nRead with care.\n") + "\nAfter.\n"
    again = rewrite(mine.replace("| finetune |", "| forged |"), [board])
    assert again == mine and again.endswith("After.\n")


def test_every_row_has_a_cell_for_each_heading(folder: Path) -> None:
    lines = [line for line in markdown(board_of(folder)).splitlines() if line.startswith("|")]
    assert len({line.count("|") for line in lines}) == 1 and len(lines) == 2 + 3


def test_the_page_fetches_nothing_escapes_names_and_places_every_audited_method(folder: Path) -> None:
    board = board_of(folder)
    text = page([replace(board, data="<script>x")])
    assert "<script>x" not in text and "&lt;script&gt;x" in text
    assert "http:" not in text and "https:" not in text and "src=" not in text
    points: list[dict[str, Any]] = scatter(board)["points"]
    assert [point["name"] for point in points] == ["finetune"]


def test_the_command_writes_checks_and_keeps(folder: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    page_, kept = tmp_path / "board.md", tmp_path / "board.json"
    html = tmp_path / "board.html"
    assert run(["leaderboard", str(folder), "--out", str(page_), "--out", str(html), "--save", str(kept)]) == 0
    assert run(["leaderboard", str(kept), "--out", str(page_), "--out", str(html), "--check"]) == 0
    page_.write_text(page_.read_text().replace("finetune", "forged"))
    assert run(["leaderboard", str(kept), "--out", str(page_), "--check"]) == 1
    assert run(["leaderboard", str(kept), "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["boards"][0]["data"] == ""
    assert run(["leaderboard", str(kept), "--out", "board.pdf"]) == 2


@pytest.mark.skipif(not KEPT, reason="no leaderboard is kept in docs/leaderboard")
def test_the_leaderboard_of_the_documentation_is_not_stale() -> None:
    pages = [str(ROOT / "docs" / name) for name in ("leaderboard.md", "leaderboard/page.html")]
    options = [part for page_ in pages for part in ("--out", page_)]
    assert run(["leaderboard", *map(str, KEPT), *options, "--check"]) == 0


@pytest.mark.parametrize("kept", KEPT, ids=lambda path: path.stem)
def test_a_leaderboard_of_the_documentation_has_every_method_and_class_of_its_plan(kept: Path) -> None:
    board, plan = read_board(kept), read_plan(kept.with_suffix(".toml"))
    methods = {label_of(one) for one in plan["methods"]}
    assert {one.method for one in board.standings} == {"original", "retrain", *methods}
    assert sorted(board.classes) == sorted(plan["classes"]) and list(board.seeds) == plan["seeds"]
    pairs = len(board.classes) * len(board.seeds)
    assert all(one.runs + one.failed == pairs for one in board.standings)
