"""`-v` says first what a command runs on and where it keeps things."""

import logging
from collections.abc import Iterator
from pathlib import Path

import pytest
import torch

import unclass
from unclass.cli.console import set_loudness
from unclass.cli.verbose import tell_place


@pytest.fixture(autouse=True)
def as_loud_as_before() -> Iterator[None]:
    log = logging.getLogger("unclass")
    before, level = list(log.handlers), log.level
    yield
    set_loudness(quiet=False, verbose=False)
    log.handlers[:], log.level = before, level


def test_versions_threads_and_folders_are_said(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setenv("UNCLASS_CACHE", str(tmp_path))
    tell_place()
    told = capsys.readouterr()
    first, second = told.err.splitlines()
    assert f"unclass {unclass.__version__}, torch {torch.__version__}" in first
    assert f"threads: {torch.get_num_threads()}," in first
    assert str(tmp_path) in second and told.out == ""
