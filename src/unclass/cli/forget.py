"""unclass forget."""

from pathlib import Path
from typing import Annotated

import typer

from unclass.api import forget as run_forget
from unclass.api import record_of
from unclass.arguments import DEFAULT_METHOD
from unclass.cli import options as o
from unclass.cli.console import as_options, give_json, note, say
from unclass.cli.plain_options import LedgerFile
from unclass.data import DataOptions
from unclass.forgotten import still_known
from unclass.models import Opening
from unclass.records import Record
from unclass.training.engine import Engine


@o.taking(data_options=o.data_options, opening=o.opening_options, engine=o.engine_options)
def forget(
    *,
    data_options: DataOptions,
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
    rename_class: Annotated[
        str | None, typer.Option(help="Name to write in place of the forgotten class's.", show_default=False)
    ] = None,
    method: o.MethodName = DEFAULT_METHOD,
    preset: o.PresetName = None,
    set_: o.Set = [],
    retain_sample: Annotated[
        int | None, typer.Option(help="Read so many of the images that stay (D_r), where the method reads any.", min=0)
    ] = None,
    evaluate: Annotated[bool, typer.Option(help="Also compute the accuracies and the attack success rate.")] = True,
    seed: o.Seed = 0,
    batch_size: o.BatchSize = 64,
    ledger: LedgerFile = None,
    force: o.Force = False,
    json_: o.Json = False,
) -> None:
    """Make a trained model forget a class. The given checkpoint stays as it is; the new one has the same keys.

    Example: unclass forget all-cnn.safetensors --data cifar10 --class deer --out no-deer.safetensors

    From elsewhere: unclass forget --model timm:resnet18 --weights model.pt --data folder:photos --class cat
    """
    path = o.weights_of(checkpoint, weights, opening)
    out = out or default_out(path)
    options = o.method_options(set_) | ({} if retain_sample is None else {"retain_sample": retain_sample})
    data_options = o.with_tracker(data_options, json_)
    model = run_forget(
        path or "", data, classes, method,
        preset=preset, seed=seed, batch_size=batch_size, engine=o.with_progress(engine, json_),
        forget_only=forget_only, forget_list=forget_list, data_options=data_options,
        opening=opening, evaluated=evaluate, out=out, export=export,
        rename_class=rename_class, force=force, ledger=ledger, tell=note, **options,
    )  # fmt: skip
    record = record_of(model)
    if json_:
        give_json(record.as_dict())
    else:
        tell(record, out)


def tell(record: Record, out: Path) -> None:
    """Say what was forgotten, what it took, and what the scores are now."""
    names = ", ".join(record.forget_classes)
    if record.forget_list is not None:
        names = f"{record.forget_list.count} images"
    seconds = record.cost.seconds if record.cost else 0.0
    if left_out := record.written.get("left_out"):
        note(f"left out of {out}, since it may still know the class: {', '.join(left_out)}")
    if export := record.written.get("export"):
        note(f"{export['path']}: the same logits as PyTorch's within {export['largest_difference']:.1e}")
    if record.forget_list is None and "renamed" not in record.written:
        note(f"the name {names} still stands in {out} (card, configuration, metadata); --rename-class replaces it")
    say(f"{out}: {_done(record, names)} with {record.method} in {seconds:.1f} s; record: {out.with_suffix('.json')}")
    for remark in record.remarks:
        note(f"remark: {as_options(remark)}")
    if record.scores is not None:
        say(o.score_lines(record.scores, record.before))


def _done(record: Record, names: str) -> str:
    """Return what a run did, as far as it was seen."""
    if record.forget_list is not None:
        listed = record.listed
        known = "and still knows them" if listed is not None and listed.still_known else "(whether it has is open)"
        return f"forgot {names}" if listed is not None and listed.are_gone else f"was to forget {names} {known}"
    still = [name for name in still_known(record.left) if name in record.forget_classes]
    return f"forgot {names}" if not still else f"was to forget {names} and still knows {', '.join(still)}"


def default_out(weights: Path | None) -> Path:
    """Return where to write if nobody says: `forgotten`, with the ending of what was given."""
    if weights is not None and weights.is_dir():
        return Path("forgotten")
    return Path("forgotten").with_suffix(weights.suffix if weights is not None else ".safetensors")
