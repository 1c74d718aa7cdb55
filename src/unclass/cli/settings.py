"""Options that are the same every time: `unclass.toml` or `[tool.unclass]` in pyproject.toml, and UNCLASS_* variables.

A key is an option's long name (`batch-size = 32`), at the top for all commands that have it, or in a table for one
(`[forget]`). A variable is that in capitals: UNCLASS_BATCH_SIZE, UNCLASS_FORGET_BATCH_SIZE. The command line comes
first, then variables, then the file in the current folder.
"""

import logging
import os
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from unclass.errors import InputError, unknown
from unclass.storage import read_toml

FILE, PROJECT, PREFIX = "unclass.toml", "pyproject.toml", "UNCLASS_"
_NO_OPTIONS = {"CACHE", "COMPLETE"}
_RUNS_CODE = ("model", "method", "methods")
Defaults = dict[str, dict[str, Any]]
_log = logging.getLogger(__name__)


def defaults_for(commands: Mapping[str, Any], folder: Path, variables: Mapping[str, str]) -> Defaults:
    """Return for each command what its options are if the command line does not say it."""
    path, content = _file(folder)
    found: Defaults = {name: {} for name in commands}
    options = {name: dict(_options(command)) for name, command in commands.items()}
    general = {key: value for key, value in content.items() if not isinstance(value, dict)}
    for key, value in general.items():
        _set(found, options, list(commands), key, value, str(path))
    for name, table in content.items():
        if isinstance(table, dict):
            if name not in commands:
                raise unknown("command", name, commands, f" in {path}")
            for key, value in table.items():
                _set(found, options, [name], key, value, str(path))
    for variable, text in variables.items():
        _set_variable(found, options, variable, text)
    return found


def _file(folder: Path) -> tuple[Path, dict[str, Any]]:
    """Return the settings in a folder, and the file that they are in."""
    for path, keys in ((folder / FILE, ()), (folder / PROJECT, ("tool", "unclass"))):
        if not path.is_file():
            continue
        try:
            content: Any = read_toml(path)
        except InputError:
            if keys:
                continue  # somebody else's file
            raise
        for key in keys:
            content = content.get(key, {}) if isinstance(content, dict) else {}
        if content:
            _log.info("options from %s", path)
            return path, content if isinstance(content, dict) else {}
    return folder / FILE, {}


def _options(command: Any) -> Iterator[tuple[str, Any]]:
    """Walk through the options of a command by their long names."""
    for option in command.params:
        for name in option.opts:
            if name.startswith("--"):
                yield name.removeprefix("--"), option


def _set(
    found: Defaults, options: Mapping[str, dict[str, Any]], commands: list[str], key: str, value: Any, where: str
) -> None:
    name = key.replace("_", "-")
    takers = [command for command in commands if name in options[command]]
    if not takers:
        raise unknown("option", key, {one for command in commands for one in options[command]}, f" in {where}")
    if name in _RUNS_CODE:
        _refuse_code(name, value, where)
    for command in takers:
        option = options[command][name]
        several = getattr(option, "multiple", False)
        found[command][option.name] = _texts(value, several, f"{key} in {where}")


def _set_variable(found: Defaults, options: Mapping[str, dict[str, Any]], variable: str, text: str) -> None:
    name = variable.removeprefix(PREFIX)
    if not variable.startswith(PREFIX) or name in _NO_OPTIONS or not text:
        return
    key = name.lower().replace("_", "-")
    named = [command for command in options if key.startswith(f"{command}-")]
    own = [(command, key.removeprefix(f"{command}-")) for command in named]
    pairs = [pair for pair in own if pair[1] in options[pair[0]]] or [(command, key) for command in options]
    for command, option_name in pairs:
        if (option := options[command].get(option_name)) is not None:
            several = getattr(option, "multiple", False)
            found[command][option.name] = text.split(",") if several else text


def _texts(value: Any, several: bool, where: str) -> Any:
    """Return a value of a file as the command line would give it."""
    if isinstance(value, list):
        if not several:
            raise InputError(f"{where} is a list; give one value")
        return [_texts(one, False, where) for one in value]
    if isinstance(value, dict):
        raise InputError(f"{where} is a table; give one value")
    text = value if isinstance(value, bool) else str(value)
    return [text] if several else text


def _refuse_code(name: str, value: Any, where: str) -> None:
    """Raise if a file would choose code to run: it may have come with somebody else's data."""
    from unclass.models.origins import SOURCES  # brings in torch, for which only a command that needs it waits

    for part in str(value).split(","):
        source, colon, _ = part.partition(":")
        if colon and source.strip() not in SOURCES:
            raise InputError(f"{where} names code to run, {part}, which a file may not choose; give --{name} yourself")


def read_defaults(commands: Mapping[str, Any]) -> Defaults:
    """Return the options that the current folder and the environment set."""
    return defaults_for(commands, Path.cwd(), os.environ)


def has_file() -> bool:
    """Whether the current folder holds settings: what they name is looked for among the options of all commands."""
    return bool(_file(Path.cwd())[1])
