"""unclass audit."""

from collections.abc import Sequence
from pathlib import Path
from typing import Annotated, Any

import typer

from unclass.audits.result import Audit, Outcome
from unclass.cli import options as o
from unclass.cli.console import give_json, note, say
from unclass.data import DataOptions, ImageData, Split
from unclass.errors import InputError
from unclass.methods.configure import configure
from unclass.models import Classifier, Opening
from unclass.records import read_record
from unclass.running import Settings
from unclass.training import distributed
from unclass.training.engine import Engine

STATUS_CODES: dict[Outcome, int] = {"passed": 0, "passed without reference": 3, "failed": 1, "undecided": 1}


@o.taking(where=o.data_options, opening=o.opening_options, engine=o.device_option)
def audit(
    *,
    where: DataOptions,
    engine: Engine,
    opening: Opening,
    unlearned: Annotated[Path, typer.Argument(help="Checkpoint of the unlearned model.", show_default=False)],
    original: Annotated[Path, typer.Option(help="Checkpoint of the model before.", show_default=False)],
    data: o.Data,
    classes: o.Classes,
    out: Annotated[Path, typer.Option(help="Folder for audit.json and report.html.")] = Path("unclass-audit"),
    retrained: Annotated[
        list[Path], typer.Option(help="Checkpoint retrained without the class; several for the noise between them.")
    ] = [],
    shadow: Annotated[int, typer.Option(help="Train so many shadow models for U-LiRA: slow.", min=0)] = 0,
    shadow_models: Annotated[
        list[Path], typer.Option(help="Shadow checkpoints, unlearned alike; --retrained are the other side.")
    ] = [],
    seed: o.Seed = 0,
    json_: o.Json = False,
) -> int:
    """Is the class gone, and is the rest unharmed? Exit code 0: passed; 1: failed or undecided; 2: bad input.

    Example: unclass audit no-deer.safetensors --original all-cnn.safetensors --data cifar10 --class deer --out audit
    """
    from unclass.audits import audit as run_audit  # brings in the checks: not for --help
    from unclass.audits import name_roles

    paths = name_roles(unlearned, original, retrained)
    for path in [*paths.values(), *shadow_models]:
        o.weights_of(path, None, opening)
    _, images = o.open_both(original, opening, data, where, [], json_)
    sizes = images.classes, images.train.shape
    models = {role: opening.open(path, *sizes) for role, path in paths.items()}
    engine = o.with_progress(engine, json_)
    about = {role: about_checkpoint(path) for role, path in paths.items()}
    others = [models[role] for role in paths if role not in ("unlearned", "original")]
    given = [opening.open(path, *sizes) for path in shadow_models]
    shadows = _shadows(models["original"], others, shadow, given, images, classes, about["unlearned"], engine, seed)
    result = run_audit(
        models["unlearned"], models["original"], images, classes, others,
        engine=engine, seed=seed, shadows=shadows, about=about, workers=where.workers,
    )  # fmt: skip
    if distributed.is_first():
        _write(result, out)
    _show(result, out, json_)
    return STATUS_CODES[result.verdict.status]


def about_checkpoint(path: Path) -> dict[str, Any]:
    """Return what a record beside a checkpoint says: `model.json` from `forget`, `record.json` from `compare`."""
    found: dict[str, Any] = {"name": path.name}
    beside = [one for one in (path.with_suffix(".json"), path.with_name("record.json")) if one.is_file()]
    if beside:
        record = read_record(beside[0])
        cost = record.get("cost") or {}
        found |= {"seconds": cost.get("seconds"), "method": record.get("label") or record.get("method", "unknown")}
        found |= {key: record[key] for key in ("options", "batch_size") if key in record}
        found["name_of_method"] = record.get("method", "unknown")
    return found


def _shadows(
    original: Classifier,
    retrained: Sequence[Classifier],
    count: int,
    given: Sequence[Classifier],
    data: ImageData,
    classes: Sequence[str],
    about: dict[str, Any],
    engine: Engine,
    seed: int,
) -> Any:
    """Return the shadow models that were given or that are to be trained; None if there are to be none."""
    from unclass.audits import Shadows, train_shadows

    if given:
        return Shadows(given, retrained)
    if not count:
        return None
    if "options" not in about:
        raise InputError(
            f"no record beside {about['name']} says how it was unlearned; give --shadow-models instead of --shadow"
        )
    method = configure(about["name_of_method"], options=about["options"])
    settings = Settings(seed, int(about.get("batch_size", 64)))
    return train_shadows(original, data, Split.of(data, classes), method, count, engine, settings)


def _write(result: Audit, out: Path) -> None:
    result.save(out / "audit.json")
    result.save(out / "report.html")


def _show(result: Audit, out: Path, json_: bool) -> None:
    if json_:
        content = result.as_dict()
        shown = {key: content[key] for key in ("verdict", "headline", "self_check", "not_claimed")}
        give_json({**shown, "out": str(out)})
        return
    say(result.verdict.sentence)
    for one in result.headline:
        value, limit = (
            "       –" if number is None else f"{number:8.3f}" for number in (one.values["unlearned"], one.threshold)
        )
        say(f"  {one.status:<12} {one.name:<38} {value}   limit {limit}  ({one.unit}, {one.direction})")
    for reason in result.verdict.why:
        note(f"  {reason}")
    say(f"figures: {out / 'audit.json'}, report: {out / 'report.html'}")
