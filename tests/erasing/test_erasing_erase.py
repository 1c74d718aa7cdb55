"""Erasing: one unit, resumable at every step, serial for each model, and nothing in service that did not pass."""

import json
import threading
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from unclass.audits.result import Audit
from unclass.data import DataOptions
from unclass.erasing import erase as module
from unclass.erasing import work
from unclass.erasing.erase import erase
from unclass.erasing.job import Job
from unclass.erasing.work import settings_of
from unclass.errors import InputError
from unclass.ledger.files import content_digest
from unclass.ledger.history import history, status
from unclass.ledger.models import in_service, register, roll_back
from unclass.ledger.requests import add_request, list_requests
from unclass.ledger.store import Ledger
from unclass.ledger.verify import verify_pack
from unclass.models import Classifier, Opening, save
from unclass.training.engine import Engine


@pytest.fixture(scope="module", autouse=True)
def audits_computed_once() -> Iterator[None]:
    """The audit of the same two files is handed out again: these tests are of the steps around it."""
    whole, kept = work.audit, {}

    def remembered(unlearned: Path, original: Path, data: str, classes: list[str], *others: Any, **given: Any) -> Audit:
        key = content_digest(unlearned), content_digest(original), data, *classes
        if key not in kept:
            kept[key] = whole(unlearned, original, data, classes, *others, **given)
        return kept[key]

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(work, "audit", remembered)
        yield


@pytest.fixture
def own(trained: Classifier, tmp_path: Path) -> Iterator[Ledger]:
    """A ledger with the tiny network in service, and a request that 3 be forgotten."""
    file = save(trained, tmp_path / "digits.safetensors")
    settings = settings_of("digits", DataOptions(per_class=40), Opening())
    with Ledger(tmp_path / "unclass.ledger", create=True) as ledger:
        register(ledger, file, trained.card.as_dict(), settings, name="digits", operator="ann")
        add_request(ledger, classes=["3"], operator="ann")
        yield ledger


@pytest.fixture
def job(key: Path) -> Job:
    """As an operator would who also takes a model whose audit is left open: tiny networks differ between processors."""
    return Job(key, engine=Engine(precision="float32"), accept="undecided is enough for a test")


def _state(ledger: Ledger, request: str = "R-1") -> str:
    return next(one.state for one in list_requests(ledger) if one.id == request)


def test_an_erasure_answers_its_request_and_leaves_evidence(own: Ledger, job: Job, key: Path) -> None:
    done = erase(own, "R-1", job, "ann")
    assert done.is_done and done.version == 2
    assert _state(own) == "done" and status(own).is_well
    found = verify_pack(done.pack, key.with_suffix(".pub"), model=in_service(own.database, "digits").file(own))
    assert found.holds, found.flaws
    versions = history(own, "digits")
    assert [one["in_service"] for one in versions] == [False, True]
    assert versions[1]["forgotten"] == ["3"] and versions[1]["parent"] == 1
    assert found.manifest["models"]["original"]["sha256"] == versions[0]["sha256"]
    assert not list((own.folder / "work").glob("[0-9]*"))
    count = own.database.execute("SELECT count(*) FROM erased_images WHERE request = 'R-1'").fetchone()[0]
    assert count == 40


def test_done_again_it_changes_nothing(own: Ledger, job: Job) -> None:
    first = erase(own, "R-1", job, "ann")
    assert erase(own, "R-1", job, "bob") == first
    assert len(history(own, "digits")) == 2


def test_a_chain_of_erasures_names_the_one_before(own: Ledger, job: Job) -> None:
    first = erase(own, "R-1", job, "ann")
    add_request(own, classes=["8"], operator="ann")
    second = erase(own, "R-2", replace(job, accept="a second class on a tiny network"), "ann")
    chain = json.loads((second.pack / "manifest.json").read_text())["chain"]
    envelope = own.database.execute("SELECT sha256 FROM packs WHERE name = 'R-1'").fetchone()["sha256"]
    assert chain["previous_pack"] == envelope
    assert [_state(own, one) for one in ("R-1", "R-2")] == ["done", "done"]
    assert set(history(own, "digits")[2]["answers"]) == {"R-1", "R-2"}
    roll_back(own, "digits", 2, "ann")
    assert [_state(own, one) for one in ("R-1", "R-2")] == ["done", "open"]
    assert first.pack.is_dir()


