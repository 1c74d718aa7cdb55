"""Pages that are made while the site is built: the commands, as their --help has them."""

from typing import Any

MARK = "<!-- commands -->"


def on_page_markdown(markdown: str, **_: Any) -> str:
    """Put every command's help where a page asks for it."""
    return markdown.replace(MARK, commands()) if MARK in markdown else markdown


def commands() -> str:
    """Return a section for each command."""
    from typer.main import get_command

    from unclass.cli import app

    group: Any = get_command(app)
    parts = []
    for name, command in group.commands.items():
        context = command.make_context(name, [], resilient_parsing=True, max_content_width=110)
        context.info_name = f"unclass {name}"
        parts.append(f"## {name}\n\n```text\n{command.get_help(context)}\n```\n")
    return "\n".join(parts)
