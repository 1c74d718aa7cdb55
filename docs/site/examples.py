"""Show the examples in docstrings, the lines after >>> and after "Example:", as code."""

import re
from typing import Any

from griffe import Extension, Object

EXAMPLE = re.compile(r"(?:^[ ]*>>> .*\n?(?:^[ ]*\S.*\n?)*\n?)+", re.M)
LINE = re.compile(r"^[ ]*Example: `(.+)`$", re.M)


class Examples(Extension):
    """Put every example of a docstring into a block of its own."""

    def on_object(self, *, obj: Object, **_: Any) -> None:
        if obj.docstring:
            text = EXAMPLE.sub(_as_code, obj.docstring.value)
            obj.docstring.value = LINE.sub(r"```python\n\1\n```", text)


def _as_code(found: re.Match[str]) -> str:
    return f"```pycon\n{found[0].rstrip()}\n```\n\n"
