"""Tables against ones worked out by hand."""

import csv
import io
from dataclasses import replace
from typing import Any

import pytest

from unclass.audits import Audit, Verdict
from unclass.audits.result import Subject
from unclass.errors import InputError
from unclass.metrics import SCORES, Evaluation
from unclass.records import Cost, Environment, Record, UpdatesCost
from unclass.report.paper.blocks import rewrite
from unclass.report.paper.experiment import Experiment, Setup
from unclass.report.paper.latex import latex, text
from unclass.report.paper.summary import Pictures, Progress, Summary
from unclass.report.paper.table import long_csv, markdown, noise_band
from unclass.reproduction.summary import make_case


def record(label: str, seed: int, value: float | None, **more: Any) -> Record:
    content: dict[str, Any] = {
        "kind": "compare",
        "label": label,
        "seed": seed,
        "forget_classes": ("deer",),
        "scores": None if value is None else Evaluation(**dict.fromkeys(SCORES, value)),
        "failed": "not run: no disk" if value is None else None,
        "cost": None if value is None else Cost(10.0 * (seed + 1), 5, 512),
        "counts": {"retain": 45_000},
    }
    return Record(**{**content, **more})


UPDATES = UpdatesCost(3, 13_000_000_000, training_seconds=2000.0, recording_seconds=500.0)
RECORDS = [
    record("retrain", 0, 0.80),
    record("retrain", 1, 0.90),
    record("finetune", 0, 0.10),
    record("finetune", 1, 0.20),
    record("fisher", 0, 0.25, options={"images": 500}),
    record("amnesiac", 0, 0.5, cost=Cost(7.0, 1, 1, UPDATES)),
    record("amnesiac", 1, None),
    record("logit-mask", 0, None),
]
AUDIT = Audit(Verdict("failed", "Failed."), subject=Subject(forget_classes=("deer",), method="finetune"))
CASE = make_case("deer", RECORDS, [AUDIT])
TABLE = Experiment(
    name="mine",
    title="100 % mine_",
    shows="",
    draw="table",
    columns=("D_r", "seconds", "speed-up", "seconds for all of D_r", "training + s", "disk GB"),
    methods=("retrain", "finetune", "fisher", "amnesiac", "logit-mask"),
    paper={"finetune": {"D_r": 99.97, "speed-up": 4.8}, "logit-mask": {"D_r": 1.0}},
)


def cells(line: str) -> list[str]:
    return [cell.strip() for cell in line.strip().strip("|").split("|")]


def test_methods_down_by_hand() -> None:
    lines = [cells(line) for line in markdown(TABLE, CASE).splitlines()]
    assert lines[0] == ["method", *TABLE.columns]
    # Retraining took 10 and 20 s: mean 15, deviation √50. Accuracies 0.8 and 0.9: 85 ± √0.005.
    assert lines[2] == ["retrain", "85.0 ± 7.1", "15.0 ± 7.1", "1.0", "", "", ""]
    assert lines[3] == ["finetune", "15.0 ± 7.1 (99.97)", "15.0 ± 7.1", "1.0 (4.8)", "", "", ""]
    assert lines[4] == ["fisher", "25.0", "10.0", "1.0", "900", "", ""]  # 10 s for 500 images, 45,000 in all
    assert lines[5] == ["amnesiac", "50.0", "7.0", "1.4", "", "500", "13.0"]
    assert lines[6] == ["logit-mask", "not run (1.0)", "", "", "", "", ""]


def test_methods_across_have_the_papers_numbers_in_lines_of_their_own() -> None:
    lines = [cells(line) for line in markdown(replace(TABLE, across=True, columns=("D_r", "D_f")), CASE).splitlines()]
    assert lines[0] == ["", "retrain", "finetune", "fisher", "amnesiac", "logit-mask"]
    assert lines[2] == ["D_r", "85.0 ± 7.1", "15.0 ± 7.1", "25.0", "50.0", "not run"]
    assert lines[3] == ["D_r, paper", "", "99.97", "", "", "1.0"]
    assert [line[0] for line in lines[4:]] == ["D_f"]


def test_a_preset_stands_beside_its_methods_numbers() -> None:
    case, paper = make_case("deer", [record("boundary-shrink@paper", 0, 0.5)]), {"boundary-shrink": {"D_r": 99.24}}
    table = replace(TABLE, columns=("D_r",), methods=("boundary-shrink@paper",), paper=paper)
    assert cells(markdown(table, case).splitlines()[2]) == ["boundary-shrink@paper", "50.0 (99.24)"]


def test_a_seed_that_was_left_out_does_not_count_as_failed() -> None:
    rows = {row.method: row for row in CASE.rows}
    assert (rows["amnesiac"].runs, rows["amnesiac"].failed, rows["amnesiac"].seeds) == (1, 0, (0,))
    assert rows["logit-mask"].why_not == "not run: no disk"
    assert rows["finetune"].verdict == "failed" and rows["fisher"].verdict is None


def test_the_noise_band_is_what_lies_between_retrained_models() -> None:
    assert noise_band(CASE) == "Between the 2 retrained models: D_r 80.0–90.0, D_rt 80.0–90.0, ASR 80.0–90.0."
    assert "no noise band" in noise_band(make_case("deer", RECORDS[:1]))


