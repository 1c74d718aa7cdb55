"""An audit is an object: it is written, read back, shown and asked; records of 0.1.0 still open."""

import json
from dataclasses import replace
from pathlib import Path

import pytest

from unclass.audits import Audit, Check, Verdict
from unclass.audits.evidence import Cost, Recalibrated
from unclass.audits.result import SCHEMA, Subject
from unclass.errors import InputError

CHECK = Check(
    "own-logit", "own <logit>", "residual", "?", "lower", "failed", 20, 0.8, 0.4, "AUC", "because", True,
    {"original": 1.0, "unlearned": 0.9, "retrained": 0.4}, {"unlearned": (0.85, 0.95)}, {"unlearned": "failed"},
)  # fmt: skip
AUDIT = Audit(
    Verdict("failed", "Failed: deer is not gone.", ("own logit is 0.9",)),
    (CHECK,),
    ("own-logit",),
    subject=Subject("cifar10", ("deer", "dog"), ("deer",)),
    recalibration={"unlearned": Recalibrated({"forget": 0.0}, {"forget": 0.9})},
    cost={"unlearned": Cost(1.5)},
)


def test_what_is_written_is_read_back_as_it_was(tmp_path: Path) -> None:
    path = AUDIT.save(tmp_path / "audit.json")
    assert Audit.read(path) == AUDIT
    assert json.loads(path.read_text(encoding="utf-8"))["schema"] == SCHEMA


def test_the_name_says_whether_a_page_or_json_is_written(tmp_path: Path) -> None:
    assert "</html>" in AUDIT.save(str(tmp_path / "report.html")).read_text(encoding="utf-8")
    with pytest.raises(InputError, match=r"end the name in \.html or \.json"):
        AUDIT.save(tmp_path / "report.pdf")


def test_it_is_short_as_text_and_a_table_in_a_notebook() -> None:
    assert repr(AUDIT) == "<Audit of deer in cifar10: failed>"
    assert str(AUDIT.verdict) == AUDIT.verdict.sentence
    shown = AUDIT._repr_html_()
    assert "Failed: deer" in shown and "own &lt;logit&gt;" in shown and "<logit>" not in shown


def test_parts_are_asked_for_by_name() -> None:
    assert AUDIT.check("own-logit").values["unlearned"] == AUDIT["checks"][0]["values"]["unlearned"] == 0.9
    assert AUDIT.headline == (CHECK,) and AUDIT["headline"][0]["value"] == 0.9
    with pytest.raises(InputError, match="it has: own-logit"):
        AUDIT.check("nothing")


def test_records_of_the_first_version_open(tmp_path: Path) -> None:
    old = AUDIT.as_dict() | {"schema": "unclass-audit-1"}
    old["checks"] = [{key: value for key, value in old["checks"][0].items() if key not in ("key", "rank")}]
    old["checks"][0]["name"] = "accuracy on D_f after recalibration"
    old["headline"] = [{**old["headline"][0], "name": "accuracy on D_f after recalibration"}]
    del old["headline"][0]["key"]
    old["noise"] = {"own logit": [0.1, 0.2]}
    old["self_check"] = [
        {"model": "original", "expected": "failed", "found": "failed", "ok": True, "failed_checks": ["own logit"]}
    ]
    path = tmp_path / "audit.json"
    path.write_text(json.dumps(old), encoding="utf-8")
    found = Audit.read(path)
    assert [check.key for check in found.headline] == ["recalibration"]
    assert found.noise == {"own-logit": (0.1, 0.2)} and found.self_check[0].failed_checks == ("own-logit",)
    assert found.verdict == AUDIT.verdict


def test_a_check_that_is_not_known_any_more_or_not_yet_breaks_nothing() -> None:
    new = replace(CHECK, key="of-tomorrow", carries_verdict=False)
    assert Audit.of(replace(AUDIT, checks=(CHECK, new)).as_dict()).check("of-tomorrow") == new


@pytest.mark.parametrize(
    "text, words", [("{", "is not JSON"), ("[]", "no JSON object"), ('{"schema": "x"}', "schema 'x'")]
)
def test_what_is_not_an_audit_is_said_in_one_line(tmp_path: Path, text: str, words: str) -> None:
    path = tmp_path / "audit.json"
    path.write_text(text, encoding="utf-8")
    with pytest.raises(InputError, match=words):
        Audit.read(path)
