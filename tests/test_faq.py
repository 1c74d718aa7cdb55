"""The pages for users quote what is there: messages in the troubleshooting table, options in the how-to pages."""

import ast
import re
from pathlib import Path

from unclass.cli import command_line

ROOT = Path(__file__).parents[1]
FAQ = (ROOT / "docs" / "faq.md").read_text(encoding="utf-8")
PAGES = [FAQ, *(path.read_text(encoding="utf-8") for path in (ROOT / "docs" / "how-to").glob("*.md"))]
OTHERS = {"--nproc-per-node"}  # torchrun's


def messages() -> str:
    """Every text that the program raises or returns."""
    files = [ast.parse(path.read_text(encoding="utf-8")) for path in (ROOT / "src").rglob("*.py")]
    said = [node for file in files for node in ast.walk(file) if isinstance(node, ast.Raise | ast.Return)]
    constants = [one.value for node in said for one in ast.walk(node) if isinstance(one, ast.Constant)]
    return "\n".join(text for text in constants if isinstance(text, str))


def test_quoted_messages_are_given() -> None:
    quoted = re.findall(r"^\| `([^`]+)` \|", FAQ.split("## Troubleshooting")[1], re.M)
    said = messages()
    assert len(quoted) >= 4 and not [text for text in quoted if text not in said]


def test_options_that_are_named_exist() -> None:
    parameters = [one for command in command_line().commands.values() for one in command.params]
    options = {name for one in parameters for name in (*one.opts, *one.secondary_opts)}
    named = {option for page in PAGES for option in re.findall(r"(?<![\w-])--[a-z][a-z-]+", page)}
    assert named and not named - OTHERS - options
