"""One method on a page: what it does, reads and costs, and a line for each option."""

from inspect import cleandoc
from typing import Any

from rich.table import Table

from unclass.cli.console import give_json, say
from unclass.methods import Counts, Method
from unclass.methods.configure import explanations, options_of
from unclass.methods.lookup import find_method

_ROLES = {"reference": "the reference that others are compared with", "control": "a negative control: forgets nothing"}
_MANY = Counts(forget=100, retain=900, classes=10, batch_size=64)


def explain_method(name: str, json_: bool) -> None:
    """Print what a method declares."""
    kind = find_method(name)
    method = kind()
    lines, options, presets = explanations(kind), options_of(method), kind.presets
    if json_:
        about = {"name": name, "about": cleandoc(kind.__doc__ or ""), "needs": method.needs.words(), "role": kind.role}
        more = {"needs_head": method.needs_head, "whole_classes": kind.whole_classes, "options": options}
        give_json({**about, **more, "help": lines, "presets": presets})
        return
    say(f"{name}: {cleandoc(kind.__doc__ or '')}")
    say("")
    for line in declared(method):
        say(line)
    table = Table(title="Options", title_justify="left", header_style="bold")
    for column in ("option", "default", "what it is"):
        table.add_column(column, overflow="fold", no_wrap=column == "option")
    for option, line in lines.items():
        table.add_row(option, _shown(options[option]), line)
    say(table)
    for preset, chosen in presets.items():
        say(f"Preset {preset}: {', '.join(f'{key}={value}' for key, value in chosen.items()) or 'the defaults'}")


def declared(method: Method) -> list[str]:
    """Return in words what a method declares of itself with its options."""
    lines = [f"Reads: {method.needs.words()} (D_f: images to forget, D_r: images that stay)"]
    if method.role in _ROLES:
        lines.append(f"It is {_ROLES[method.role]}.")
    if method.whole_classes:
        lines.append("Forgets whole classes, not some of their images.")
    if method.needs_head:
        lines.append("Needs a network that ends in a linear head.")
    return [*lines, f"Costs: {_passes(method)}"]


def _passes(method: Method) -> str:
    """Return what a method costs in passes, reckoned for ten classes of a hundred images."""
    passes = method.passes(_MANY)
    counts: dict[str, Any] = {
        "looks at D_f": passes.forget_looks,
        "training passes over D_f": passes.forget_trains,
        "looks at D_r": passes.retain_looks,
        "training passes over D_r": passes.retain_trains,
    }
    parts = [f"{value:g} {what}" for what, value in counts.items() if value]
    if passes.tail[1]:
        parts.append(f"{passes.tail[0]:g} to {passes.tail[1]:g} training passes of the last layers over D_f")
    return ", ".join(parts) or "no pass over any image"


def _shown(value: Any) -> str:
    return f"{value:.4g}" if isinstance(value, float) else str(value) or "(none)"
