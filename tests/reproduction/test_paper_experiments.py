"""The experiment files: complete, true to the paper, and refused in one line where they are wrong."""

import re
from pathlib import Path

import pytest

from unclass.errors import InputError
from unclass.reproduction.experiment import SCALES, built_in, find, read_experiment, read_setup
from unclass.reproduction.schedule import methods_of

PAPER = Path(__file__).parents[2].parent / "shared" / "paper" / "boundary-unlearning.tex"
FOLDERS = ("cifar10", "faces")
COLUMNS = ("D_r", "D_f", "D_rt", "D_ft")
ORDER = (
    "original", "retrain", "finetune", "negative-gradient", "random-labels", "boundary-shrink", "boundary-expanding",
)  # fmt: skip
COMPARED = {
    "retrain", "finetune", "random-labels", "negative-gradient", "fisher", "amnesiac", "boundary-shrink",
    "boundary-expanding",
}  # fmt: skip


def experiments(folder: str) -> list:
    return [read_experiment(file) for file in find(folder)[1]]


@pytest.mark.parametrize("folder", FOLDERS)
def test_every_method_of_the_paper_is_in_some_experiment(folder: str) -> None:
    shown = {name.partition("@")[0] for name in methods_of(experiments(folder))}
    assert shown - {"original"} == COMPARED | {"boundary-shift", "logit-mask"}  # ours, and the control


@pytest.mark.parametrize("folder", FOLDERS)
def test_both_boundary_methods_are_shown_as_printed_as_released_and_as_we_set_them(folder: str) -> None:
    shown = methods_of(experiments(folder))
    for name in ("boundary-shrink", "boundary-expanding"):
        assert {name, f"{name}@paper", f"{name}@authors"} <= set(shown)


@pytest.mark.parametrize("folder", FOLDERS)
def test_every_results_figure_of_the_paper_is_drawn(folder: str) -> None:
    drawn = {one.draw for one in experiments(folder)}
    assert drawn == {"table", "attack-success", "time", "attention", "decision-space", "entropy", "recalibration"}


@pytest.mark.parametrize("folder", FOLDERS)
@pytest.mark.parametrize("scale", SCALES)
def test_every_scale_has_two_retrained_models_for_the_noise_band(folder: str, scale: str) -> None:
    setup = read_setup(find(folder)[0], scale)
    assert all(len(seeds) >= 2 for _, seeds in setup.runs)


def test_fair_uses_all_training_images_of_cifar10_and_two_classes() -> None:
    setup = read_setup(find("cifar10")[0], "fair")
    assert setup.per_class is setup.test_per_class is None
    assert [label for label, _ in setup.runs] == ["deer", "airplane"]
    assert setup.classes_of(2) == ["deer"] and setup.seeds() == [0, 1, 2]


def numbers(line: str) -> list[float]:
    cells = [re.sub(r"\\textbf|\\hline|[{}\\\s]", "", cell) for cell in line.split("&")]
    return [float(cell) for cell in cells if re.fullmatch(r"\d+\.\d+", cell)]


@pytest.mark.skipif(not PAPER.is_file(), reason="the paper's source is not beside the project")
def test_the_numbers_of_table_1_are_the_papers() -> None:
    lines = [line for line in PAPER.read_text(encoding="utf-8").splitlines() if "Acc on $" in line]
    printed = [found for line in lines if len(found := numbers(line)) == 7]
    assert len(printed) == 8
    for folder, rows in zip(FOLDERS, (printed[:4], printed[4:]), strict=True):
        table = read_experiment(built_in() / folder / "table1.toml")
        assert set(table.paper) == set(ORDER)
        for column, row in zip(COLUMNS, rows, strict=True):
            assert [table.paper[method][column] for method in ORDER] == row


