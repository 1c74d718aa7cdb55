"""unclass leaderboard."""

from pathlib import Path
from typing import Annotated

import typer

from unclass.cli import options as o
from unclass.cli.console import give_json, note, say
from unclass.errors import InputError
from unclass.storage import read_text, write_text


def leaderboard(
    folders: Annotated[
        list[Path], typer.Argument(help="Folders of unclass compare, or leaderboards that --save wrote; several.")
    ],
    out: Annotated[
        list[Path], typer.Option(help="Page to write, .md (its block is made anew) or .html; several times.")
    ] = [],
    save: Annotated[Path | None, typer.Option(help="Also keep one leaderboard as this .json file.")] = None,
    check: Annotated[bool, typer.Option("--check", help="Write nothing; exit code 1 if a page is stale.")] = False,
    json_: o.Json = False,
) -> int:
    """Rank methods by all that records and audits hold.

    Verdicts and their reasons stand beside the figures. Leaderboards of one data set and network over different classes
    become one.

    Example: unclass leaderboard unclass-compare --out leaderboard.md --out leaderboard.html
    """
    from unclass.comparison.joined import joined
    from unclass.comparison.leaderboard import read_board
    from unclass.report.leaderboard import markdown, rewrite
    from unclass.report.leaderboard_page import page
    from unclass.storage.typed_json import plain

    boards = joined([read_board(path) for path in folders])
    if save is not None:
        if len(boards) != 1:
            raise InputError(f"`save` keeps one leaderboard, and these are {len(boards)}; give one data set")
        boards[0].save(save)
    stale = []
    for path in out:
        if path.suffix not in (".md", ".html"):
            raise InputError(f"a leaderboard is not written as {path.suffix or path.name!r}; end `out` in .md or .html")
        old = read_text(path) if path.exists() else ""
        new = page(boards) if path.suffix == ".html" else rewrite(old, boards)
        if new != old:
            stale.append(str(path))
            if not check:
                write_text(path, new)
    if json_:
        give_json({"boards": plain(boards), "stale" if check else "changed": stale})
    elif not out:
        say("\n".join(markdown(board) for board in boards))
    else:
        note(f"{'stale' if check else 'changed'}: {', '.join(stale) or 'nothing'}")
    return 1 if check and stale else 0
