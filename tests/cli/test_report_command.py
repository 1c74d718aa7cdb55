"""unclass report makes a page again, and unclass limits shows what earlier runs judged."""

import json
from copy import deepcopy
from pathlib import Path

import pytest

from unclass.audits import Audit, Verdict
from unclass.cli import run
from unclass.models import Classifier, save


def test_a_page_is_made_again_from_audit_json_alone(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    audit = Audit(Verdict("failed", "Failed: deer is not gone."))
    audit.save(tmp_path / "audit.json")
    page = tmp_path / "page.html"
    assert run(["report", str(tmp_path / "audit.json"), "--out", str(page)]) == 0
    assert "Failed: deer is not gone." in page.read_text(encoding="utf-8") and str(page) in capsys.readouterr().out
    assert run(["report", str(tmp_path / "audit.json"), "--out", str(page)]) == 2
    assert "--force" in capsys.readouterr().err
    assert run(["report", str(tmp_path / "audit.json"), "--out", str(page), "--force"]) == 0
    assert run(["report", str(tmp_path / "audit.json"), "--out", str(tmp_path / "page.json")]) == 2
    assert ".html" in capsys.readouterr().err and not (tmp_path / "page.json").exists()


def test_what_is_no_audit_is_one_line(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "x.json").write_text("{}", encoding="utf-8")
    assert run(["report", str(tmp_path / "x.json"), "--out", str(tmp_path / "x.html")]) == 2
    assert "schema None" in capsys.readouterr().err


def test_error_rates_of_several_runs_are_shown_together(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    one = {"data": "digits", "check": "own-logit", "kind": "retrained", "references": 1, "status": "passed", "times": 3}
    files = []
    for place in range(2):
        files.append(tmp_path / f"{place}.json")
        files[-1].write_text(json.dumps({"schema": "unclass-error-rates-1", "judged": [one]}), encoding="utf-8")
    assert run(["limits", *map(str, files)]) == 0
    assert "| own logit | digits | 0 of 6 | 0 of 6 |" in capsys.readouterr().out
    assert run(["limits"]) == 2
    assert "nothing to show" in capsys.readouterr().err


def test_a_retrained_model_in_half_precision_is_judged_too(
    model: Classifier, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    for role, one in (("original", model), ("retrained", deepcopy(model).half())):
        save(one, tmp_path / f"{role}.safetensors")
    files = [f"--{role}={tmp_path / role}.safetensors" for role in ("original", "retrained")]
    done = run(["limits", *files, "--data", "digits", "--per-class", "12", "--class", "3"])
    assert done == 0, capsys.readouterr().err
    assert "| own logit | digits |" in capsys.readouterr().out
