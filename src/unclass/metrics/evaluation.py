"""The paper's five scores of one model: four accuracies and the attack success rate."""

from collections.abc import Mapping
from dataclasses import dataclass, fields

from unclass.metrics.accuracies import accuracy
from unclass.metrics.attack_success import attack_success_rate
from unclass.predictions import Predictions

SCORES = {
    "accuracy_retain": "D_r",
    "accuracy_forget": "D_f",
    "accuracy_retain_test": "D_rt",
    "accuracy_forget_test": "D_ft",
    "attack_success_rate": "ASR",
}


@dataclass(frozen=True)
class Evaluation:
    """Accuracy on D_r, D_f, D_rt and D_ft and the attack success rate, each in [0, 1]; None where a set is not there.

    >>> print(Evaluation(accuracy_retain=0.999, accuracy_forget=0.0))
    D_r 99.9 %, D_f 0.0 %
    """

    accuracy_retain: float | None = None
    accuracy_forget: float | None = None
    accuracy_retain_test: float | None = None
    accuracy_forget_test: float | None = None
    attack_success_rate: float | None = None

    @classmethod
    def of(cls, sets: Mapping[str, Predictions]) -> "Evaluation":
        """Return the scores of a model's predictions on the sets that there are."""
        found = {f"accuracy_{name}": accuracy(predictions) for name, predictions in sets.items()}
        if {"retain", "retain_test", "forget"} <= sets.keys():
            found["attack_success_rate"] = attack_success_rate(sets["retain"], sets["retain_test"], sets["forget"])
        return cls(**found)

    def as_dict(self) -> dict[str, float]:
        """Return the scores that are there, by name."""
        values = {one.name: getattr(self, one.name) for one in fields(self)}
        return {name: value for name, value in values.items() if value is not None}

    def __str__(self) -> str:
        return ", ".join(f"{SCORES[name]} {100 * value:.1f} %" for name, value in self.as_dict().items())

    def _repr_html_(self) -> str:
        cells = "".join(f"<td>{100 * value:.1f} %</td>" for value in self.as_dict().values())
        heads = "".join(f"<th>{SCORES[name]}</th>" for name in self.as_dict())
        return f"<table><tr>{heads}</tr><tr>{cells}</tr></table>"
