"""Where things are kept that can be had again."""

from pathlib import Path

import pytest

from unclass.errors import InputError
from unclass.storage import cache_folder


def test_cache_folder_is_the_one_named_in_the_environment(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("UNCLASS_CACHE", str(tmp_path))
    assert cache_folder() == tmp_path
    monkeypatch.delenv("UNCLASS_CACHE")
    monkeypatch.setenv("HOME", str(tmp_path))
    assert cache_folder() == tmp_path / ".cache" / "unclass"


def test_who_has_no_home_is_told_what_to_set(monkeypatch: pytest.MonkeyPatch) -> None:
    def nobody() -> Path:
        raise RuntimeError("Could not determine home directory.")

    monkeypatch.delenv("UNCLASS_CACHE", raising=False)
    monkeypatch.setattr(Path, "home", nobody)
    with pytest.raises(InputError, match="UNCLASS_CACHE"):
        cache_folder()
