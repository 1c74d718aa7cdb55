"""The report: one HTML file that needs nothing else, drawn from audit.json alone."""

import base64
import hashlib
import json
import math
from collections.abc import Mapping, Sequence
from importlib import resources
from pathlib import Path
from typing import Any

from jinja2 import ChainableUndefined, Environment, PackageLoader
from markupsafe import Markup

from unclass.audits.result import Audit
from unclass.errors import InputError
from unclass.report import wording as view
from unclass.report.glossary import GLOSSARY
from unclass.storage import write_atomically

SCRIPTS = ("dom.js", "plot.js", "bars.js", "heatmap.js", "space.js", "panels.js", "page.js")
# What the charts read; all other text and tables are in the page itself and need no JavaScript.
DRAWN = (
    "utility",
    "flows",
    "membership",
    "entropy",
    "decision_space",
    "attention",
    "relearning",
    "recalibration",
    "probe",
    "similarity",
    "noise",
    "cost",
)
PICTURE = "data:image/png;base64,"
THUMBNAIL_BYTES = 1_200_000  # of all thumbnails in a page, so that a page of large pictures can still be mailed


def write_report(audits: Audit | Sequence[Audit], path: Path, rows: Sequence[Mapping[str, Any]] | None = None) -> Path:
    """Write the page of an audit; or of several, with the rows of their comparison on top and one picked to look into.

    Names of classes and files are shown as text, whatever they hold; the page makes no request.
    """
    several = [audits] if isinstance(audits, Audit) else list(audits)
    text = render(several, rows)
    return write_atomically(path, lambda file: file.write_text(text, encoding="utf-8"))


def render(audits: Sequence[Audit], rows: Sequence[Mapping[str, Any]] | None = None) -> str:
    """Return the page as text."""
    if not audits and not rows:
        raise InputError("a report needs an audit or the rows of a comparison; neither was given")
    contents = [audit.as_dict() for audit in audits]
    script = "(() => {\n" + "\n".join(_asset(name) for name in SCRIPTS) + "})();\n"
    digest = base64.b64encode(hashlib.sha256(script.encode()).digest()).decode()
    return (
        _environment()
        .get_template("page.html")
        .render(
            audits=contents,
            rows=view.rows(rows or [], contents),
            words=GLOSSARY,
            style=Markup(_asset("page.css")),
            script=Markup(script),
            script_digest=digest,
            data=as_script_data(_charts(contents, rows or [])),
        )
    )


def as_script_data(value: Any) -> Markup:
    """Return JSON that is safe inside a script element: nothing in it can close the element or open another."""
    text = json.dumps(_finite(value), ensure_ascii=False, separators=(",", ":"), allow_nan=False)
    for character in "<>&\u2028\u2029":
        text = text.replace(character, f"\\u{ord(character):04x}")
    return Markup(text)


def _charts(audits: Sequence[Mapping[str, Any]], rows: Sequence[Mapping[str, Any]]) -> dict[str, Any]:
    """Return what the charts draw. A picture that several audits share is kept once."""
    pictures: dict[str, int] = {}
    drawn = []
    for audit in audits:
        subject = audit.get("subject") or {}
        parts = {key: audit.get(key) for key in DRAWN}
        parts["classes"] = subject.get("classes") or []
        parts["forget_classes"] = subject.get("forget_classes") or []
        parts["decision_space"] = _with_thumbnails(parts["decision_space"], pictures)
        parts["attention"] = _with_pictures(parts["attention"], pictures)
        drawn.append(parts)
    return {"audits": drawn, "pictures": list(pictures), "rows": list(rows)}


def _with_thumbnails(space: Mapping[str, Any] | None, pictures: dict[str, int]) -> dict[str, Any] | None:
    """Number the thumbnails; those of forgotten images first, as long as there is room."""
    if not space or not space.get("thumbnails"):
        return dict(space) if space else None
    thumbnails = space["thumbnails"]
    forget = space.get("forget") or [False] * len(thumbnails)
    numbers: list[int | None] = [None] * len(thumbnails)
    for place in sorted(range(len(thumbnails)), key=lambda place: not forget[place]):
        if sum(map(len, pictures)) < THUMBNAIL_BYTES or thumbnails[place] in pictures:
            numbers[place] = _number(thumbnails[place], pictures)
    return {**space, "thumbnails": numbers}


def _with_pictures(attention: Mapping[str, Any] | None, pictures: dict[str, int]) -> dict[str, Any] | None:
    if not attention or not attention.get("images"):
        return dict(attention) if attention else None
    images = [
        {
            **image,
            "picture": _number(image.get("picture"), pictures),
            "maps": {role: _number(picture, pictures) for role, picture in (image.get("maps") or {}).items()},
        }
        for image in attention["images"]
    ]
    return {**attention, "images": images}


def _number(picture: Any, pictures: dict[str, int]) -> int | None:
    """Return a picture's place in the page; None for anything but an embedded PNG, which would be a request."""
    if not isinstance(picture, str) or not picture.startswith(PICTURE):
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


def _asset(name: str) -> str:
    return (resources.files("unclass.report") / "templates" / name).read_text(encoding="utf-8")


def _environment() -> Environment:
    environment = Environment(
        loader=PackageLoader("unclass.report", "templates"),
        autoescape=True,
        trim_blocks=True,
        lstrip_blocks=True,
        undefined=ChainableUndefined,
    )
    environment.filters.update(view.FILTERS)
    environment.globals.update(view.GLOBALS)
    return environment
