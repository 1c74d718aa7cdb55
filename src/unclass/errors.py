"""One kind of error for bad input: a single line that says what was given, what is allowed and what to do.

Messages name arguments in backquotes, as Python has them: `skip_bad`. The command line shows them as its options.
"""

from collections.abc import Iterable
from difflib import get_close_matches

_LONGEST = 1500


class InputError(ValueError):
    """The caller gave something that cannot work. The command line prints it in one line and exits with 2."""

    def __init__(self, message: object = "") -> None:
        line = " ".join(str(message).split())  # what a library says of a file may have many, and hold half of the file
        super().__init__(line if len(line) <= _LONGEST else f"{line[: _LONGEST // 2]} … {line[-_LONGEST // 2 :]}")


class Diverged(InputError):  # noqa: N818 - reads as what happened
    """Training produced a loss or weights that are not finite."""


def unknown(kind: str, given: object, allowed: Iterable[str], where: str = "") -> InputError:
    """Return the error for a name that is not in a table, with the nearest valid name."""
    names = sorted(str(name) for name in allowed)
    shown = ", ".join(names) if len(names) <= 20 else f"{', '.join(names[:10])} … {names[-1]} ({len(names)} in all)"
    near = get_close_matches(str(given), names, n=1, cutoff=0.5)
    hint = f" (did you mean {near[0]}?)" if near else ""
    return InputError(f"unknown {kind} {str(given)!r}{where}; choose from: {shown}{hint}")
