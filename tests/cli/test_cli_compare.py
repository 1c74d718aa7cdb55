"""`unclass compare` with a plan file: what the command line says goes before it, the usual values as well."""

from pathlib import Path
from typing import Any

import pytest

from unclass.cli import run
from unclass.errors import InputError

PLAN = """
data = "digits"
classes = ["3"]
[data_options]
per_class = 30
split_seed = 4
[engine]
precision = "bfloat16"
max_steps = 7
"""


@pytest.fixture
def asked(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Any:
    (tmp_path / "plan.toml").write_text(PLAN)
    found: dict[str, Any] = {}

    def compare(*_: Any, **given: Any) -> None:
        found.update(given)
        raise InputError("that is all that was to be known")

    monkeypatch.setattr("unclass.comparison.run.compare", compare)

    def ask(*line: str) -> dict[str, Any]:
        assert run(["compare", "--plan", str(tmp_path / "plan.toml"), *line]) == 2
        return found

    return ask


def test_what_the_command_line_does_not_say_is_as_the_plan_says(asked: Any) -> None:
    given = asked("--per-class", "20")
    options, engine = given["data_options"], given["engine"]
    assert (options.per_class, options.split_seed) == (20, 4)
    assert (engine.precision, engine.budget.steps) == ("bfloat16", 7)


def test_what_it_says_goes_before_the_plan_even_if_it_is_the_usual_value(asked: Any) -> None:
    given = asked("--split-seed", "0", "--precision", "float32", "--max-steps", "3")
    assert (given["data_options"].split_seed, given["data_options"].per_class) == (0, 30)
    assert (given["engine"].precision, given["engine"].budget.steps) == ("float32", 3)
