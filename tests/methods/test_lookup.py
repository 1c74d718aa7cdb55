"""Methods are found in our table, in installed packages, and in code of one's own."""

import sys

import pytest

from unclass.errors import InputError
from unclass.methods import BENCH, CONTROLS, DEFAULT_METHOD, DEMO, METHODS, Method, Needs
from unclass.methods.configure import configure
from unclass.methods.lookup import checked, find_method, known_methods, name_of, plug_ins

OWN = """
from dataclasses import dataclass
from typing import ClassVar
from unclass.methods import Method, Needs, option

@dataclass(frozen=True)
class Nothing(Method):
    \"\"\"Do nothing.\"\"\"
    strength: float = option(1.0, "of nothing")
    needs: ClassVar[Needs] = Needs.NOTHING
    presets: ClassVar = {"paper": {"strength": 2.0}}
    def __call__(self, model, data, engine):
        return model

@dataclass(frozen=True)
class Bare:
    needs: ClassVar[Needs] = Needs.NOTHING
    def __call__(self, model, data, engine):
        return model

class Loose(Method):
    needs: ClassVar[Needs] = Needs.NOTHING

instance = Nothing()
"""


@pytest.fixture
def own(tmp_path, monkeypatch):
    """A module beside the user, and a package that brings one of its classes."""
    (tmp_path / "own_methods_here.py").write_text(OWN)
    info = tmp_path / "plugged-1.0.dist-info"
    info.mkdir()
    (info / "METADATA").write_text("Metadata-Version: 2.1\nName: plugged\nVersion: 1.0\n")
    points = [
        "plugged = own_methods_here:Nothing",
        "broken = no_such_module:Nothing",
        "retrain = own_methods_here:Bare",
    ]
    (info / "entry_points.txt").write_text("\n".join(["[unclass.methods]", *points]) + "\n")
    monkeypatch.chdir(tmp_path)
    monkeypatch.syspath_prepend(str(tmp_path))
    plug_ins.cache_clear()
    yield
    sys.modules.pop("own_methods_here", None)
    monkeypatch.undo()
    plug_ins.cache_clear()


def test_a_class_of_ones_own_is_configured_like_ours(own):
    method = configure("own_methods_here:Nothing", preset="paper", options={})
    assert (method.strength, method.needs) == (2.0, Needs.NOTHING)
    assert configure("own_methods_here:Nothing", options={"strength": "3"}).strength == 3.0


def test_an_installed_package_brings_methods_under_their_names(own):
    assert find_method("plugged").__name__ == "Nothing"
    assert name_of(configure("plugged")) == "plugged"
    assert list(known_methods()) == [*METHODS, "plugged"]


def test_our_own_names_cannot_be_taken(own):
    assert find_method("retrain") is METHODS["retrain"] and "retrain" not in plug_ins()


def test_a_name_finds_the_same_method_again():
    for name, kind in METHODS.items():
        assert name_of(kind()) == name and find_method(name) is kind


@pytest.mark.parametrize(
    "name, says",
    [
        ("broken", r"plug-in broken \(no_such_module:Nothing\) cannot be loaded"),
        ("no_such_module:Nothing", "no_such_module cannot be imported"),
        ("own_methods_here:Nothin", "unknown class 'Nothin' in own_methods_here.*did you mean Nothing"),
        ("own_methods_here:Bare", "does not declare in_short, needs_head, .* inherit from unclass.methods.Method"),
        ("own_methods_here:Loose", "is not a dataclass"),
        ("own_methods_here:instance", "is a Nothing, not a class"),
        ("pluged", "unknown method 'pluged'.*did you mean plugged"),
    ],
)
def test_what_is_no_method_is_said_in_one_line(own, name, says):
    with pytest.raises(InputError, match=says) as error:
        find_method(name)
    assert "\n" not in str(error.value)


@pytest.mark.parametrize("code", ["raise RuntimeError('no operator')", "1 / 0", "def (", "import no_such_module"])
def test_code_that_fails_while_it_is_imported_is_one_line(code, tmp_path, monkeypatch):
    (tmp_path / "fails_early.py").write_text(code)
    monkeypatch.syspath_prepend(tmp_path)
    with pytest.raises(InputError, match="fails_early cannot be imported"):
        find_method("fails_early:Method")


def test_a_function_is_no_method():
    with pytest.raises(InputError, match="name the method's class"):
        checked(print, "print")


def test_controls_demo_and_bench_are_what_the_methods_declare() -> None:
    assert set(CONTROLS) == {name for name, kind in METHODS.items() if kind.role == "control"} and len(CONTROLS) > 1
    for specs, declared in ((DEMO, "demo_presets"), (BENCH, "bench_presets")):
        wanted = [(name, preset) for name, kind in METHODS.items() for preset in getattr(kind, declared)]
        assert sorted(specs) == sorted(f"{name}@{preset}" if preset else name for name, preset in wanted)
        assert specs[0] == DEFAULT_METHOD
        assert all(not preset or preset in METHODS[name].presets for name, preset in wanted)
    assert set(CONTROLS) < set(DEMO)


def test_a_method_of_ones_own_is_in_neither_unless_it_says_so() -> None:
    assert Method.demo_presets == Method.bench_presets == () and Method.role == "method"
