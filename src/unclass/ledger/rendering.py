"""Pages in the report's look: one HTML file each, without scripts or requests."""

from importlib import resources
from typing import Any


def render(template: str, **values: Any) -> str:
    """Return a page of this package's templates; names and notes are shown as text, whatever they hold."""
    from jinja2 import Environment, PackageLoader
    from markupsafe import Markup

    style = (resources.files("unclass.report") / "templates" / "page.css").read_text(encoding="utf-8")
    environment = Environment(
        loader=PackageLoader("unclass.ledger", "templates"), autoescape=True, trim_blocks=True, lstrip_blocks=True
    )
    return environment.get_template(template).render(style=Markup(style), **values)
