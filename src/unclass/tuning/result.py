"""What tuning finds: settings, and what each leaves on the images held back."""

from collections.abc import Mapping
from dataclasses import asdict, dataclass, field
from typing import Any

from unclass.errors import InputError


@dataclass(frozen=True)
class Tried:
    """Settings, and the means over classes and seeds of what they leave on the images held back.

    `kept` is the accuracy on the other classes, `forgotten` that on the forgotten one; retraining has the highest
    `score`, the first less the second. `failed` says why there are no figures.
    """

    options: Mapping[str, Any]
    kept: float = 0.0
    forgotten: float = 0.0
    seconds: float = 0.0
    failed: str = ""

    @property
    def score(self) -> float:
        return float("-inf") if self.failed else self.kept - self.forgotten

    def shown(self) -> list[str]:
        """Return the accuracies and the score in %, and the seconds, as text."""
        if self.failed:
            return ["failed", "", "", ""]
        return [*(f"{100 * value:.1f}" for value in (self.kept, self.forgotten, self.score)), f"{self.seconds:.1f}"]


@dataclass(frozen=True, repr=False)
class Tuning:
    """The settings that were tried for a method, and what each left of the class and of the others.

    `before` is the model as it was given, and `share` the part of the training images that was held back to judge by.

    Example: `unclass.tune("digits", 3, "random-labels").best.options`
    """

    method: str
    data: str
    classes: tuple[str, ...]
    share: float
    before: Tried
    tried: tuple[Tried, ...] = field(default=())

    @property
    def best(self) -> Tried:
        """The settings with the highest score; of equal ones those that were tried first."""
        best = max(self.tried, key=lambda one: one.score)
        if best.failed:
            raise InputError(f"no setting of {self.method} worked ({best.failed}); try a smaller learning rate")
        return best

    def as_dict(self) -> dict[str, Any]:
        return {**asdict(self), "best": dict(self.best.options)}

    def __repr__(self) -> str:
        worked = [one for one in self.tried if not one.failed]
        best = ", ".join(f"{name}={value}" for name, value in self.best.options.items()) if worked else "none worked"
        return f"<Tuning of {self.method} on {self.data}: {len(self.tried)} tried, best {best}>"

    def _repr_html_(self) -> str:
        from unclass.report.notebook import table_html  # the page of results is not for everybody who imports this

        names = list(self.tried[0].options) if self.tried else []
        lines = [
            [*(str(one.options.get(name, "before")) for name in names), *one.shown()]
            for one in (self.before, *self.tried)
        ]
        title = f"{self.method}: accuracy on images held back, in %"
        return table_html([*names, "others", "forgotten", "score", "seconds"], lines, title)
