"""The report: one HTML file that needs nothing else, drawn from audit.json alone."""

import base64
import hashlib
from collections.abc import Sequence
from functools import cache
from importlib import resources
from pathlib import Path

from jinja2 import Environment, PackageLoader, StrictUndefined
from markupsafe import Markup

from unclass.audits.figure_words import some_of
from unclass.audits.result import Audit
from unclass.comparison.rows import Row
from unclass.errors import InputError
from unclass.report import wording
from unclass.report.certificate import print_scale
from unclass.report.chart_data import as_script_data, charts
from unclass.report.comparison_table import first_shown, lines, subtitle
from unclass.report.glossary import GLOSSARY
from unclass.report.scale import scale_of
from unclass.report.table import columns
from unclass.report.terms import terms
from unclass.storage import write_atomically

SCRIPTS = ("dom.js", "plot.js", "bars.js", "heatmap.js", "space.js", "panels.js", "contrast.js", "page.js")
FILTERS = {
    "number": wording.number,
    "finer": wording.finer,
    "setting": wording.setting,
    "recipes": wording.recipes,
    "percent": wording.percent,
    "threshold": wording.threshold,
    "interval": wording.interval,
    "tone": wording.tone,
    "unit_name": wording.unit_name,
    "short": wording.short,
    "day": wording.day,
    "terms": terms,
    "scale": scale_of,
    "some_of": some_of,
    "print_scale": print_scale,
    "question": wording.question_of,
}
GLOBALS = {
    "missing": wording.missing,
    "roles": wording.roles,
    "by_group": wording.by_group,
    "names_of": wording.names_of,
    "has_pictures": wording.has_pictures,
    "SETS": wording.SETS,
    "MARKS": wording.MARKS,
}


def write_report(
    audits: Audit | Sequence[Audit],
    path: Path,
    rows: Sequence[Row] | None = None,
    about: str = "",
    seeds: Sequence[int] = (),
) -> Path:
    """Write the page of an audit; or of several, with the rows of their comparison on top and one picked to look into.

    Names of classes and files are shown as text, whatever they hold; the page makes no request. `about` says what was
    compared, where the audits do not, and `seeds` with which seeds.
    """
    several = [audits] if isinstance(audits, Audit) else list(audits)
    text = render(several, rows, about, seeds)
    return write_atomically(path, lambda file: file.write_text(text, encoding="utf-8"))


def render(
    audits: Sequence[Audit], rows: Sequence[Row] | None = None, about: str = "", seeds: Sequence[int] = ()
) -> str:
    """Return the page as text."""
    if not audits and not rows:
        raise InputError("a report needs an audit or the rows of a comparison; neither was given")
    script = "(() => {\n" + "\n".join(_asset(name) for name in SCRIPTS) + "})();\n"
    digest = base64.b64encode(hashlib.sha256(script.encode()).digest()).decode()
    page = _environment().get_template("page.html")
    return page.render(
        audits=audits,
        lines=lines(rows or [], audits),
        columns=columns(),
        first=first_shown(audits),
        about=about,
        subtitle=subtitle(audits, rows or [], seeds),
        words=GLOSSARY,
        style=Markup(_asset("page.css")),
        script=Markup(script),
        script_digest=digest,
        data=as_script_data({**charts(audits, rows or []), "first": first_shown(audits), "words": GLOSSARY}),
    )


def _asset(name: str) -> str:
    return (resources.files("unclass.report") / "templates" / name).read_text(encoding="utf-8")


@cache  # which keeps the templates that it has compiled
def _environment() -> Environment:
    environment = Environment(
        loader=PackageLoader("unclass.report", "templates"),
        autoescape=True,
        trim_blocks=True,
        lstrip_blocks=True,
        undefined=StrictUndefined,
    )
    environment.filters.update(FILTERS)
    environment.globals.update(GLOBALS)
    return environment
