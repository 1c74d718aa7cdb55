from pathlib import Path

import pytest

from unclass import compare
from unclass.comparison.plan_file import read_plan
from unclass.errors import InputError
from unclass.methods.delete import Delete


def write(folder: Path, text: str) -> Path:
    path = folder / "plan.toml"
    path.write_text(text, encoding="utf-8")
    return path


def test_a_plan_holds_everything_and_arguments_go_before_it(tmp_path: Path) -> None:
    path = write(
        tmp_path,
        f'data = "digits"\nclasses = "3"\nmethods = "logit-mask"\nseeds = [4]\nrecipe = {{ epochs = 1 }}\n'
        f"out = {str(tmp_path / 'out')!r}\naudited = false\nmodel_options = {{ width = 4 }}\n"
        '[data_options]\nper_class = 20\nworkers = 0\n[engine]\nprecision = "float32"\nmax_steps = 2\n',
    )
    found = compare(plan=path, classes="5")
    assert [record.label for record in found.records] == ["original", "retrain", "logit-mask"]
    record = found.records[1]
    assert (record.seed, record.forget_classes, record.precision) == (4, ("5",), "float32")
    assert record.cost is not None and record.cost.steps == 2 and record.counts["forget"] == 20


def test_methods_may_have_options(tmp_path: Path) -> None:
    text = 'methods = ["finetune@paper", { method = "delete", options = { epochs = 3 } }]'
    name, method = read_plan(write(tmp_path, text))["methods"]
    assert name == "finetune@paper" and isinstance(method, Delete) and method.epochs == 3


@pytest.mark.parametrize(
    "text, message",
    [
        ("clases = ['3']", "unknown key 'clases'.*did you mean classes"),
        ("seeds = [0.5]", "seeds in .* holds 0.5; give whole numbers"),
        ("classes = [3.5]", "classes in .* holds 3.5; give names or indices"),
        ("jobs = 0", "jobs in .* is 0; use 1 or more"),
        ("together = 1", "together in .* is int, not bool"),
        ("batch_size = true", "batch_size in .* is bool, not int"),
        ("methods = ['mine:Method']", "names code to run"),
        ("model = 'mine:network'", "names code to run"),
        ("methods = [3]", "give a name or"),
        ("[data_options]\nrot = 'x'", "unknown data option 'rot'.*did you mean root"),
        ("[engine]\nprogress = 'x'", "unknown engine option"),
        ("data = ", "is not TOML"),
    ],
)
def test_a_wrong_plan_is_one_line(tmp_path: Path, text: str, message: str) -> None:
    with pytest.raises(InputError, match=message):
        read_plan(write(tmp_path, text))


@pytest.mark.parametrize(("name", "value"), [("jobs", 0), ("jobs", 10**7), ("threads", -1), ("threads", 10**30)])
def test_processes_and_threads_are_a_number_that_a_machine_can_have(name: str, value: int, tmp_path: Path) -> None:
    with pytest.raises(InputError, match=f"{value} `{name}` are not allowed"):
        compare("digits", "3", out=tmp_path / "out", **{name: value})
    assert not (tmp_path / "out").exists()


def test_without_data_or_classes_there_is_nothing_to_compare(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="no `data` or no `classes`"):
        compare(plan=write(tmp_path, "seeds = 1"))
