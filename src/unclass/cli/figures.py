"""unclass figures."""

from functools import partial
from pathlib import Path
from typing import Annotated

import typer

from unclass.cli import options as o
from unclass.cli.console import give_json, note, say
from unclass.errors import InputError
from unclass.storage import write_atomically

FORMATS = ("png", "svg", "pdf")


def figures(
    folder: Annotated[Path, typer.Argument(help="Folder of an audit or of a comparison.", show_default=False)],
    format_: Annotated[str, typer.Option("--format", help=f"Of {', '.join(FORMATS)}, with commas between.")] = "png",
    out: Annotated[
        Path | None, typer.Option(help="Folder to write to; DIR/figures if not given.", show_default=False)
    ] = None,
    json_: o.Json = False,
) -> None:
    """Draw every figure of an audit or a comparison for a paper.

    Example: unclass figures unclass-demo --format png,pdf
    """
    from unclass.report.drawings import drawings  # matplotlib takes a second to import: not for --help

    formats = _formats(format_)
    out = out or folder / "figures"
    written, skipped = [], {}
    for name, draw in drawings(folder):
        try:
            figure = draw()
        except InputError as error:
            skipped[name] = str(error)
            note(f"{name}: {error}")
            continue
        for kind in formats:
            save = partial(figure.savefig, dpi=200, format=kind)
            written.append(str(write_atomically(out / f"{name}.{kind}", save)))
    if not written:
        raise InputError(f"{folder} has nothing to draw; give the `out` of unclass audit, compare or demo")
    if json_:
        give_json({"figures": written, "skipped": skipped})
        return
    for path in written:
        say(path)


def _formats(text: str) -> list[str]:
    names = [name.lower() for name in o.names(text)]
    wrong = [name for name in names if name not in FORMATS]
    if wrong or not names:
        raise InputError(f"format {', '.join(wrong) or text!r} is unknown; choose from: {', '.join(FORMATS)}")
    return names
