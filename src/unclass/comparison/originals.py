"""The models that a comparison starts from: given, trained here, or kept from an earlier call."""

import logging
from dataclasses import replace
from pathlib import Path

from unclass.comparison.believing import check_written
from unclass.comparison.claim import OtherSettings, claimed
from unclass.comparison.layout import original_path
from unclass.comparison.plan import REFERENCE, Plan
from unclass.comparison.recording import Recording, recording_for
from unclass.compatibility import check_fit
from unclass.errors import InputError
from unclass.methods.configure import configure
from unclass.methods.retrain import Retrain
from unclass.models import Card, Classifier, load, save, weights_digest
from unclass.records import DataSummary, Record, environment, read_record
from unclass.running import new_model, train_model, trained_card
from unclass.storage import Output, settle
from unclass.training import distributed
from unclass.training.engine import Engine

LOG = logging.getLogger(__name__)


def original_of(plan: Plan, seed: int, engine: Engine) -> Classifier:
    """Return the original of a seed: the one that was given, else trained here or by an earlier call."""
    path = original_path(plan, seed)
    if plan.originals:
        given = load(path)
        check_fit(given, plan.data, str(path))
        return given
    recipe = plan.recipe or configure(REFERENCE, data=plan.data.name)
    assert isinstance(recipe, Retrain)
    model = new_model(plan.data, plan.model, plan.model_options, recipe)
    card = trained_card(model, plan.data, recipe, replace(plan.settings, seed=seed))
    earlier = _kept(path, card, said=False)  # if it is not, it is looked at again below
    if earlier is not None:
        return earlier
    with claimed(path.with_suffix(".claim"), folder=False):
        earlier = _kept(path, card)  # another process may just have finished it
        if earlier is None:
            _train(plan, seed, model, recipe, path, engine)
    distributed.wait()
    return earlier or load(path)


def _kept(path: Path, card: Card, *, said: bool = True) -> Classifier | None:
    """Return the original that is there, if it is the one that its record speaks of."""
    earlier = None
    if distributed.is_first():
        settle(path)
        earlier = load(path) if path.exists() else None
        if earlier is not None and earlier.card != card:
            raise OtherSettings(f"{path} was trained with other settings; choose another `out` or delete it")
        if earlier is not None and not _is_its_records(path, said):
            earlier = None
    if not distributed.first_says(earlier is not None):
        return None
    return earlier or load(path)


def _is_its_records(path: Path, said: bool) -> bool:
    """Whether an original is the one that the record beside it speaks of; why not is `said`."""
    try:
        check_written(path.parent, read_record(path.with_suffix(".json"), vouched=True))
    except InputError as error:  # the record is missing, damaged or edited, or the model is not what it says
        if said:
            LOG.warning("%s", error)
        return False
    return True


def _train(plan: Plan, seed: int, model: Classifier, recipe: Retrain, path: Path, engine: Engine) -> None:
    settings = replace(plan.settings, seed=seed)
    record, resume = path.with_suffix(".json"), path.with_suffix(".resume")
    with Output(path, record, force=True, resume=resume, writes=distributed.is_first()) as output:
        recording = recording_for(plan, seed, recipe, model)
        engine = replace(engine, checkpoint=resume, observer=recording)
        model, outcome = train_model(model, plan.data, recipe, engine, settings)
        cost = outcome.cost()
        if isinstance(recording, Recording):
            cost = replace(cost, recording_seconds=recording.seconds_each() * outcome.steps)
        if distributed.is_first():
            save(model, path)
            Record(
                kind="train", label="original", data=DataSummary.of(plan.data.describe()),
                options=dict(model.card.recipe), seed=seed, precision=engine.precision, weights=weights_digest(model),
                cost=cost, written={"sha256": output.digests()}, environment=environment(),
            ).write(record)  # fmt: skip