def test_csv_has_a_line_for_each_cell_with_all_digits() -> None:
    lines = list(csv.DictReader(io.StringIO(long_csv(TABLE, [CASE]))))
    assert len(lines) == len(TABLE.methods) * len(TABLE.columns)
    found = next(line for line in lines if (line["method"], line["column"]) == ("finetune", "D_r"))
    assert float(found["mean"]) == pytest.approx(15) and float(found["spread"]) == pytest.approx(50**0.5)
    assert (found["class"], found["seeds"], found["paper"]) == ("deer", "0 1", "99.97")
    assert {line["not run"] for line in lines if line["method"] == "logit-mask"} == {"not run: no disk"}


@pytest.mark.parametrize("across", [True, False])
def test_latex_has_as_many_cells_in_every_line_and_its_braces_match(across: bool) -> None:
    made = latex(replace(TABLE, across=across), CASE, "unclass paper mine")
    body = made[made.index(r"\toprule") : made.index(r"\bottomrule")]
    counts = {line.count(" & ") for line in body.splitlines() if line.endswith(r"\\")}
    assert counts == {len(TABLE.methods) if across else len(TABLE.columns)}
    assert rf"\begin{{tabular}}{{l{'r' * counts.pop()}}}" in made
    plain = made.replace(r"\{", "").replace(r"\}", "")
    assert plain.count("{") == plain.count("}")
    assert r"\textcolor{gray}{99.97}" in made and r"$\pm$" in made and r"100 \% mine\_" in made


def test_latex_stacks_long_names_and_leaves_the_number_of_the_table_to_the_document() -> None:
    named = replace(TABLE, title="Table 3, ours: what is left", methods=("boundary-shrink@paper",), across=True)
    made = latex(named, CASE, "unclass paper mine")
    assert r"& \shortstack[r]{boundary-\\shrink\\@paper} \\" in made
    assert r"\caption{what is left, forgetting deer" in made


def test_latex_shows_any_name_as_it_is() -> None:
    assert text("a_b & 5 % of $x$ {y} \\z") == r"a\_b \& 5 \% of \$x\$ \{y\} \textbackslash{}z"


SUMMARY = Summary(
    setup=Setup("mine", "fair", "Mine", "cifar10", "all-cnn", (("deer", (0, 1)),)),
    command="unclass paper mine --scale fair",
    environment=Environment({}, {"processor": "a processor", "threads": 1, "accelerators": []}),
    precision=("float32",),
    data=Pictures("cifar10", 50_000, 10_000),
    experiments=(TABLE,),
    cases=(CASE,),
    progress=Progress(7, 9),
)
EMPTY = "before\n<!-- results{}: begin -->\nold\n<!-- results{}: end -->\nafter\n"


def test_blocks_are_made_anew_and_all_else_is_left_alone() -> None:
    new = rewrite(EMPTY.format("", ""), {"mine": SUMMARY}, "x.md")
    assert new.startswith("before\n<!-- results: begin -->\n") and new.endswith("<!-- results: end -->\nafter\n")
    assert (
        "old" not in new and "| finetune | 15.0 ± 7.1 |" in new and "a processor" in new and "7 of 9 runs so far" in new
    )
    assert rewrite(new, {"mine": SUMMARY}, "x.md") == new


def test_a_block_may_name_a_table() -> None:
    new = rewrite(EMPTY.format(" mine mine", " mine mine"), {"mine": SUMMARY}, "x.md")
    assert "15.0 ± 7.1 (99.97)" in new and "logit-mask: not run: no disk." in new


def test_a_plain_block_shows_some_methods_in_words_that_need_no_glossary() -> None:
    words = " mine plain deer retrain,amnesiac"
    lines = rewrite(EMPTY.format(words, words), {"mine": SUMMARY}, "x.md").splitlines()
    table = [cells(line) for line in lines if line.startswith("|")]
    assert not any(short in " ".join(table[0]) for short in ("D_", "ASR"))
    assert table[2] == ["**retrained without the class**: the goal", "85.0 %", "85.0 %", "yes", "15 s", ""]
    # Retraining took 10 s with the seed of amnesiac, which took 7.
    assert table[3] == ["`amnesiac`", "50.0 %", "50.0 %", "yes", "7 s", "1 ×"]
    assert len(table) == 4 and "Seeds: 2 for retrain; 1 for amnesiac." in lines


@pytest.mark.parametrize(
    "document, message",
    [
        ("no block", "has no <!-- results: begin -->"),
        (EMPTY.format(" yours", " yours"), "unknown summary 'yours'"),
        (EMPTY.format(" mine yours", " mine yours"), "unknown table 'yours' of mine"),
        (EMPTY.format(" mine plain deer", " mine plain deer"), "needs a class and methods"),
        (EMPTY.format(" mine plain cat retrain", " mine plain cat retrain"), "unknown class 'cat'"),
        (EMPTY.format(" mine plain deer logit-mask", " mine plain deer logit-mask"), "unknown method 'logit-mask'"),
        (EMPTY.format(*[" mine plain deer " + ",".join(["retrain"] * 9)] * 2), "choose 8 at most"),
    ],
)
def test_a_block_that_cannot_be_made_is_refused(document: str, message: str) -> None:
    with pytest.raises(InputError, match=message):
        rewrite(document, {"mine": SUMMARY}, "x.md")
