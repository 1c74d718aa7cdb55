"""Arguments of plain types are refused in one line before anything is done; what fits passes as it is."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from unclass import DataOptions, Engine
from unclass.border.plain_types import check_plain, plain_arguments
from unclass.errors import InputError


@plain_arguments
def verb(
    data: Any,
    count: int = 1,
    *,
    share: float | None = None,
    out: str | Path | None = None,
    keen: bool = False,
    engine: Engine | None = None,
    options: Mapping[str, Any] | None = None,
    tell: Callable[[str], object] | None = None,
    names: list[str] | str = (),  # type: ignore[assignment]
    **more: Any,
) -> tuple[Any, ...]:
    """Say what was given."""
    return data, count, share, out, keen, engine, options, tell, names, more


@pytest.mark.parametrize(
    "given, says",
    [
        ({"count": "2"}, "`count` is '2'; give a whole number"),
        ({"count": 2.0}, "`count` is 2.0; give a whole number"),
        ({"count": True}, "`count` is True; give a whole number"),
        ({"count": None}, "`count` is None; give a whole number"),
        ({"share": "a"}, "`share` is 'a'; give a number"),
        ({"out": 5}, "`out` is 5; give text or a path"),
        ({"keen": "yes"}, "`keen` is 'yes'; give True or False"),
        ({"engine": "cpu"}, "`engine` is 'cpu'; give Engine()"),
        ({"options": [1]}, "`options` is [1]; give a mapping"),
        ({"tell": "me"}, "`tell` is 'me'; give a function"),
    ],
)
def test_what_does_not_fit_is_named_with_what_does(given: dict[str, Any], says: str) -> None:
    with pytest.raises(InputError) as refused:
        verb(None, **given)
    assert str(refused.value) == says


def test_what_fits_is_handed_on_as_it_is_and_other_types_are_not_looked_at() -> None:
    engine = Engine(precision="float32")
    given = dict(share=1, out=Path("x"), keen=True, engine=engine, options={"a": 1}, tell=print, names=7, lr=object())
    found = verb("digits", np.int64(3), **given)
    assert found[:5] == ("digits", 3, 1, Path("x"), True) and found[5] is engine and found[8] == 7


def test_too_many_arguments_are_told_by_python_itself() -> None:
    with pytest.raises(TypeError, match=r"verb\(\) takes from 1 to 2 positional arguments but 3 were given"):
        verb(1, 2, 3)  # type: ignore[misc]


def test_a_long_value_is_cut() -> None:
    with pytest.raises(InputError) as refused:
        verb(None, count="x" * 5000)  # type: ignore[arg-type]
    assert len(str(refused.value)) < 150


def test_fields_of_options_are_looked_at_alike() -> None:
    @dataclass
    class Wanted:
        size: int | None = None

    check_plain({"size": 3}, Wanted)
    with pytest.raises(InputError, match="`size` is 'big'; give a whole number"):
        check_plain({"size": "big"}, Wanted)
    with pytest.raises(InputError, match="`per_class` is 'a'; give a whole number"):
        DataOptions(per_class="a")  # type: ignore[arg-type]
