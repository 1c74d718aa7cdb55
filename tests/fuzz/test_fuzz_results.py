"""What our own commands wrote and read again, damaged: records, audits, summaries, predictions, resume files, plans."""

import json
from pathlib import Path
from typing import Any

import pytest
import torch

from fuzz.mutations import broken, damaged
from fuzz.test_fuzz import Campaign, campaign  # noqa: F401 - a fixture
from report.audit_example import full_audit
from unclass.audits.result import Audit
from unclass.cli.report import report
from unclass.cli.settings import defaults_for
from unclass.data import Split
from unclass.errors import InputError
from unclass.predictions import load_predictions, predict_sets, save_predictions
from unclass.records import read_record
from unclass.report.drawings import drawings
from unclass.report.paper.blocks import overview
from unclass.report.paper.summary import read_summary
from unclass.reproduction.experiment import read_experiment, read_setup
from unclass.storage import Output, with_digest
from unclass.training.engine import Engine
from unclass.training.resume import ResumeFile

RECORD = {
    "schema": "unclass-record-2", "kind": "forget", "label": "finetune", "forget_classes": ["3"], "method": "finetune",
    "data": {
        "name": "digits", "classes": ["0", "1"], "train": {"count": 3, "digest": "x"},
        "test": {"count": 1, "digest": "y"},
    },
    "counts": {"retain": 3}, "original": {"weights": "z", "card": {"architecture": "small-cnn"}},
    "options": {"lr": 0.1}, "seed": 0, "batch_size": 64, "precision": "float32",
    "cost": {"seconds": 1.5, "steps": 3, "updates": None},
    "scores": {"accuracy_retain": 0.9, "attack_success_rate": 0.5}, "environment": {"versions": {}, "hardware": {}},
}  # fmt: skip
EARLIER = {
    "schema": "unclass-record-1", "label": "finetune", "figures": {"accuracy_retain": 0.9}, "versions": {"python": "3"},
    "hardware": {"cores": 2}, "data": RECORD["data"], "forget_classes": ["3"], "cost": None,
    "failed": None, "recipe": {},
}  # fmt: skip

SUMMARY = {
    "schema": "unclass-paper-1", "command": "unclass paper mine", "precision": ["float32"],
    "setup": {"name": "m", "scale": "fair", "title": "M", "data": "digits", "model": "m", "runs": [["3", [0]]]},
    "environment": {"versions": {}, "hardware": {"processor": "p", "threads": 1, "accelerators": []}},
    "data": {"name": "digits", "train": 90, "test": 10}, "progress": {"done": 1, "planned": 1},
    "experiments": [{"name": "t", "title": "T", "shows": "", "draw": "time", "methods": ["fisher"]}],
    "cases": [{"class": "3", "seeds": [0], "rows": [{
        "method": "fisher", "runs": 1, "failed": 0, "accuracy_forget": {"mean": 0.2, "spread": 0.1}, "seeds": [0],
        "seconds": {"mean": 7.0, "spread": 1.0}, "range": {"accuracy_forget": [0.2, 0.3]}, "updates": {"bytes": 5},
    }]}],
}  # fmt: skip


@pytest.mark.usefixtures("good")
def test_records(campaign: Campaign, tmp_path: Path) -> None:  # noqa: F811
    path = tmp_path / "record.json"
    for number, draw in campaign.draws("record", 250):
        content = json.dumps(damaged((RECORD, EARLIER)[number % 2], draw)).encode()
        path.write_bytes(broken(content, draw) if number % 5 == 0 else content)
        campaign.taken_or_refused(lambda: read_record(path))


EARLIER_AUDIT = {"schema": "unclass-audit-1", "checks": [{"name": "RMIA"}], "headline": [], "verdict": {}}


def signed(content: Any) -> bytes:
    """JSON with the digest that fits it: who edits a file can compute that, so it must not be what saves us."""
    return json.dumps(with_digest(content) if isinstance(content, dict) else content).encode()


def test_audits(campaign: Campaign, tmp_path: Path) -> None:  # noqa: F811
    path, good = tmp_path / "audit.json", (full_audit().as_dict(), EARLIER_AUDIT)
    for number, draw in campaign.draws("audit", 120):
        content = signed(damaged(good[number % len(good)], draw))
        path.write_bytes(broken(content, draw) if number % 5 == 0 else content)
        campaign.taken_or_refused(lambda: Audit.read(path).as_dict())


