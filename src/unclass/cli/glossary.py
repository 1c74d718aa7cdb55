"""unclass glossary."""

from typing import Annotated

import typer
from rich.table import Table

from unclass.cli import options as o
from unclass.cli.console import give_json, say


def glossary(
    word: Annotated[str | None, typer.Argument(help="Word to explain, such as ASR; all if not given.")] = None,
    markdown: Annotated[bool, typer.Option("--markdown", help="Print the page docs/glossary.md.")] = False,
    json_: o.Json = False,
) -> None:
    """Explain the words of tables and reports.

    D_r, D_f, D_rt, D_ft, ASR, head, card and the others: all of them, or the one that is named.

    Example: unclass glossary ASR
    """
    from unclass.report.glossary import GLOSSARY, as_markdown, explain

    if markdown:
        typer.echo(as_markdown(), nl=False)
        return
    words = GLOSSARY if word is None else {word: explain(word)}
    if json_:
        give_json(words)
    elif word is not None:
        say(f"{word}: {words[word]}")
    else:
        table = Table("word", "what it means", header_style="bold", box=None)
        for name, meaning in words.items():
            table.add_row(name, meaning)
        say(table)
