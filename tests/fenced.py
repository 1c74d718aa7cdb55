"""The blocks of code in a Markdown text, so that tests can run what a page prints."""

import re
import shlex

BLOCK = re.compile(r"^```(?P<language>\w*)[^\n]*\n(?P<code>.*?)^```$", re.S | re.M)


def blocks(text: str, language: str = "") -> list[str]:
    """The blocks in this language; those without one are commands."""
    return [found["code"] for found in BLOCK.finditer(text) if found["language"] == language]


def commands(text: str) -> list[list[str]]:
    """Every command line in the blocks without a language, in words; comments are left out."""
    lines = [line for code in blocks(text) for line in code.replace("\\\n", " ").splitlines()]
    return [words for line in lines if (words := shlex.split(line, comments=True))]
