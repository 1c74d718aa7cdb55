"""What the page's charts read: parts of audits as JSON that is safe inside a script element."""

import json
import math
from collections.abc import Mapping, Sequence
from typing import Any

from markupsafe import Markup

from unclass.audits.evidence import Attention, DecisionSpace
from unclass.audits.result import Audit
from unclass.comparison.rows import Row
from unclass.storage.typed_json import plain

# All other text and tables are in the page itself and need no JavaScript.
DRAWN = (
    "utility",
    "flows",
    "membership",
    "entropy",
    "relearning",
    "recalibration",
    "probe",
    "similarity",
    "noise",
    "cost",
)
PICTURE = "data:image/png;base64,"
THUMBNAIL_BYTES = 1_200_000  # of all thumbnails in a page, so that a page of large pictures can still be mailed


def charts(audits: Sequence[Audit], rows: Sequence[Row]) -> dict[str, Any]:
    """Return what the charts draw. A picture that several audits share is kept once."""
    pictures: dict[str, int] = {}
    drawn = [
        {
            **{key: plain(getattr(audit, key)) for key in DRAWN},
            "classes": list(audit.subject.classes),
            "forget_classes": list(audit.subject.forget_classes),
            "method": audit.subject.method,
            "decision_space": _space(audit.decision_space, pictures),
            "attention": _attention(audit.attention, pictures),
        }
        for audit in audits
    ]
    return {"audits": drawn, "pictures": list(pictures), "rows": [row.as_dict() for row in rows]}


def as_script_data(value: Any) -> Markup:
    """Return JSON that is safe inside a script element: nothing in it can close the element or open another."""
    text = json.dumps(_finite(value), ensure_ascii=False, separators=(",", ":"), allow_nan=False)
    for character in "<>&\u2028\u2029":
        text = text.replace(character, f"\\u{ord(character):04x}")
    return Markup(text)


def _space(space: DecisionSpace | None, pictures: dict[str, int]) -> dict[str, Any] | None:
    """Number the thumbnails; those of forgotten images first, as long as there is room."""
    if space is None:
        return None
    content: dict[str, Any] = plain(space)
    thumbnails = space.thumbnails
    if not thumbnails:
        return content
    numbers: list[int | None] = [None] * len(thumbnails)
    for place in sorted(range(len(thumbnails)), key=lambda place: not space.forget[place]):
        if sum(map(len, pictures)) < THUMBNAIL_BYTES or thumbnails[place] in pictures:
            numbers[place] = _number(thumbnails[place], pictures)
    return {**content, "thumbnails": numbers}


def _attention(attention: Attention | None, pictures: dict[str, int]) -> dict[str, Any] | None:
    if attention is None or not attention.images:
        return None
    images = [
        {
            "picture": _number(image.picture, pictures),
            "maps": {role: _number(picture, pictures) for role, picture in image.maps.items()},
            "predicted": dict(image.predicted),
        }
        for image in attention.images
    ]
    return {"layer": dict(attention.layer), "images": images}


def _number(picture: str | None, pictures: dict[str, int]) -> int | None:
    """Return a picture's place in the page; None for anything but an embedded PNG, which would be a request."""
    if picture is None or not picture.startswith(PICTURE):
        return None
    return pictures.setdefault(picture, len(pictures))


def _finite(value: Any) -> Any:
    """Round to five digits, and make NaN and infinity null: JSON has neither."""
    if isinstance(value, float):
        return float(f"{value:.5g}") if math.isfinite(value) else None
    if isinstance(value, Mapping):
        return {str(key): _finite(item) for key, item in value.items()}
    if isinstance(value, list | tuple):
        return [_finite(item) for item in value]
    return value
