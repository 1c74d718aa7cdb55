"""Which method to take with what one holds: a line each, in 80 columns."""

from enum import StrEnum
from typing import Annotated

import typer

from unclass.arguments import DEFAULT_METHOD
from unclass.cli.console import give_json, say
from unclass.methods import Counts, Method, Needs
from unclass.methods.configure import explanations
from unclass.methods.lookup import known_methods

_MANY = Counts(forget=100, retain=900, classes=10, batch_size=64)
_READS = {Needs.FORGET: "D_f", Needs.RETAIN: "D_r", Needs.UPDATES: "updates"}


class Have(StrEnum):
    """What one holds of the training images."""

    FORGET = "forget"
    SAMPLE = "sample"
    ALL = "all"


HaveOption = Annotated[
    Have | None,
    typer.Option(help="What you hold: forget (D_f alone), sample (some of D_r too), all.", show_default=False),
]


def choose_method(have: Have, json_: bool) -> None:
    """Print the methods that work with what one holds."""
    fitting = {name: kind for name, kind in known_methods().items() if fits(kind, have)}
    if json_:
        give_json({"have": have.value, "default": DEFAULT_METHOD, "methods": list(fitting)})
        return
    say(row("method", "reads", "passes", "what it does"))
    for name, kind in fitting.items():
        method = kind()
        say(row(name + ("*" if name == DEFAULT_METHOD else ""), reads(method), passes(method), kind.in_short))
    say("* the default. D_f: images to forget, D_r: images that stay. passes: how often")
    say("it goes through D_f / D_r, of ten classes; +t: with the last layers alone.")
    if have is not Have.FORGET:
        say("With a part of D_r: --retain-sample N. What they leave: unclass methods NAME.")


def fits(kind: type[Method], have: Have) -> bool:
    """Whether a method works with what one holds: with a sample of D_r, if it can be told so."""
    needs = kind().needs
    if have is Have.ALL:
        return True
    if have is Have.SAMPLE:
        return Needs.UPDATES not in needs and (Needs.RETAIN not in needs or "retain_sample" in explanations(kind))
    return not needs & (Needs.RETAIN | Needs.UPDATES)


def row(name: str, read: str, cost: str, short: str) -> str:
    """Return a line of the table, of 80 characters at most."""
    return f"{name:<23}{read:<12}{cost:<9} {short}"[:80].rstrip()


def reads(method: Method) -> str:
    return "+".join(text for need, text in _READS.items() if need in method.needs) or "nothing"


def passes(method: Method) -> str:
    """Return how often a method goes through D_f and through D_r."""
    found = method.passes(_MANY)
    tail = "+t" if found.tail[1] else ""
    forget, retain = found.forget_looks + found.forget_trains, found.retain_looks + found.retain_trains
    return f"{forget:.3g}{tail} / {retain:.3g}"
