"""unclass paper."""

from pathlib import Path
from typing import Annotated

import typer

from unclass.cli import options as o
from unclass.cli.console import as_options, give_json, note, say
from unclass.data import DataOptions
from unclass.progress import show, silent
from unclass.report.table import table
from unclass.reproduction.experiment import SCALES, built_in, find, read_experiment, read_setup
from unclass.reproduction.run import Paper
from unclass.reproduction.run import paper as run_paper
from unclass.training.engine import Engine


@o.taking(engine=o.engine_options)
def paper(
    *,
    engine: Engine,
    what: Annotated[
        str | None,
        typer.Argument(help="cifar10, faces, one of theirs such as cifar10/table1, or a folder or file of your own."),
    ] = None,
    list_: Annotated[bool, typer.Option("--list", help="Say which experiments there are, and run none.")] = False,
    scale: Annotated[str, typer.Option(help=f"How much to run: {', '.join(SCALES)}.")] = "smoke",
    root: o.Root = None,
    split_seed: o.SplitSeed = 0,
    skip_bad: o.SkipBad = False,
    workers: o.Workers = 2,
    original: Annotated[list[Path], typer.Option(help="Checkpoint for each seed; trained if not given.")] = [],
    set_: Annotated[list[str], typer.Option("--set", help="option=value of training, such as start=FILE.")] = [],
    model_set: o.ModelSet = [],
    out: Annotated[
        Path | None, typer.Option(help="Folder for all that comes out; unclass-paper-WHAT-SCALE if not given.")
    ] = None,
    audit: Annotated[bool, typer.Option(help="Also audit each method on the first seed.")] = False,
    with_pictures: Annotated[
        bool, typer.Option("--with-pictures", help="Draw attention maps too: they show pictures of the erased class.")
    ] = False,
    run: Annotated[bool, typer.Option(help="With --no-run: only write tables and figures of what is done.")] = True,
    json_: o.Json = False,
) -> None:
    """Make the paper's tables and figures beside its own numbers. Goes on where it was when run again.

    Example: unclass paper cifar10 --scale fair --out paper-cifar10
    """
    if list_ or what is None:
        _list(json_)
        return
    progress = silent if json_ else show
    setup = read_setup(find(what)[0], scale)
    options = DataOptions(root, split_seed=split_seed, skip_bad=skip_bad, workers=workers, progress=progress)
    made = run_paper(
        what,
        scale=scale, data_options=options, originals=original, recipe=o.method_options(set_),
        model_options=o.model_options(setup.model, model_set), out=out, audited=audit, run=run,
        with_pictures=with_pictures, engine=o.with_progress(engine, json_), tell=note,
    )  # fmt: skip
    _tell(made, json_)


def _list(json_: bool) -> None:
    folders = sorted(folder for folder in built_in().iterdir() if folder.is_dir())
    found = {folder.name: {file.stem: read_experiment(file) for file in find(folder.name)[1]} for folder in folders}
    if json_:
        give_json({name: {stem: one.title for stem, one in files.items()} for name, files in found.items()})
        return
    for name, files in found.items():
        say(f"{name}: {read_setup(built_in() / name / 'setup.toml', SCALES[0]).title}")
        for stem, one in files.items():
            say(f"  {name}/{stem}: {one.title}")


def _tell(made: Paper, json_: bool) -> None:
    if made.summary is None or made.written is None:  # a process that only helped
        return
    if json_:
        give_json(made.as_dict())
        return
    for case in made.summary.cases:
        say(table(case.done(), f"Forgetting {case.forgotten}: accuracies and attack success rate (ASR) in %"))
        for row in case.rows:
            if not row.runs:
                say(f"{row.method}: {row.why_not}")
    for name, why in made.written.missing.items():
        note(f"{name}: {as_options(why)}")
    say(f"tables, figures and records: {made.out}; report: {made.written.report}")