def test_audits_that_fit_their_digest_are_shown_and_drawn_or_refused(
    campaign: Campaign,  # noqa: F811
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
) -> None:
    path, good = tmp_path / "audit.json", full_audit().as_dict()
    for number, draw in campaign.draws("shown audit", 60):
        path.write_bytes(signed(damaged(good, draw)))
        campaign.taken_or_refused(lambda: report(path, tmp_path / "page.html", force=True, json_=True))
        campaign.taken_or_refused(lambda number=number: shown(tmp_path, number))
    capsys.readouterr()


def shown(folder: Path, number: int) -> None:
    """Draw one of the figures of the audit in a folder, by turns."""
    found = list(drawings(folder))
    found[number % len(found)][1]()


def test_summaries(campaign: Campaign, tmp_path: Path) -> None:  # noqa: F811
    path = tmp_path / "summary.json"
    for number, draw in campaign.draws("summary", 60):
        content = json.dumps(damaged(SUMMARY, draw)).encode()
        path.write_bytes(broken(content, draw) if number % 5 == 0 else content)
        campaign.taken_or_refused(lambda: overview(read_summary(path)))


def test_predictions(campaign: Campaign, trained: Any, split: Split, tmp_path: Path) -> None:  # noqa: F811
    path = save_predictions(predict_sets(trained, split, Engine(precision="float32")), tmp_path / "p.safetensors")
    good = path.read_bytes()
    for _, draw in campaign.draws("predictions", 120):
        path.write_bytes(broken(good, draw))
        campaign.taken_or_refused(lambda: load_predictions(path))


def test_resume_files(campaign: Campaign, trained: Any, tmp_path: Path) -> None:  # noqa: F811
    path = tmp_path / "model.resume"
    network = trained.network
    optimiser = torch.optim.SGD(network.parameters(), 0.1)
    from unclass.training.resume import Position

    with pytest.raises(KeyboardInterrupt), Output(tmp_path / "model", resume=path):
        ResumeFile(path, "run").finish(network, optimiser, Position())
        raise KeyboardInterrupt
    good = path.read_bytes()
    for _, draw in campaign.draws("resume", 120):
        path.write_bytes(broken(good, draw))
        campaign.taken_or_refused(lambda: ResumeFile(path, "run").load(network, optimiser))


VALUES = (
    "nan",
    "-inf",
    "1e400",
    '""',
    '"x"',
    "[]",
    "{}",
    "-1",
    "3.5",
    "true",
    "[[]]",
    "99999999999999999999",
    "1979-05-27",
)
SETUP = """
title = "t"
data = "digits"
model = "small-cnn"
[scale.smoke]
runs = [{ class = "3", seeds = [0, 1] }]
"""
EXPERIMENT = """
title = "t"
draw = "table"
methods = ["retrain", "finetune"]
columns = ["D_r"]
[paper.finetune]
D_r = 99.0
"""


def changed(text: str, draw: Any) -> str:
    lines = text.strip().splitlines()
    place = draw.randrange(len(lines))
    key, equals, _ = lines[place].partition("=")
    lines[place] = (
        f"{key}= {draw.choice(VALUES)}" if equals and draw.random() < 0.8 else draw.choice(("", "x", "[a", "x = 1"))
    )
    return "\n".join(lines)


def test_plans_and_settings(campaign: Campaign, tmp_path: Path) -> None:  # noqa: F811
    from unclass.cli import command_line

    commands = command_line().commands
    settings = 'size = 64\nclass = ["a"]\n[forget]\nseed = 3\n'
    for number, draw in campaign.draws("toml", 240):
        path = tmp_path / ("setup.toml", "table.toml", "unclass.toml")[number % 3]
        text = changed((SETUP, EXPERIMENT, settings)[number % 3], draw).encode()
        path.write_bytes(broken(text, draw) if number % 7 == 0 else text)
        work = (
            lambda path=path: read_setup(path, "smoke"),
            lambda path=path: read_experiment(path),
            lambda: defaults_for(commands, tmp_path, {}),
        )[number % 3]
        campaign.taken_or_refused(work)
        (tmp_path / "unclass.toml").unlink(missing_ok=True)


def test_good_ones_are_taken(tmp_path: Path) -> None:
    (tmp_path / "setup.toml").write_text(SETUP)
    (tmp_path / "table.toml").write_text(EXPERIMENT)
    assert read_setup(tmp_path / "setup.toml", "smoke").runs
    assert read_experiment(tmp_path / "table.toml").columns
    for content in (RECORD, EARLIER):
        (tmp_path / "record.json").write_text(json.dumps(content))
        assert read_record(tmp_path / "record.json").forget_classes == ("3",)
    with pytest.raises(InputError):
        read_summary(tmp_path / "record.json")
