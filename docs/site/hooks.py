"""Pages that are made while the site is built: the commands with their --help, the methods with their options."""

from collections.abc import Iterator
from dataclasses import MISSING, fields
from typing import Any

OPTIONS = "\n| option | default | what it is |\n|---|---|---|\n"
SHOWN = "    options: {heading_level: 3, show_root_heading: false, show_root_toc_entry: false, members: false}"


def on_page_markdown(markdown: str, **_: Any) -> str:
    """Fill in what a page asks for."""
    for mark, make in {"<!-- commands -->": commands, "<!-- methods -->": methods}.items():
        if mark in markdown:
            markdown = markdown.replace(mark, "\n".join(make()))
    return markdown


def commands() -> Iterator[str]:
    """Yield a section for each command."""

    from unclass.cli import command_line

    yield from _explained("", command_line())


def _explained(name: str, command: Any) -> Iterator[str]:
    """Yield what --help prints of a command, or of each command in a group."""
    if hasattr(command, "commands"):
        for key, one in command.commands.items():
            yield from _explained(f"{name} {key}".strip(), one)
        return
    context = command.make_context(name, [], resilient_parsing=True, max_content_width=100, terminal_width=100)
    context.info_name = f"unclass {name}"
    yield f"## {name}\n\n```text\n{command.get_help(context)}\n```\n"


def methods() -> Iterator[str]:
    """Yield a section for each method: what it does, its options, its presets."""
    from unclass.methods import METHODS

    for name, kind in METHODS.items():
        yield f"## {name}\n\n::: {kind.__module__}.{kind.__qualname__}\n{SHOWN}\n"
        rows = [f"| `{one.name}` | `{one.default!r}` | {one.metadata.get('help', '')} |" for one in _options(kind)]
        yield OPTIONS + "\n".join(rows) + "\n" if rows else ""
        for preset, values in kind.presets.items():
            settings = ", ".join(f"{key}={value}" for key, value in values.items())
            yield f"- preset `{preset}`: {settings}"
        yield ""


def _options(kind: type) -> list[Any]:
    return [one for one in fields(kind) if one.default is not MISSING]  # type: ignore[arg-type]