@pytest.mark.parametrize("broken", ["forget_step", "audit_step", "write_pack", "_put_into_service"])
def test_what_was_interrupted_goes_on(own: Ledger, job: Job, broken: str, monkeypatch: pytest.MonkeyPatch) -> None:
    whole, calls = getattr(module, broken), []

    def dies(*given):
        calls.append(broken)
        if len(calls) == 1:
            if broken != "_put_into_service":
                whole(*given)  # after its work and before the ledger knows of it
            raise KeyboardInterrupt
        return whole(*given)

    monkeypatch.setattr(module, broken, dies)
    with pytest.raises(KeyboardInterrupt):
        erase(own, "R-1", job, "ann")
    assert _state(own) == "at work" and in_service(own.database, "digits").number == 1
    done = erase(own, "R-1", job, "ann")
    assert done.version == 2 and verify_pack(done.pack).holds
    assert own.database.execute("SELECT count(*) FROM erasures").fetchone()[0] == 1


def test_an_audit_that_fails_leaves_the_old_version_until_somebody_decides(own: Ledger, job: Job) -> None:
    weak = replace(job, accept="", method="finetune", options={"epochs": "1", "lr": "1e-6"})
    done = erase(own, "R-1", weak, "ann")
    assert not done.is_done and done.status == "failed"
    assert _state(own) == "failed" and not status(own).is_well
    assert in_service(own.database, "digits").number == 1
    with pytest.raises(InputError, match="failed its audit with these settings"):
        erase(own, "R-1", weak, "ann")
    accepted = erase(own, "R-1", replace(weak, accept="we know better"), "bob")
    manifest = json.loads((accepted.pack / "manifest.json").read_text())
    assert accepted.version == 2 and _state(own) == "done"
    assert manifest["accepted"]["reason"] == "we know better" and manifest["verdict"]["status"] == "failed"


def test_another_method_is_another_attempt(own: Ledger, job: Job) -> None:
    weak = replace(job, accept="", method="finetune", options={"epochs": "1", "lr": "1e-6"})
    erase(own, "R-1", weak, "ann")
    assert erase(own, "R-1", job, "ann").is_done
    steps = [row["step"] for row in own.database.execute("SELECT step FROM erasures ORDER BY id")]
    assert steps == ["abandoned", "finished"]


def test_of_a_few_images_a_person_decides(own: Ledger, job: Job) -> None:
    add_request(own, images=["5", "17", "33"], operator="ann", id="images")
    listed = replace(job, method="finetune", options={"epochs": "1"})
    assert erase(own, "images", listed, "ann").status == "undecided"
    done = erase(own, "images", replace(listed, accept="scores are as those of other images"), "ann")
    assert done.is_done
    assert json.loads((done.pack / "manifest.json").read_text())["erased"]["images"]["count"] == 3


def test_a_version_put_in_meanwhile_is_not_overwritten(
    own: Ledger, job: Job, trained: Classifier, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    real = module._pack

    def slow(*given):
        other = replace(trained.card, recipe={"epochs": 99})
        file = save(Classifier(trained.network, other), tmp_path / "other.safetensors")
        settings = settings_of("digits", DataOptions(per_class=40), Opening())
        register(own, file, other.as_dict(), settings, name="digits", operator="bob")
        monkeypatch.setattr(module, "_pack", real)
        return real(*given)

    monkeypatch.setattr(module, "_pack", slow)
    with pytest.raises(InputError, match="put into service meanwhile"):
        erase(own, "R-1", job, "ann")
    assert in_service(own.database, "digits").number == 2 and _state(own) == "open"
    assert erase(own, "R-1", job, "ann").version == 3


def test_two_at_once_wait_for_each_other(own: Ledger, job: Job) -> None:
    add_request(own, classes=["8"], operator="bob")
    found, heard = {}, []

    def work(request: str) -> None:
        with Ledger(own.path) as opened:
            chosen = replace(job, accept="tiny network", engine=Engine(precision="float32"))
            found[request] = erase(opened, request, chosen, "ann", heard.append)

    threads = [threading.Thread(target=work, args=(one,)) for one in ("R-1", "R-2")]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(120)
    assert sorted(one.version for one in found.values()) == [2, 3]
    assert any("waiting" in line for line in heard)
    assert [_state(own, one) for one in ("R-1", "R-2")] == ["done", "done"]
