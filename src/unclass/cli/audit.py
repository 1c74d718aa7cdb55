"""unclass audit."""

from pathlib import Path
from typing import Annotated

import typer

from unclass.audits.result import Audit, Outcome
from unclass.cli import options as o
from unclass.cli.console import give_json, note, say
from unclass.data import DataOptions
from unclass.models import Opening
from unclass.training.engine import Engine

STATUS_CODES: dict[Outcome, int] = {"passed": 0, "passed without reference": 3, "failed": 1, "undecided": 1}


@o.taking(data_options=o.data_options, opening=o.opening_options, engine=o.looking_options)
def audit(
    *,
    data_options: DataOptions,
    engine: Engine,
    opening: Opening,
    unlearned: Annotated[Path, typer.Argument(help="Checkpoint of the unlearned model.", show_default=False)],
    original: Annotated[Path, typer.Option(help="Checkpoint of the model before.", show_default=False)],
    data: o.Data,
    classes: o.Classes,
    out: Annotated[Path, typer.Option(help="Folder for audit.json and report.html.")] = Path("unclass-audit"),
    retrained: Annotated[
        list[Path],
        typer.Option(help="Model trained again without the class, to compare with; twice or more is better."),
    ] = [],
    shadow: Annotated[
        int, typer.Option(help="Train so many shadow models for one more attack, U-LiRA: slow.", min=0)
    ] = 0,
    shadow_minutes: Annotated[
        float, typer.Option(help="Train as many shadow models for U-LiRA as fit into so many minutes.", min=0.0)
    ] = 0.0,
    shadow_models: Annotated[
        list[Path], typer.Option(help="Shadow models that forgot the class in the same way, for U-LiRA.")
    ] = [],
    with_pictures: Annotated[
        bool,
        typer.Option("--with-pictures", help="Keep pictures of the class, and others, in audit.json and report.html."),
    ] = False,
    request: Annotated[str, typer.Option(help="Number of the request that this answers, for the page.")] = "",
    seed: o.Seed = 0,
    json_: o.Json = False,
) -> int:
    """Ask whether the class is gone and the rest unharmed.

    Exit code 0: passed. 1: failed or undecided. 2: bad input. 3: passed the checks that need no retrained model, and
    none was given.

    Example: unclass audit no-deer.safetensors --original all-cnn.safetensors --data cifar10 --class deer --out audit
    """
    from unclass.audits.run import audit as run_audit  # brings in the checks: not for --help

    result = run_audit(
        unlearned, original, data, classes, retrained,
        engine=o.with_progress(engine, json_), seed=seed, shadow=shadow, shadow_minutes=shadow_minutes,
        shadow_models=shadow_models, data_options=o.with_tracker(data_options, json_), opening=opening, out=out,
        pictures=with_pictures, request=request, tell=note,
    )  # fmt: skip
    _show(result, out, json_)
    return STATUS_CODES[result.verdict.status]


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
    for step in result.verdict.next:
        note(f"  next: {step}")
    say(f"figures: {out / 'audit.json'}, report: {out / 'report.html'}")
