"""JSON that says its own digest, so that a result that was edited afterwards is not taken for one that was measured.

It finds an edit, and no forger: who can write the file can compute its digest anew. Against that helps a signature.
"""

import hashlib
import json
from collections.abc import Mapping
from typing import Any

from unclass.errors import InputError

KEY = "sha256"


class Changed(InputError):  # noqa: N818 - reads as what happened
    """A file is not as it was written."""


def with_digest(content: Mapping[str, Any]) -> dict[str, Any]:
    """Return JSON with its own SHA-256 in it."""
    return {**content, KEY: own_digest(content)}


def own_digest(content: Mapping[str, Any]) -> str:
    """Return the digest of JSON without the one that it says."""
    return json_digest({key: value for key, value in content.items() if key != KEY})


def json_digest(value: Any) -> str:
    """Return the SHA-256 over JSON without spaces, keys sorted."""
    # Through text and back: a key that was a number is text then, and is sorted as such.
    text = json.dumps(json.loads(json.dumps(value)), sort_keys=True, separators=(",", ":"))
    return hashlib.sha256(text.encode()).hexdigest()


def is_as_written(content: Mapping[str, Any]) -> bool:
    """Whether JSON says its own digest, and fits it."""
    return content.get(KEY) == own_digest(content)


def check_own_digest(content: Mapping[str, Any], where: str, *, needed: bool = False) -> None:
    """Raise if JSON is not what its digest was made over, and, where one is needed, if there is none."""
    if KEY not in content and needed:
        raise Changed(f"{where} says no {KEY} of its own, as earlier versions wrote it; make it again")
    if KEY in content and not is_as_written(content):
        raise Changed(f"{where} was changed after it was written: its {KEY} does not fit; make it again")
