"""unclass limits."""

from dataclasses import asdict
from pathlib import Path
from typing import Annotated

import typer

from unclass.audits.error_rates import Judged, as_markdown, judged, rates
from unclass.cli import options as o
from unclass.cli.console import give_json, say
from unclass.data import DataOptions, Split
from unclass.errors import InputError
from unclass.models import Opening
from unclass.models.any_model import in_full_precision
from unclass.storage import read_json, write_json
from unclass.storage.typed_json import typed
from unclass.training.engine import Engine

SCHEMA = "unclass-error-rates-1"


@o.taking(data_options=o.data_options, opening=o.opening_options, engine=o.looking_options)
def limits(
    *,
    data_options: DataOptions,
    engine: Engine,
    opening: Opening,
    files: Annotated[
        list[Path] | None, typer.Argument(help="What earlier runs wrote, to show together.", show_default=False)
    ] = None,
    original: Annotated[Path | None, typer.Option(help="Checkpoint of an original.", show_default=False)] = None,
    retrained: Annotated[list[Path], typer.Option(help="Checkpoints retrained without the class.")] = [],
    data: Annotated[str, typer.Option(help=o.DATA_HELP)] = "",
    classes: Annotated[list[str], typer.Option("--class", help="The class that is not there in them.")] = [],
    out: Annotated[Path | None, typer.Option(help="Where to keep what was judged.", show_default=False)] = None,
    seed: o.Seed = 0,
    json_: o.Json = False,
) -> None:
    """Show how often the audit's checks are wrong. Judged on originals, retrained models and controls alone.

    Example: unclass limits --original o.safetensors --retrained r.safetensors --data digits --class 3 --out digits.json
    """
    found = [one for file in files or [] for one in _read(file)]
    if original is not None:
        more = _judge(original, retrained, data, classes, data_options, opening, o.with_progress(engine, json_), seed)
        if out is not None:
            write_json(out, {"schema": SCHEMA, "judged": [asdict(one) for one in more]})
        found += more
    if not found:
        raise InputError("there is nothing to show; give files of earlier runs, or --original with --retrained")
    rows = rates(found)
    if json_:
        give_json({"rows": [row.as_dict() for row in rows]})
        return
    say(as_markdown(rows))


def _judge(
    original: Path,
    retrained: list[Path],
    data: str,
    classes: list[str],
    data_options: DataOptions,
    opening: Opening,
    engine: Engine,
    seed: int,
) -> list[Judged]:
    from unclass.audits.run import make_controls  # brings in the checks: not for --help
    from unclass.audits.subjects import open_subjects

    roles = {"original": original, **{f"retrained-{place + 1}": path for place, path in enumerate(retrained)}}
    subjects = open_subjects(roles, (), data, data_options=data_options, opening=opening)
    split = Split.of(subjects.data, classes)
    models = {role: in_full_precision(model) for role, model in subjects.models.items()}  # as an audit looks at them
    controls = make_controls(models["original"], split, engine)
    return judged(subjects.data.name, models, controls, split, engine, seed)


def _read(file: Path) -> list[Judged]:
    content = read_json(file)
    if content.get("schema") != SCHEMA:
        raise InputError(f"{file} is of schema {content.get('schema')!r}, not {SCHEMA!r}; make it with unclass limits")
    return [typed(Judged, one, str(file)) for one in content["judged"]]
