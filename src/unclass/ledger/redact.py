"""Leaving out of JSON what is nobody else's business: paths on this machine, and pictures."""

import re
from collections.abc import Mapping
from typing import Any

# A path begins with /, ~/, ./, ../ or a drive, or follows the name of a form of data, and goes on to the next option.
_START = re.compile(r"(?:(?<=^)|(?<=[\s:='\"(]))(?:~|\.\.?|[A-Za-z]:)?[/\\](?!/)|(?<=folder:)|(?<=csv:)|(?<=parquet:)")
_OPTION = re.compile(r"(?= -)")


def without_paths(value: Any) -> Any:
    """Return JSON in which of every path only the last part is left."""
    if isinstance(value, str):
        return "".join(_shortened(part) for part in _OPTION.split(value))
    if isinstance(value, Mapping):
        return {key: without_paths(item) for key, item in value.items()}
    if isinstance(value, list | tuple):
        return [without_paths(item) for item in value]
    return value


def without_pictures(audit: Mapping[str, Any]) -> dict[str, Any]:
    """Return an audit without thumbnails and attention maps, in which the pictures to forget can be seen."""
    space = audit.get("decision_space")
    return {**audit, "decision_space": {**space, "thumbnails": None} if space else None, "attention": None}


def _shortened(text: str) -> str:
    found = _START.search(text)
    if found is None or "\n" in text:
        return text
    path = text[found.start() :].rstrip("/\\'\")")
    last = re.split(r"[/\\]", path)[-1]
    return text[: found.start()] + (f"…/{last}" if last != path else last)