@pytest.mark.skipif(not PAPER.is_file(), reason="the paper's source is not beside the project")
def test_the_numbers_of_table_2_and_of_the_text_are_the_papers() -> None:
    text = PAPER.read_text(encoding="utf-8")
    table = read_experiment(built_in() / "cifar10" / "table2.toml").paper
    for name, method in (("Amnesiac Unlearning ", "amnesiac"), ("Fisher Forgetting &", "fisher")):
        line = next(line for line in text.splitlines() if line.strip().startswith(name) and "&" in line)
        assert [table[method][column] for column in COLUMNS] == numbers(line)
    for folder, method in [
        (folder, method) for folder in FOLDERS for method in ("boundary-shrink", "boundary-expanding")
    ]:
        paper = read_experiment(built_in() / folder / "time.toml").paper[method]
        assert rf"{paper['speed-up']}$\times$" in text
    assert table["fisher"]["seconds"] == 2.7e3 and r"2.7\times10^3" in text
    assert table["amnesiac"]["seconds"] == 2.8e2 and r"2.8\times10^2" in text


GOOD = 'title = "Mine"\ndraw = "table"\ncolumns = ["D_r"]\nmethods = ["finetune"]\nsetup = "cifar10"\n'


def write(path: Path, text: str) -> Path:
    path.write_text(text, encoding="utf-8")
    return path


def test_a_file_of_ones_own_may_use_a_setup_of_the_papers_or_one_beside_it(tmp_path: Path) -> None:
    mine = write(tmp_path / "mine.toml", GOOD)
    assert find(str(mine)) == (built_in() / "cifar10" / "setup.toml", [mine])
    alone = write(tmp_path / "alone.toml", GOOD.replace('setup = "cifar10"\n', ""))
    with pytest.raises(InputError, match="has no setup"):
        find(str(alone))
    setup = write(tmp_path / "setup.toml", 'title = "x"\n')
    assert find(str(alone)) == (setup, [alone])
    assert find(str(tmp_path)) == (setup, [alone, mine])


def test_one_table_can_be_asked_for_alone() -> None:
    assert [file.stem for file in find("cifar10/table2")[1]] == ["table2"]


@pytest.mark.parametrize(
    "change, message",
    [
        (("draw", "drwa"), "did you mean draw"),
        (('"table"', '"tables"'), "did you mean table"),
        (("D_r", "D_x"), "unknown column 'D_x'"),
        (('"finetune"', '"finetun"'), "did you mean finetune"),
        (('["finetune"]', '"finetune"'), "methods is 'finetune'; it must be a list"),
        (('title = "Mine"\n', ""), "lacks title"),
        (('columns = ["D_r"]\n', ""), "a table needs columns"),
        (('"cifar10"\n', '"cifar10"\n[paper]\nfinetune = { D_r = "x" }\n'), "write a number"),
        (("title =", "title"), "cannot be read as TOML"),
    ],
)
def test_a_wrong_experiment_is_refused_in_one_line(tmp_path: Path, change: tuple[str, str], message: str) -> None:
    path = write(tmp_path / "mine.toml", GOOD.replace(*change))
    with pytest.raises(InputError, match=message) as error:
        read_experiment(path)
    assert "\n" not in str(error.value).partition("cannot be read")[0]


SETUP = 'title = "x"\ndata = "cifar10"\nmodel = "all-cnn"\n[scale.smoke]\nruns = [{ class = "deer", seeds = [0] }]\n'


@pytest.mark.parametrize(
    "change, scale, message",
    [
        (("", ""), "fair", r"has no \[scale.fair\]; it has: smoke"),
        (("", ""), "huge", "unknown scale 'huge'"),
        (("runs", "run"), "smoke", "did you mean runs"),
        (("seeds = [0]", "seeds = []"), "smoke", "is not a run"),
        (("seeds = [0]", 'seeds = ["a"]'), "smoke", "are not whole numbers"),
        (("runs", "seeds_of = { finetun = [0] }\nruns"), "smoke", "did you mean finetune"),
        (("runs", 'seeds_of = { finetune = "0" }\nruns'), "smoke", "are not whole numbers"),
        (('data = "cifar10"\n', ""), "smoke", "lacks data"),
    ],
)
def test_a_wrong_setup_is_refused(tmp_path: Path, change: tuple[str, str], scale: str, message: str) -> None:
    path = write(tmp_path / "setup.toml", SETUP.replace(*change))
    with pytest.raises(InputError, match=message):
        read_setup(path, scale)


def test_an_unknown_experiment_names_those_there_are() -> None:
    with pytest.raises(InputError, match="cifar10/table1"):
        find("cifar11")
