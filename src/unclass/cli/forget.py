"""unclass forget."""

from pathlib import Path
from typing import Annotated, Any

import typer

from unclass import distributed
from unclass.api import DEFAULT_METHOD, method_for
from unclass.cli import options as o
from unclass.cli.console import give_json, say
from unclass.data import DataOptions, Split
from unclass.engine import Engine
from unclass.metrics import figures
from unclass.models import load, save
from unclass.predictions import predict_sets
from unclass.records import command, write_record
from unclass.runs import Settings, check_fit, describe_run, mark_forgotten, unlearn


@o.taking(where=o.data_options, engine=o.engine_options)
def forget(
    *,
    where: DataOptions,
    engine: Engine,
    model: Annotated[Path, typer.Argument(help="Checkpoint of the trained model.", show_default=False)],
    data: o.Data,
    classes: o.Classes,
    out: Annotated[Path, typer.Option(help="Checkpoint to write.")] = Path("forgotten.safetensors"),
    method: o.MethodName = DEFAULT_METHOD,
    preset: o.PresetName = None,
    set_: o.Set = [],
    evaluate: Annotated[bool, typer.Option(help="Also compute the accuracies and the attack success rate.")] = True,
    seed: o.Seed = 0,
    batch_size: o.BatchSize = 64,
    force: o.Force = False,
    json_: o.Json = False,
) -> None:
    """Make a trained model forget a class. The given checkpoint stays as it is; the new one has the same keys.

    Example: unclass forget all-cnn.safetensors --data cifar10 --class deer --out no-deer.safetensors
    """
    record = o.record_beside(out, force)
    original = load(model)
    images = o.open_data(data, where, json_)
    check_fit(original, images, str(model))
    split = Split.of(images, classes)
    chosen = method_for(original, images, method, preset, o.assignments(set_))
    settings = Settings(seed, batch_size, where.workers)
    engine = o.with_progress(engine, json_)
    engine.checkpoint = out.with_name(out.name + ".resume")
    outcome = unlearn(original, split, chosen, engine, settings)
    content: dict[str, Any] = {"command": command(), "kind": "forget"}
    content |= describe_run(original, images, split, chosen, settings, engine) | {"cost": outcome.cost()}
    mark_forgotten(outcome.model, tuple(content["forget_classes"]))
    if evaluate:
        content["figures"] = figures(predict_sets(outcome.model, split, engine, workers=where.workers))
    if distributed.is_first():
        save(outcome.model, out)  # type: ignore[arg-type]
        write_record(record, content)
    if json_:
        give_json(content)
        return
    names = ", ".join(content["forget_classes"])
    say(f"{out}: forgot {names} with {method} in {outcome.seconds:.1f} s; record: {record}")
    for name, value in content.get("figures", {}).items():
        say(f"  {name.replace('_', ' '):<24} {100 * value:6.2f} %")
