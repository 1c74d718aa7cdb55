"""unclass methods says what the reference runs measured, and nothing else."""

import inspect
import json
from dataclasses import replace
from typing import Any

import pytest

import unclass
from unclass.cli import run
from unclass.comparison.rows import Spread
from unclass.methods import METHODS, Needs
from unclass.report.paper.summary import Case, PaperRow
from unclass.reproduction import measured, reference_summaries


@pytest.fixture
def answer(capsys: pytest.CaptureFixture[str]) -> dict[str, Any]:
    assert run(["methods", "--json"]) == 0
    content: dict[str, Any] = json.loads(capsys.readouterr().out)
    return content


def test_every_method_is_there_with_a_sentence_and_what_it_reads(answer: dict[str, Any]) -> None:
    assert list(answer["methods"]) == list(METHODS)
    for name, about in answer["methods"].items():
        assert about["needs"] == METHODS[name]().needs.words()
        assert about["summary"].endswith(".")


def test_the_default_is_what_forget_takes(answer: dict[str, Any]) -> None:
    assert answer["default"] == "boundary-shift"
    assert inspect.signature(unclass.forget).parameters["method"].default == answer["default"]


def test_distances_are_those_of_the_summary_by_hand(answer: dict[str, Any]) -> None:
    ((name, summary),) = list(reference_summaries().items())[:1]
    case = summary.cases[0]
    rows = {row.method: row for row in case.rows}
    (found,) = (one for one in answer["methods"]["finetune"]["measured"] if one["setup"] == name and
                one["method"] == "finetune" and one["forgotten"] == case.forgotten)  # fmt: skip
    for short, key in (("D_rt", "accuracy_retain_test"), ("D_f", "accuracy_forget"), ("ASR", "attack_success_rate")):
        by_hand = abs(100 * rows["finetune"].score(key) - 100 * rows["retrain"].score(key))
        assert found["distances"][short] == pytest.approx(by_hand)
    assert found["seconds"] == rows["finetune"].seconds.mean


def row(method: str, runs: int = 1, seconds: Spread | None = Spread(10.0, 0.0)) -> PaperRow:
    scores = {key: Spread(0.5, 0.0) for key in ("accuracy_retain_test", "accuracy_forget", "attack_success_rate")}
    return PaperRow(method, runs, 0, scores, seconds, speed_up=2.0, seeds=(0,))


def test_what_did_not_run_or_had_nothing_beside_it_is_not_measured() -> None:
    rows = (row("retrain"), row("fisher", 0, None), row("original", 1, None), row("finetune"))
    some = next(iter(reference_summaries().values()))
    both, alone = (replace(some, cases=(Case("a", (0,), members),)) for members in (rows, rows[3:]))
    assert [one.method for one in measured({"x": both})] == ["retrain", "finetune"]
    assert measured({"x": alone}) == []


def test_the_table_says_hardware_data_class_and_seeds(capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["methods"]) == 0
    text = capsys.readouterr().out
    summaries = reference_summaries()
    for name, summary in summaries.items():
        assert name in text and summary.environment.hardware["processor"] in text
        assert all(f"{case.forgotten} (seed" in text for case in summary.cases)
    ran = {one.method for one in measured(summaries)}
    assert ("not measured" in text) == bool(set(METHODS) - ran)
    assert "(default)" in text and "reference" in text


def test_the_list_names_every_form_of_data_and_model(capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["list", "--json"]) == 0
    content = json.loads(capsys.readouterr().out)
    assert {"webdataset:PATTERN", "hf:FOLDER", "csv:FILE"} <= set(content["data"])
    assert {"timm:NAME", "hf:FOLDER", "package.module:factory", "resnet-50"} <= set(content["models"])


@pytest.mark.parametrize("have", ["forget", "sample", "all"])
def test_what_works_with_what_one_holds_fits_into_80_columns(have: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["methods", "--have", have, "--json"]) == 0
    fitting = json.loads(capsys.readouterr().out)["methods"]
    assert run(["methods", "--have", have]) == 0
    lines = capsys.readouterr().out.splitlines()
    assert all(len(line) <= 80 for line in lines)
    assert [line.split()[0].rstrip("*") for line in lines[1 : 1 + len(fitting)]] == fitting
    assert "boundary-shift" in fitting
    for name, kind in METHODS.items():
        if have == "forget":
            assert (name in fitting) == (not kind().needs & (Needs.RETAIN | Needs.UPDATES))
        else:
            assert name in fitting or (have == "sample" and Needs.UPDATES in kind().needs)


def test_every_method_says_in_short_what_it_does() -> None:
    assert all(0 < len(kind.in_short) <= 35 for kind in METHODS.values())
    assert len({kind.in_short for kind in METHODS.values()}) == len(METHODS)


def test_a_wrong_answer_to_what_one_holds_is_one_line(capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["methods", "--have", "some"]) == 2
    assert "forget" in capsys.readouterr().err
