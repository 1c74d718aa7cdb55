"""What attention maps, decision space and recalibration curves of several models are drawn from."""

from collections.abc import Mapping
from dataclasses import dataclass

from unclass.audits.evidence import Attention, Curve, DecisionSpace
from unclass.audits.result import Subject


@dataclass(frozen=True)
class Drawn:
    """One look at the models of a class and seed, whose digests are `weights`; the parts that were asked for are there.

    `recalibration` holds the accuracy on D_f by the number of remaining images that batch norm was refreshed with.
    """

    weights: Mapping[str, str]
    subject: Subject
    attention: Attention | None = None
    decision_space: DecisionSpace | None = None
    recalibration: Mapping[str, Curve] | None = None
