"""How a model of the ledger is opened: settings that hold wherever the next operator stands."""

from pathlib import Path

import pytest

from unclass.cli import run
from unclass.data import DataOptions
from unclass.erasing.work import read_settings, settings_of
from unclass.models import Classifier, Opening, save


def test_paths_are_kept_as_they_are_from_everywhere(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "photos").mkdir()
    small = Opening("small-cnn", {"width": 4})
    settings = settings_of("folder:photos", DataOptions(root=Path("photos"), size=8), small)
    monkeypatch.chdir("/")
    data, where, opening = read_settings(settings)
    assert data == f"folder:{tmp_path / 'photos'}" and where == DataOptions(root=tmp_path / "photos", size=8)
    assert opening == small


@pytest.mark.parametrize("name", ["loop", "~nobody-of-this-name/photos", "~/photos"])
def test_links_in_a_circle_and_homes_that_are_not_there_are_one_line(
    name: str,
    trained: Classifier,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("HOME", str(tmp_path / "no-home"))
    Path("loop").symlink_to("loop")
    file = save(trained, tmp_path / "model.safetensors")
    assert settings_of(f"folder:{name}", DataOptions(root=Path(name)), Opening())["data"].startswith("folder:")
    for data in ([f"folder:{name}"], ["digits", "--root", name]):
        code = run(["ledger", "add", str(file), "--data", *data, "--ledger", str(tmp_path / "unclass.ledger")])
        told = capsys.readouterr().err
        assert code in ((0, 2) if data[0] == "digits" else (2,))
        assert "Traceback" not in told and len(told.strip().splitlines()) <= 1


def test_an_export_is_refused_in_one_line_that_says_what_to_give(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    Path("model.onnx").write_bytes(b"\x08\x0a\x12\x07pytorch")
    for command in (["ledger", "add"], ["evaluate"]):
        assert run([*command, "model.onnx", "--data", "digits", *(["--class", "3"] if len(command) == 1 else [])]) == 2
        told = capsys.readouterr().err.strip()
        assert told.startswith("error: model.onnx is an export: .onnx is written, not opened; give the .safetensors")
        assert len(told.splitlines()) == 1
    assert not Path("unclass.ledger").exists()
