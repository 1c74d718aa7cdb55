"""The contract of a method, for everybody: our own table passes it, and so should a method of yours.

>>> from unclass.methods.random_labels import RandomLabels
>>> from unclass.testing import check_method
>>> check_method(RandomLabels, epochs=6, lr=0.02)
"""

from collections.abc import Callable
from typing import Any

from unclass.methods import Method
from unclass.testing import promises
from unclass.testing.promises import Trial

PROMISES: tuple[Callable[[Trial], None], ...] = (
    promises.declares_itself,
    promises.is_made_again_from_its_record,
    promises.says_what_it_costs,
    promises.forgets,
    promises.leaves_the_original_alone,
    promises.keeps_keys_shapes_and_classes,
    promises.returns_another_model_ready_for_use,
    promises.repeats_itself,
    promises.reads_what_it_declares,
    promises.reads_no_more_than_a_sample,
    promises.takes_any_network_and_loader,
)


def check_method(kind: type[Method], **options: Any) -> None:
    """Raise an AssertionError that names the broken promise unless a method keeps all of them.

    It runs on forty tiny digits of each class; `options` should be strong enough to forget there (by default those of
    its preset `digits`, if it has one).
    """
    trial = Trial(kind, options)
    for promise in PROMISES:
        try:
            promise(trial)
        except AssertionError as error:
            says = (promise.__doc__ or "").strip()
            raise AssertionError(f"{trial.name} breaks a promise: {says} {error}".strip()) from error


__all__ = ["PROMISES", "Trial", "check_method"]
