"""unclass results."""

from pathlib import Path
from typing import Annotated

import typer

from unclass.cli import options as o
from unclass.cli.console import give_json, note, say
from unclass.errors import InputError
from unclass.reproduction import read_summary, reference_summaries
from unclass.storage import read_text, write_atomically


def results(
    summaries: Annotated[
        list[Path],
        typer.Argument(help="OUT/summary.json of unclass paper; several. The reference runs' if not given."),
    ] = [],
    write: Annotated[list[Path], typer.Option(help="Markdown file whose blocks are made anew; several times.")] = [],
    check: Annotated[bool, typer.Option("--check", help="Write nothing; exit code 1 if a file is stale.")] = False,
    json_: o.Json = False,
) -> int:
    """Write the tables of unclass paper into Markdown files.

    They stand there between <!-- results: begin --> and <!-- results: end -->.

    Example: unclass results --write README.md --write docs/paper.md
    """
    from unclass.report.paper.blocks import overview, rewrite

    read = {path.stem: read_summary(path) for path in summaries} or reference_summaries()
    if len(read) < len(summaries):
        raise InputError("two summaries have the same file name; name them after their setup, such as cifar10.json")
    if not write:
        say("\n".join(overview(summary) for summary in read.values()))
        return 0
    stale = []
    for path in write:
        old = read_text(path)
        new = rewrite(old, read, str(path))
        if new != old:
            stale.append(str(path))
            if not check:
                write_atomically(path, lambda file, text=new: file.write_text(text, encoding="utf-8"))  # type: ignore[misc]
    if json_:
        give_json({"changed": [] if check else stale, "stale": stale if check else []})
    else:
        note(f"{'stale' if check else 'changed'}: {', '.join(stale) or 'nothing'}")
    return 1 if check and stale else 0
