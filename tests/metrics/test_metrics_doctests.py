"""Every public metric shows its formula and a number, and the number is right."""

import doctest
import pkgutil
from importlib import import_module
from typing import Any

import pytest

from unclass import metrics

MODULES = [f"unclass.metrics.{one.name}" for one in pkgutil.iter_modules(metrics.__path__)]
FUNCTIONS = [name for name in metrics.__all__ if callable(getattr(metrics, name)) and not name[0].isupper()]


@pytest.mark.parametrize("name", MODULES)
def test_the_examples_give_the_numbers_they_show(name: str) -> None:
    done = doctest.testmod(import_module(name), optionflags=doctest.NORMALIZE_WHITESPACE)
    assert done.failed == 0


@pytest.mark.parametrize("name", FUNCTIONS)
def test_every_public_metric_has_an_example(name: str) -> None:
    function: Any = getattr(metrics, name)
    assert f"{name}(" in function.__doc__.partition(">>>")[2]
