"""Show the examples in docstrings, the lines after >>>, as code."""

import re
from typing import Any

from griffe import Extension, Object

EXAMPLE = re.compile(r"(?:^[ ]*>>> .*\n?(?:^[ ]*\S.*\n?)*\n?)+", re.M)


class Examples(Extension):
    """Put every example of a docstring into a block of its own."""

    def on_object(self, *, obj: Object, **_: Any) -> None:
        if obj.docstring and ">>>" in obj.docstring.value:
            obj.docstring.value = EXAMPLE.sub(
                lambda found: f"```pycon\n{found[0].rstrip()}\n```\n\n", obj.docstring.value
            )
