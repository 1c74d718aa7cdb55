"""Leaderboards over different classes become one, as if one comparison had had all of the classes."""

from dataclasses import replace
from pathlib import Path

import pytest

from unclass.audits import Audit, Verdict
from unclass.audits.result import Check, Subject
from unclass.cli import run
from unclass.comparison.joined import joined
from unclass.comparison.leaderboard import Board, Standing, board_of
from unclass.comparison.rows import Spread
from unclass.errors import InputError
from unclass.metrics import Evaluation
from unclass.records import Cost, Record


def write(folder: Path, name: str, method: str, kept: float, status: str = "") -> None:
    for seed in (0, 1):
        place = folder / "runs" / f"0-{name}" / method / f"seed{seed}"
        scores = Evaluation(accuracy_retain_test=kept + 0.01 * seed, accuracy_forget=0.1, attack_success_rate=kept)
        Record("compare", method, (name,), seed=seed, original_seed=seed, cost=Cost(1.0, 5, 100), scores=scores).write(
            place / "record.json"
        )
        if status and not seed:
            check = Check("recalibration", "recalibration", "residual", "?", "lower", status, carries_verdict=True,
                          values={"unlearned": kept / 2})  # fmt: skip
            Audit(Verdict(status, "."), (check,), subject=Subject("digits", forget_classes=(name,))).save(  # type: ignore[arg-type]
                place / "audit.json"
            )


def grid(folder: Path, *names: str) -> Path:
    kept = {"deer": 0.9, "cat": 0.7, "truck": 0.2}
    status = {"deer": "passed", "cat": "failed", "truck": "failed"}
    for name in names:
        write(folder, name, "retrain", 0.5)
        write(folder, name, "finetune", kept[name], status[name])
    return folder


def test_joined_boards_are_the_board_of_all_their_classes(tmp_path: Path) -> None:
    whole = board_of(grid(tmp_path / "whole", "cat", "deer", "truck"))
    parts = [board_of(grid(tmp_path / "one", "cat")), board_of(grid(tmp_path / "two", "deer", "truck"))]
    (found,) = joined(parts)
    assert found.classes == whole.classes and found.seeds == whole.seeds
    assert found.standings == whole.standings
    finetune = found.standings[1]
    assert (finetune.runs, finetune.audits, finetune.verdicts) == (6, 3, {"failed": 2, "passed": 1})
    kept = finetune.values["accuracy_retain_test"]
    assert kept is not None and kept.mean == pytest.approx((0.9 + 0.7 + 0.2) / 3 + 0.005)


def test_a_method_of_one_board_alone_keeps_its_own_classes(tmp_path: Path) -> None:
    one, two = board_of(grid(tmp_path / "one", "cat")), board_of(grid(tmp_path / "two", "deer"))
    alone = replace(one.standings[1], method="salun")
    (found,) = joined([replace(one, standings=(*one.standings, alone)), two])
    assert {row.method: row.runs for row in found.standings} == {"retrain": 4, "finetune": 4, "salun": 2}


def test_other_data_and_other_networks_stay_apart(tmp_path: Path) -> None:
    one = board_of(grid(tmp_path / "one", "cat"))
    others = [replace(one, data="else"), replace(one, model="else"), replace(one, model_options={"width": 2})]
    assert joined([one, *others]) == [one, *others]


def test_one_class_twice_is_refused(tmp_path: Path) -> None:
    boards = [board_of(grid(tmp_path / "one", "cat", "deer")), board_of(grid(tmp_path / "two", "cat"))]
    with pytest.raises(InputError, match="two leaderboards of digits have cat; give one of them"):
        joined([replace(board, data="digits") for board in boards])


def test_an_earlier_file_of_one_class_can_be_joined_and_one_of_several_cannot(tmp_path: Path) -> None:
    def earlier(board: Board) -> Board:
        return replace(board, standings=tuple(replace(one, each={}) for one in board.standings))

    one, two = board_of(grid(tmp_path / "one", "cat")), board_of(grid(tmp_path / "two", "deer", "truck"))
    assert joined([earlier(one), two])[0].standings == joined([one, two])[0].standings
    with pytest.raises(InputError, match="does not tell its classes apart"):
        joined([one, earlier(two)])


def test_the_command_joins_and_keeps_one_board(tmp_path: Path) -> None:
    folders = [str(grid(tmp_path / "one", "cat")), str(grid(tmp_path / "two", "deer"))]
    saved = tmp_path / "all.json"
    assert run(["leaderboard", *folders, "--save", str(saved), "--out", str(tmp_path / "page.md")]) == 0
    assert "Forgetting classes cat, deer" in (tmp_path / "page.md").read_text()
    assert run(["leaderboard", str(saved), "--out", str(tmp_path / "page.md"), "--check"]) == 0


def test_no_figure_is_made_up_for_a_class_without_one() -> None:
    def board(name: str, value: Spread | None) -> Board:
        row = Standing("finetune", "D_r", "method", 1, 0, 0, {"js": value})
        return Board("digits", "small-cnn", (name,), (0,), (row,))

    (found,) = joined([board("3", None), board("8", Spread(2.0, 0.0))])
    assert found.standings[0].values["js"] == Spread(2.0, 0.0)
