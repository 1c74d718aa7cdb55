"""unclass forget."""

from pathlib import Path
from typing import Annotated, Any

import typer

from unclass.api import DEFAULT_METHOD, method_for
from unclass.cli import options as o
from unclass.cli.console import give_json, note, say
from unclass.data import DataOptions
from unclass.metrics import figures
from unclass.models import Opening
from unclass.models.export import check_format, export_model
from unclass.models.opening import check_ending, save_like
from unclass.predictions import predict_sets
from unclass.records import command, write_record
from unclass.running import Settings, describe_run, mark_forgotten, unlearn
from unclass.training import distributed
from unclass.training.engine import Engine


@o.taking(where=o.data_options, opening=o.opening_options, engine=o.engine_options)
def forget(
    *,
    where: DataOptions,
    engine: Engine,
    opening: Opening,
    checkpoint: o.Checkpoint = None,
    data: o.Data,
    classes: o.Classes = [],
    forget_only: o.ForgetOnly = False,
    forget_list: o.ForgetList = None,
    weights: o.Weights = None,
    out: Annotated[
        Path | None, typer.Option(help="Checkpoint to write; by default forgotten, with the ending of the given one.")
    ] = None,
    export: o.Export = None,
    method: o.MethodName = DEFAULT_METHOD,
    preset: o.PresetName = None,
    set_: o.Set = [],
    retain_sample: Annotated[
        int | None, typer.Option(help="boundary-shift: so many images of D_r help it; none are needed.", min=0)
    ] = None,
    evaluate: Annotated[bool, typer.Option(help="Also compute the accuracies and the attack success rate.")] = True,
    seed: o.Seed = 0,
    batch_size: o.BatchSize = 64,
    force: o.Force = False,
    json_: o.Json = False,
) -> None:
    """Make a trained model forget a class. The given checkpoint stays as it is; the new one has the same keys.

    Example: unclass forget all-cnn.safetensors --data cifar10 --class deer --out no-deer.safetensors
    From elsewhere: unclass forget --model timm:resnet18 --weights model.pt --data folder:photos --class cat
    """
    check_format(export)
    path = o.weights_of(checkpoint, weights, opening)
    out = out or default_out(path)
    check_ending(out, path)
    record = o.record_beside(out, force)
    original, images = o.open_both(path, opening, data, where, classes, json_, forget_only=forget_only)
    split = o.open_split(images, classes, forget_only, forget_list)
    options = o.assignments(set_) | ({} if retain_sample is None else {"retain_sample": retain_sample})
    chosen = method_for(original, images, method, preset, options)
    settings = Settings(seed, batch_size, where.workers)
    engine = o.with_progress(engine, json_)
    engine.checkpoint = out.with_name(out.name + ".resume")
    outcome = unlearn(original, split, chosen, engine, settings)
    content: dict[str, Any] = {"command": command(), "kind": "forget"}
    content |= describe_run(original, images, split, chosen, settings, engine) | {"cost": outcome.cost()}
    if split.whole:
        mark_forgotten(outcome.model, tuple(content["forget_classes"]))
    if evaluate:
        content["figures"] = figures(predict_sets(outcome.model, split, engine, workers=where.workers))
    if distributed.is_first():
        content |= _write(outcome.model, out, path, export)
        write_record(record, content)
    if json_:
        give_json(content)
        return
    names = ", ".join(content["forget_classes"]) if split.whole else f"{len(split.forget)} images"
    say(f"{out}: forgot {names} with {method} in {outcome.seconds:.1f} s; record: {record}")
    for name, value in content.get("figures", {}).items():
        say(f"  {name.replace('_', ' '):<24} {100 * value:6.2f} %")


def default_out(weights: Path | None) -> Path:
    """Return where to write if nobody says: `forgotten`, with the ending of what was given."""
    if weights is not None and weights.is_dir():
        return Path("forgotten")
    return Path("forgotten").with_suffix(weights.suffix if weights is not None else ".safetensors")


def _write(model: Any, out: Path, weights: Path | None, export: str | None) -> dict[str, Any]:
    """Write the model in the format it came in, and in another if asked; return what a record says of that."""
    found: dict[str, Any] = {}
    if left_out := save_like(model, out, weights):
        note(f"left out of {out}, since it may still know the class: {', '.join(left_out)}")
        found["left_out"] = left_out
    if export is not None:
        path, difference = export_model(model, out, export)
        note(f"{path}: the same logits as PyTorch's within {difference:.1e}")
        found["export"] = {"path": str(path), "largest_difference": difference}
    return found
