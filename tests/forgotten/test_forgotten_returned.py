"""A run that brings something back is refused in a line, and cannot be gone on with."""

from pathlib import Path

import pytest

from unclass.errors import InputError
from unclass.forgotten.returned import refuse_return
from unclass.training.engine import Engine

ADVICE = "finetune brings back 3; nothing was written: choose another method or weaker options"


def test_the_point_to_resume_from_is_removed(tmp_path: Path) -> None:
    point = tmp_path / "model.resume"
    point.write_bytes(b"half-way")
    for _ in range(2):  # the second time there is none
        with pytest.raises(InputError) as refused:
            refuse_return(Engine(precision="float32", checkpoint=point), "finetune brings back 3")
        assert str(refused.value) == ADVICE and not point.exists()


def test_a_run_that_keeps_no_such_point_is_refused_too() -> None:
    with pytest.raises(InputError, match="brings back 3"):
        refuse_return(Engine(precision="float32"), "finetune brings back 3")
