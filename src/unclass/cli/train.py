"""unclass train."""

from pathlib import Path
from typing import Annotated

import typer

from unclass.api import record_of
from unclass.api import train as run_train
from unclass.arguments import DEFAULT_MODELS
from unclass.cli import options as o
from unclass.cli.console import give_json, note, say
from unclass.cli.plain_options import LedgerFile
from unclass.data import DataOptions
from unclass.training.engine import Engine


@o.taking(data_options=o.data_options, engine=o.engine_options)
def train(
    *,
    data_options: DataOptions,
    engine: Engine,
    data: Annotated[str, typer.Argument(help=o.DATA_HELP, show_default=False)],
    out: Annotated[Path, typer.Option(help="Checkpoint to write.")] = Path("model.safetensors"),
    model: o.Model = None,
    model_set: o.ModelSet = [],
    preset: o.PresetName = None,
    set_: o.Set = [],
    record_updates: Annotated[Path | None, typer.Option(help="Folder to record updates in, for amnesiac.")] = None,
    record_class: Annotated[list[str], typer.Option(help="Class whose updates are recorded; several times.")] = [],
    seed: o.Seed = 0,
    batch_size: o.BatchSize = 64,
    ledger: LedgerFile = None,
    force: o.Force = False,
    json_: o.Json = False,
) -> None:
    """Train a classifier and write it as safetensors. A killed run goes on where it was when started again.

    Example: unclass train cifar10 --model all-cnn --out all-cnn.safetensors
    """
    name = model or DEFAULT_MODELS.get(data, "resnet-18")
    data_options = o.with_tracker(data_options, json_)
    trained = run_train(
        data, model,
        seed=seed, batch_size=batch_size, preset=preset, engine=o.with_progress(engine, json_),
        data_options=data_options, model_options=o.model_options(name, model_set),
        record_updates=record_updates, record_class=record_class, out=out, force=force, ledger=ledger,
        tell=note,
        **o.method_options(set_),
    )  # fmt: skip
    record = record_of(trained)
    if json_:
        give_json(record.as_dict())
        return
    steps, seconds = (record.cost.steps, record.cost.seconds) if record.cost else (0, 0.0)
    known = record.accuracy_test
    accuracy = "no test images" if known is None else f"test accuracy {100 * known:.2f} %"
    took = f"{steps} steps in {seconds:.0f} s"
    say(f"{out}: {accuracy}, {took}; record: {out.with_suffix('.json')}")
