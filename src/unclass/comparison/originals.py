"""The models that a comparison starts from: given, trained here, or kept from an earlier call."""

from collections.abc import Sequence
from dataclasses import replace

from unclass.comparison.layout import original_path, run_of, updates_folder
from unclass.comparison.plan import REFERENCE, Plan
from unclass.compatibility import check_fit
from unclass.data import Batches, Split
from unclass.errors import InputError
from unclass.methods import Needs
from unclass.methods.amnesiac.recorder import check_updates, recorded_size
from unclass.methods.amnesiac.timed_recorder import TimedRecorder, recorded_bytes
from unclass.methods.configure import configure
from unclass.methods.retrain import Retrain
from unclass.models import Classifier, load, save, weights_digest
from unclass.records import DataSummary, Record, UpdatesCost, environment, read_record
from unclass.running import new_model, train_model, trained_card
from unclass.storage import Output, require_space
from unclass.training import distributed
from unclass.training.engine import Engine


def original_of(plan: Plan, seed: int, splits: Sequence[Split], engine: Engine) -> Classifier:
    """Return the original of a seed: the one that was given, else trained here or by an earlier call."""
    path = original_path(plan, seed)
    if plan.originals:
        given = load(path)
        check_fit(given, plan.data, str(path))
        return given
    settings = replace(plan.settings, seed=seed)
    recipe = plan.recipe or configure(REFERENCE, data=plan.data.name)
    assert isinstance(recipe, Retrain)
    model = new_model(plan.data, plan.model, plan.model_options, recipe)
    if path.exists():
        earlier = load(path)
        if earlier.card != trained_card(model, plan.data, recipe, settings):
            raise InputError(f"{path} was trained with other settings; choose another `out` or delete it")
        return earlier
    engine = replace(engine, checkpoint=path.with_suffix(".resume"), observer=None)
    if any(method is not None and Needs.UPDATES in method.needs for method in plan.chosen.values()):
        engine.observer = _recorder(plan, seed, splits, recipe, model)
    record = path.with_suffix(".json")
    with Output(path, record, resume=engine.checkpoint, force=True, writes=distributed.is_first()):
        model, outcome = train_model(model, plan.data, recipe, engine, settings)
        if not distributed.is_first():
            return model
        cost = outcome.cost()
        if isinstance(engine.observer, TimedRecorder):
            cost = replace(cost, recording_seconds=engine.observer.seconds_each() * outcome.steps)
        save(model, path)
        Record(
            kind="train", label="original", data=DataSummary.of(plan.data.describe()), options=dict(model.card.recipe),
            seed=seed, precision=engine.precision, weights=weights_digest(model), cost=cost, environment=environment(),
        ).write(record)  # fmt: skip
    return load(path)


def lacking_updates(plan: Plan, original: Classifier, split: Split, seed: int) -> dict[str, str]:
    """Return which methods lack the updates that the original's training should have recorded, and why.

    Raise if the plan is strict, before anything runs.
    """
    lacking = {}
    for spec, method in plan.chosen.items():
        if method is None or Needs.UPDATES not in method.needs or run_of(plan, split, spec, seed).record.exists():
            continue
        try:
            check_updates(updates_folder(plan, seed), original, split.classes)
        except InputError as error:
            if plan.strict:
                raise InputError(f"{spec} cannot run: {error}; or leave {spec} out of `methods`") from error
            lacking[spec] = "no recorded updates of this model and class"
    return lacking


def updates_cost(plan: Plan, seed: int) -> UpdatesCost:
    """Return what recording the updates cost: files, bytes, and, where the original was trained here, seconds."""
    count, size = recorded_bytes(updates_folder(plan, seed))
    path = original_path(plan, seed).with_suffix(".json")
    trained = read_record(path).cost if path.exists() and not plan.originals else None
    if trained is None:
        return UpdatesCost(count, size)
    return UpdatesCost(count, size, trained.seconds, trained.recording_seconds)


def _recorder(
    plan: Plan, seed: int, splits: Sequence[Split], recipe: Retrain, model: Classifier
) -> TimedRecorder | None:
    """Return what records the updates; None where the disk has no room for them and the plan is not strict."""
    classes = sorted({index for split in splits for index in split.classes})
    batches = Batches(plan.data.train, plan.settings.batch_size, shuffle=True, seed=seed)
    _, size = recorded_size(batches, classes, recipe.epochs, model)
    folder = updates_folder(plan, seed)
    try:
        require_space(folder, size)
    except InputError:
        if plan.strict:
            raise
        return None
    return TimedRecorder(folder, classes)
