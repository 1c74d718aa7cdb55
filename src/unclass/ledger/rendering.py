"""Pages in the report's look: one HTML file each, without scripts or requests."""

from functools import cache
from importlib import resources
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from jinja2 import Environment


def render(template: str, **values: Any) -> str:
    """Return a page of this package's templates; names and notes are shown as text, whatever they hold."""
    from markupsafe import Markup

    style = (resources.files("unclass.report") / "templates" / "page.css").read_text(encoding="utf-8")
    return _environment().get_template(template).render(style=Markup(style), **values)


@cache  # which keeps the templates that it has compiled
def _environment() -> "Environment":
    from jinja2 import Environment, PackageLoader

    return Environment(
        loader=PackageLoader("unclass.ledger", "templates"), autoescape=True, trim_blocks=True, lstrip_blocks=True
    )
