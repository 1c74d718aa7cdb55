"""unclass compare and unclass demo."""

import shutil
from collections.abc import Iterator, Sequence
from functools import partial
from pathlib import Path
from typing import Annotated, Any

import typer

from unclass import distributed
from unclass.api import DEFAULT_MODELS
from unclass.cli import options as o
from unclass.cli.console import give_json, note, say
from unclass.compare import Plan, run_folder
from unclass.compare import compare as run_comparison
from unclass.engine import Engine
from unclass.errors import InputError
from unclass.methods import METHODS
from unclass.methods.configure import configure
from unclass.methods.retrain import Retrain
from unclass.predictions import load_predictions
from unclass.report.table import markdown, table
from unclass.runs import Settings
from unclass.storage import write_atomically
from unclass.summary import summarise

DEMO_CLASS = "3"


def compare(
    data: Annotated[str, typer.Argument(help=o.DATA_HELP, show_default=False)],
    classes: o.Classes,
    methods: Annotated[
        str, typer.Option(help="Names or name@preset, with commas between; all by default.", show_default=False)
    ] = ",".join(METHODS),
    together: Annotated[bool, typer.Option("--together", help="Forget the classes at once, not one by one.")] = False,
    seeds: Annotated[str, typer.Option(help="Seeds, with commas between.")] = "0",
    original: Annotated[list[Path], typer.Option(help="Checkpoint for each seed; trained if not given.")] = [],
    model: o.Model = None,
    preset: o.PresetName = None,
    set_: Annotated[list[str], typer.Option("--set", help="option=value of the training recipe.")] = [],
    out: Annotated[Path, typer.Option(help="Folder for records, models and figures.")] = Path("unclass-compare"),
    batch_size: o.BatchSize = 64,
    root: o.Root = None,
    size: o.Size = None,
    people: o.People = 10,
    per_class: o.PerClass = None,
    split_seed: o.SplitSeed = 0,
    skip_bad: o.SkipBad = False,
    workers: o.Workers = 2,
    device: o.Device = "cpu",
    precision: o.Precision = "auto",
    json_: o.Json = False,
) -> None:
    """Run methods × classes × seeds beside retraining, and print mean ± spread. Goes on where it was when run again.

    Example: unclass compare cifar10 --class deer --class cat --methods boundary-shrink@authors,finetune --seeds 0,1,2
    """
    images = o.open_data(data, root, size, people, per_class, split_seed, skip_bad, workers, json_)
    recipe = configure("retrain", data=images.name, preset=preset, options=o.assignments(set_))
    assert isinstance(recipe, Retrain)
    plan = Plan(
        images,
        out,
        [name.strip() for name in methods.split(",") if name.strip()],
        [classes] if together else [[name] for name in classes],
        _numbers(seeds),
        model or DEFAULT_MODELS.get(images.name, "resnet-18"),
        recipe=recipe,
        originals=original,
        settings=Settings(0, batch_size, workers),
    )
    finish(plan, o.open_engine(device, precision, False, None, None, json_), json_)


def demo(
    out: Annotated[Path, typer.Option(help="Folder for records, models and figures.")] = Path("unclass-demo"),
    force: o.Force = False,
    json_: o.Json = False,
) -> None:
    """Forget a digit with every method, beside retraining. No download; about a minute.

    Example: unclass demo
    """
    if force and (out / "originals").is_dir():
        for name in ("runs", "originals", "updates", "figures"):
            shutil.rmtree(out / name, ignore_errors=True)
    images = o.open_data("digits", None, None, 2, None, 0, False, 0, json_)
    methods = [*METHODS, "boundary-shrink@authors", "boundary-expanding@authors"]
    plan = Plan(images, out, methods, [[DEMO_CLASS]])
    finish(plan, o.open_engine("cpu", "auto", False, None, None, json_), json_)


def finish(plan: Plan, engine: Engine, json_: bool) -> None:
    """Run a comparison, print its table, write its figures."""
    records = []
    for record in run_comparison(plan, engine):
        records.append(record)
        took = f"{record['cost']['seconds']:.1f} s" if record["cost"] else "evaluated"
        names = ", ".join(record["forget_classes"])
        note(f"{record['label']}, {names}, seed {record['seed']}: {record['failed'] or took}")
    rows = summarise(records)
    if distributed.is_first():
        write_figures(plan, rows)
    if json_:
        give_json({"out": str(plan.out), "rows": rows})
        return
    classes = " and ".join("+".join(map(str, labels)) for labels in plan.classes)
    say(table(rows, f"Forgetting {classes} of {plan.data.name}: accuracies and attack success rate (ASR) in %"))
    say("D_r, D_f: training images that stay, that go; D_rt, D_ft: test images. Nearer to the retrained row is better.")
    say(f"records, models and figures: {plan.out}")


def write_figures(plan: Plan, rows: Sequence[dict[str, Any]]) -> None:
    """Write the table as Markdown and the figures as PNG."""
    write_atomically(plan.out / "table.md", lambda file: file.write_text(markdown(rows), encoding="utf-8"))
    for name, figure in _figures(plan, rows):
        write_atomically(plan.out / "figures" / f"{name}.png", partial(figure.savefig, dpi=150, format="png"))


def _figures(plan: Plan, rows: Sequence[dict[str, Any]]) -> Iterator[tuple[str, Any]]:
    from unclass.report import figures as draw  # matplotlib takes a second to import: not for --help

    yield "attack-success", draw.attack_success(rows)
    yield "time", draw.times(rows)
    for split in plan.splits():
        models = {}
        for row in rows:
            folder = run_folder(plan, split, row["method"], plan.seeds[0])
            if (folder / "predictions.safetensors").exists():
                models[row["method"]] = load_predictions(folder / "predictions.safetensors")
        yield f"entropy-{'+'.join(map(str, split.classes))}", draw.entropies(models)


def _numbers(text: str) -> list[int]:
    try:
        return [int(part) for part in text.split(",")]
    except ValueError as error:
        raise InputError(f"seeds {text!r} are not whole numbers with commas between, such as 0,1,2") from error
