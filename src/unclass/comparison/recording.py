"""What training an original keeps for methods that need it later, and what that costs."""

import time
from collections.abc import Sequence

from torch import Tensor, nn

from unclass.comparison.cell import cells_of, place_of
from unclass.comparison.layout import kept_folder, original_path
from unclass.comparison.plan import Plan
from unclass.data import Batches
from unclass.errors import InputError
from unclass.methods import Prepared
from unclass.methods.configure import name_of
from unclass.methods.method import Recorder
from unclass.methods.retrain import Retrain
from unclass.models import Classifier, load
from unclass.records import UpdatesCost, read_record
from unclass.storage import require_space


class Recording:
    """Lets every recorder watch one training, and measures what they add to a step."""

    def __init__(self, recorders: Sequence[Recorder]) -> None:
        self.recorders = list(recorders)
        self.seconds, self.steps = 0.0, 0

    @property
    def keeps(self) -> str:
        """What all of them keep."""
        return "; ".join(getattr(one, "keeps", type(one).__name__) for one in self.recorders)

    def start(self, model: nn.Module) -> None:
        for one in self.recorders:
            one.start(model)

    def after_step(self, step: int, model: nn.Module, y: Tensor) -> None:
        began = time.perf_counter()
        for one in self.recorders:
            one.after_step(step, model, y)
        self.seconds += time.perf_counter() - began
        self.steps += 1

    def finish(self, model: nn.Module) -> None:
        for one in self.recorders:
            one.finish(model)

    def seconds_each(self) -> float:
        """Mean over the steps seen: those of a resumed run stand for the ones before."""
        return self.seconds / max(1, self.steps)


def recording_for(plan: Plan, seed: int, recipe: Retrain, model: Classifier) -> Recording | None:
    """Return what watches the training of an original; None where no method asks for it.

    Where the disk has no room a plan that is not strict goes on without.
    """
    classes = sorted({index for split in plan.splits() for index in split.classes})
    batches = Batches(plan.data.train, plan.settings.batch_size, shuffle=True, seed=seed)
    recorders = []
    for name, method in _kinds(plan).items():
        folder = kept_folder(plan, name, seed)
        try:
            require_space(folder, method.room(batches, classes, recipe.epochs, model))
        except InputError:
            if plan.strict:
                raise
            continue
        recorders.append(method.recorder(folder, classes))
    return Recording(recorders) if recorders else None


def with_kept(plan: Plan, method: Prepared, seed: int) -> Prepared:
    """Return a method that takes what the training of an original kept."""
    return method.prepared(kept_folder(plan, name_of(method), seed))


def kept_cost(plan: Plan, method: Prepared, seed: int) -> UpdatesCost:
    """Return what keeping it cost: files, bytes, and, where the original was trained here, seconds."""
    kept = method.kept()
    path = original_path(plan, seed).with_suffix(".json")
    trained = read_record(path).cost if path.exists() and not plan.originals else None
    if trained is None:
        return UpdatesCost(kept["count"], kept["bytes"])
    return UpdatesCost(kept["count"], kept["bytes"], trained.seconds, trained.recording_seconds)


def check_recorded(plan: Plan) -> None:
    """Raise if a method lacks what the training of an original that is there should have kept for it."""
    if not _kinds(plan):
        return
    for seed in plan.seeds:
        path = original_path(plan, seed)
        model = load(path) if path.exists() else None
        for cell in cells_of(plan, audited=False) if model is not None else ():
            method = plan.chosen[cell.spec] if cell.kind == "run" and cell.seed == seed else None
            if isinstance(method, Prepared) and not place_of(plan, cell).record.exists():
                check_kept(with_kept(plan, method, seed), model, cell.classes, cell.spec, here=not plan.originals)


def check_kept(
    method: Prepared, model: nn.Module | None, classes: Sequence[int], spec: str, *, here: bool = False
) -> None:
    """Raise unless a method has what training should have kept for it; `here`: a comparison has trained the model."""
    assert model is not None
    try:
        method.check_prepared(model, classes)
    except InputError as error:
        again = "; a comparison does so in another `out`, given all its classes at once" if here else ""
        raise InputError(f"{spec} cannot run: {error}{again}; or leave {spec} out of `methods`") from error


def _kinds(plan: Plan) -> dict[str, Prepared]:
    """Return the methods that something is kept for, once each: what is kept does not depend on their options."""
    return {name_of(method): method for method in plan.chosen.values() if isinstance(method, Prepared)}
