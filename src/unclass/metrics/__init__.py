"""Figures computed from predictions alone."""

from collections.abc import Mapping

from unclass.metrics.accuracies import accuracy, confusion
from unclass.metrics.attack_success import attack_success_rate
from unclass.predictions import Predictions

__all__ = ["accuracy", "attack_success_rate", "confusion", "figures"]


def figures(sets: Mapping[str, Predictions]) -> dict[str, float]:
    """Return the four accuracies and the attack success rate, each in [0, 1]; of absent sets nothing."""
    accuracies = {f"accuracy_{name}": accuracy(predictions) for name, predictions in sets.items()}
    if not {"retain", "retain_test", "forget"} <= sets.keys():
        return accuracies
    asr = attack_success_rate(sets["retain"], sets["retain_test"], sets["forget"])
    return {**accuracies, "attack_success_rate": asr}
