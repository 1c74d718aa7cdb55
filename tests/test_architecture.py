"""Imports point one way, and files stay small."""

import ast
from pathlib import Path

import pytest

import unclass
from unclass.methods import METHODS

SOURCE = Path(unclass.__file__).parent
FILES = sorted(SOURCE.rglob("*.py"))
MOST_LINES = 300

# From the ground up. A part may import what stands before it, and itself; those in one line do not know each other.
LAYERS = (
    ("errors",),
    ("border", "extras", "progress", "storage"),
    ("data", "models"),
    ("training",),
    ("methods", "predictions"),
    ("metrics",),
    ("forgotten",),
    ("records",),
    ("running",),
    ("compatibility", "destination"),
    ("arguments",),
    ("audits", "testing"),
    ("comparison",),
    ("report",),
    ("ledger",),
    ("api",),
    ("benchmark", "checkup", "erasing", "reproduction", "tuning"),
    ("cli",),
    ("__main__",),
)
# Results hand themselves over to the page that shows them, inside the method that was asked to.
SHOWN_BY_REPORT = ("audits/result.py", "comparison/result.py")
# Inside `audits`, likewise.
AUDITS = (
    ("evidence", "older"),
    ("result",),
    ("catalogue",),
    ("check",),
    ("layers", "limits", "neighbour_attack", "probe", "recalibration", "retraining", "stopwatch", "thumbnails"),
    ("observe",),
    ("inside", "relearn", "retain_change"),
    ("looking",),
    ("examine",),
    ("attention", "decision_space", "closeness", "figure_words", "provenance", "shadow", "utility"),
    ("next_steps", "privacy", "residual", "sections"),
    ("shadow_count",),
    ("subjects",),
    ("error_rates", "verdict"),
    ("run",),
    ("__init__",),
)
LEVEL = {part: level for level, parts in enumerate(LAYERS) for part in parts}


def part(path: Path) -> str:
    return path.relative_to(SOURCE).parts[0].removesuffix(".py")


def imported_parts(path: Path) -> set[str]:
    """The parts of the package that a file imports anywhere in it, functions included."""
    found: set[str] = set()
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.ImportFrom):
            assert node.level == 0, f"{path.name}: a relative import"
            if node.module == "unclass":
                found |= {alias.name for alias in node.names}
            elif node.module and node.module.startswith("unclass."):
                found.add(node.module.split(".")[1])
        elif isinstance(node, ast.Import):
            found |= {alias.name.split(".")[1] for alias in node.names if alias.name.startswith("unclass.")}
    return found


def test_every_part_has_its_place() -> None:
    parts = {part(path) for path in FILES} - {"__init__"}
    assert parts <= set(LEVEL)


@pytest.mark.parametrize("path", FILES, ids=lambda path: path.relative_to(SOURCE).as_posix())
def test_imports_point_one_way(path: Path) -> None:
    own = part(path)
    imported = imported_parts(path) - {own}
    if own == "__init__":
        assert not imported & {"cli", "report"}
        return
    if path.relative_to(SOURCE).as_posix() in SHOWN_BY_REPORT:
        imported -= {"report"}
    wrong = {name for name in imported if LEVEL[name] >= LEVEL[own]}
    assert not wrong, f"{own} must not know {', '.join(sorted(wrong))}"


def test_results_know_the_page_only_inside_a_method() -> None:
    for name in SHOWN_BY_REPORT:
        tree = ast.parse((SOURCE / name).read_text(encoding="utf-8"))
        assert not any(isinstance(node, ast.ImportFrom) and "report" in str(node.module) for node in tree.body)


def test_audits_have_an_order_of_their_own() -> None:
    level = {name: place for place, names in enumerate(AUDITS) for name in names}
    files = sorted((SOURCE / "audits").glob("*.py"))
    assert {path.stem for path in files} == set(level)
    for path in files:
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if not isinstance(node, ast.ImportFrom) or not str(node.module).startswith("unclass.audits"):
                continue
            inner = str(node.module).split(".")[2:] or [alias.name for alias in node.names]
            wrong = [name for name in inner[:1] if level.get(name, 99) >= level[path.stem]]
            assert not wrong, f"{path.stem} must not know {wrong[0]}"


def test_nobody_knows_the_command_line() -> None:
    for path in FILES:
        if part(path) not in ("cli", "__main__"):
            assert "cli" not in imported_parts(path), path


def test_metrics_and_reports_never_see_a_model() -> None:
    for path in FILES:
        if part(path) in ("metrics", "report"):
            assert not imported_parts(path) & {"models", "methods", "training", "running"}, path


def test_methods_never_print_save_seed_or_choose_a_device() -> None:
    for path in FILES:
        if part(path) == "methods":
            calls = {
                ast.unparse(node.func)
                for node in ast.walk(ast.parse(path.read_text(encoding="utf-8")))
                if isinstance(node, ast.Call)
            }
            assert not calls & {"print", "torch.save", "torch.manual_seed", "torch.cuda.is_available", "save"}, path


@pytest.mark.parametrize("path", FILES, ids=lambda path: path.relative_to(SOURCE).as_posix())
def test_files_stay_small(path: Path) -> None:
    assert len(path.read_text(encoding="utf-8").splitlines()) <= MOST_LINES


def names_listed(path: Path) -> set[str]:
    """The methods that a file names side by side, in a list, a tuple, a set or the keys of a mapping."""
    found: set[str] = set()
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        parts = node.keys if isinstance(node, ast.Dict) else getattr(node, "elts", [])
        texts = [part.value for part in parts if isinstance(part, ast.Constant) and isinstance(part.value, str)]
        named = {text for text in texts if text.partition("@")[0] in METHODS}
        found |= named if len(named) > 1 else set()
    return found


def test_methods_are_listed_in_their_table_alone() -> None:
    listed = {path.relative_to(SOURCE).as_posix(): names_listed(path) for path in FILES if part(path) != "methods"}
    assert not {name: names for name, names in listed.items() if names}
    assert names_listed(SOURCE / "methods" / "__init__.py") == set(METHODS)


def test_there_are_no_drawers_for_everything() -> None:
    assert not {"utils", "helpers", "common", "misc"} & {path.stem for path in FILES}


def test_every_public_name_is_found_where_the_package_says() -> None:
    homes = [name for names in unclass._HOMES.values() for name in names.split()]
    assert sorted(homes) == sorted(unclass.__all__)
    for name in unclass.__all__:
        assert getattr(unclass, name) is not None
