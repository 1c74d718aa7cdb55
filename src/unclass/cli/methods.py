"""unclass methods."""

from collections.abc import Mapping, Sequence
from dataclasses import asdict
from inspect import getmodule
from typing import Annotated, Any

import typer
from rich.table import Table

from unclass.arguments import DEFAULT_METHOD
from unclass.cli import options as o
from unclass.cli.console import give_json, say
from unclass.cli.method_choice import HaveOption, choose_method
from unclass.cli.method_help import explain_method
from unclass.methods import METHODS, REFERENCE, Method
from unclass.reproduction import Measured, Summary, measured, reference_summaries

Name = Annotated[str | None, typer.Argument(help="A method, or package.module:Class.", show_default=False)]
NOT_MEASURED = "not measured"
COLUMNS = {"method": 18, "what it does": 46, "reads": 16, "cost": 24, "from retraining": 24, "audit": 10}


def methods(name: Name = None, have: HaveOption = None, json_: o.Json = False) -> None:
    """Explain each method, and what was measured of it.

    That is what it reads, what it cost and how close it came to retraining in the reference runs. With a name: that
    method alone, with a line for each of its options. With --have: a line for each method that works with what you
    hold.

    Example: unclass methods --have forget
    """
    if name is not None:
        explain_method(name, json_)
        return
    if have is not None:
        choose_method(have, json_)
        return
    summaries = reference_summaries()
    found = measured(summaries)
    known = {name: [one for one in found if one.method.partition("@")[0] == name] for name in METHODS}
    if json_:
        about = {
            name: _about(kind) | {"measured": [asdict(one) for one in known[name]]} for name, kind in METHODS.items()
        }
        give_json({"default": DEFAULT_METHOD, "methods": about, "runs": [_run(*one) for one in summaries.items()]})
        return
    say(methods_table({name: [one for one in own if one.method == name] for name, own in known.items()}))
    for line in explained(summaries):
        say(line)


def methods_table(known: Mapping[str, Sequence[Measured]]) -> Table:
    """Return a line for each method; what was measured of it stands there for each data set and class."""
    table = Table(title="Methods", title_justify="left", show_lines=True, header_style="bold")
    for column, width in COLUMNS.items():
        table.add_column(column, overflow="fold", no_wrap=column == "method", max_width=width)
    several = len({(one.setup, one.forgotten) for own in known.values() for one in own}) > 1
    for name, own in known.items():
        about = _about(METHODS[name])
        parts = [[text(one, several) for one in own] for text in (_cost, _closeness, _verdict)]
        default = "\n(default)" if name == DEFAULT_METHOD else ""
        cells = ["\n".join(part) or NOT_MEASURED for part in parts]
        table.add_row(f"{name}{default}", about["summary"], about["needs"], *cells)
    return table


def explained(summaries: Mapping[str, Summary]) -> list[str]:
    """Return what the table's words mean, and where its figures come from."""
    from unclass.report.paper.blocks import provenance

    lines = [
        "Reads: D_f the images to forget, D_r those that stay. From retraining: distances of the accuracies on D_rt "
        "(test images that stay) and D_f, and of the attack success rate (ASR), in points; the smaller, the closer."
    ]
    for name, summary in summaries.items():
        cases = [f"{case.forgotten} ({_words(case.seeds_done())})" for case in summary.cases]
        model = summary.model.architecture or "model"
        lines.append(f"{name}: {model}, forgetting {'; '.join(cases)}. {provenance(summary)}")
    return [*lines, "Options and presets: unclass list. Before a long run: unclass doctor --model … --data …"]


def _about(kind: type[Method]) -> dict[str, str]:
    """Return what a method reads and does, the latter in the first line of its file."""
    text = getattr(getmodule(kind), "__doc__", None) or kind.__doc__ or ""
    return {"summary": text.strip().split("\n")[0], "needs": kind().needs.words()}


def _run(name: str, summary: Summary) -> dict[str, Any]:
    """Return where figures come from, as machines read it."""
    content = summary.as_dict()
    kept = {key: content[key] for key in ("command", "environment", "precision", "data", "model", "progress")}
    return {"name": name, **kept, "classes": {case.forgotten: case.seeds_done() for case in summary.cases}}


def _words(seeds: Sequence[int]) -> str:
    return f"{'seed' if len(seeds) == 1 else 'seeds'} {', '.join(map(str, seeds))}"


def _cost(one: Measured, several: bool) -> str:
    seconds = f"{one.seconds:.2g} s" if one.seconds < 10 else f"{one.seconds:,.0f} s"
    faster = f", {one.speed_up:,.0f}× faster" if one.speed_up and one.method != REFERENCE else ""
    disk = f", {one.bytes / 1e9:.1f} GB of updates" if one.bytes else ""
    return f"{_where(one, several)}{seconds}{faster}{disk}"


def _closeness(one: Measured, several: bool) -> str:
    if one.method == REFERENCE:
        return f"{_where(one, several)}the reference"
    return _where(one, several) + ", ".join(f"{name} {value:.1f}" for name, value in one.distances.items())


def _verdict(one: Measured, several: bool) -> str:
    return _where(one, several) + (one.verdict or ("the reference" if one.method == REFERENCE else "not audited"))


def _where(one: Measured, several: bool) -> str:
    return f"{one.setup}, {one.forgotten}: " if several else ""
