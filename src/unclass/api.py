"""The verbs that train and unlearn: the only implementations, for Python and for the command line."""

from collections.abc import Callable, Mapping
from contextlib import nullcontext
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any
from weakref import WeakKeyDictionary

import torch
from torch import nn

from unclass.arguments import (
    DEFAULT_METHOD,
    DEFAULT_MODELS,
    Case,
    Classes,
    Listed,
    Model,
    batch_size_of,
    case_for,
    check_is_model,
    engine_for,
    images_of,
    labels_of,
    method_for,
)
from unclass.border.generators import generators_as_they_were
from unclass.border.plain_types import plain_arguments
from unclass.data import Batches, DataOptions, ImageData
from unclass.destination import destination, resumable, written
from unclass.errors import InputError
from unclass.forgotten import mark_forgotten
from unclass.ledger.erased import Asked, ledger_to_ask, remembered, tell_erased
from unclass.methods import REFERENCE, Method
from unclass.methods.amnesiac.recorder import UpdateRecorder, prepare_recording, recorded_size
from unclass.methods.configure import configure, name_of
from unclass.methods.retrain import Retrain
from unclass.metrics.evaluation import Evaluation
from unclass.models import Classifier, Opening, save, weights_digest
from unclass.models.any_model import like
from unclass.models.export import check_format
from unclass.models.renaming import new_names, rename
from unclass.models.writing import write_model
from unclass.predictions import predict_sets
from unclass.records import Record
from unclass.running import (
    Outcome,
    Settings,
    describe_run,
    new_model,
    train_model,
    training_record,
    unlearn,
    with_findings,
)
from unclass.training import distributed
from unclass.training.engine import Engine

_RECORDS: WeakKeyDictionary[nn.Module, Record] = WeakKeyDictionary()


def record_of(model: nn.Module) -> Record:
    """Return the record of the run that made a model: what `train` or `forget` did, on what, and what it took.

    Example: `unclass.record_of(forgotten).cost.seconds`
    """
    if not isinstance(model, nn.Module) or model not in _RECORDS:
        raise InputError("no record of this model is known here; give the one that train or forget returned")
    return _RECORDS[model]


@plain_arguments
@generators_as_they_were()
def train(
    data: Any,
    model: str | None = None,
    *,
    seed: int = 0,
    batch_size: int = 64,
    preset: str | None = None,
    engine: Engine | None = None,
    device: str | torch.device | None = None,
    data_options: DataOptions | None = None,
    model_options: Mapping[str, Any] | None = None,
    record_updates: str | Path | None = None,
    record_class: Classes | None = None,
    out: str | Path | None = None,
    force: bool = False,
    ledger: Asked = None,
    tell: Callable[[str], None] | None = None,
    **recipe: Any,
) -> Classifier:
    """Train a classifier; `recipe` changes single options of the data set's recipe (epochs, lr, …).

    With `out` it is written there, a record beside it. With `record_updates` the updates of every batch that holds a
    class of `record_class` are kept in that folder, for Amnesiac Unlearning; `tell` is told how large they will be.
    A `ledger`, by default UNCLASS_LEDGER, knows images that were erased: those in the data are named before the start,
    to `tell` or as warnings.

    Example: `model = unclass.train("digits", epochs=5, out="digits.safetensors")`
    """
    output = destination(out, force)
    known = ledger_to_ask(ledger)
    images = images_of(data, data_options)
    tell_erased(known, images, tell)
    method = configure(REFERENCE, data=images.name, preset=preset, options=recipe)
    assert isinstance(method, Retrain)
    name = model or DEFAULT_MODELS.get(images.name, "resnet-18")
    settings = Settings(seed, batch_size, 0 if data_options is None else data_options.workers)
    fresh = new_model(images, name, model_options or {}, method)
    engine = resumable(engine_for(fresh, engine, device), output)
    with output or nullcontext():
        if record_updates is not None:
            recorder = _recorder(Path(record_updates), record_class, images, method, fresh, settings, tell)
            engine = replace(engine, observer=recorder)
        trained, outcome = train_model(fresh, images, method, engine, settings)
        record = training_record(trained, images, method, outcome, settings, engine)
        if output is not None and distributed.is_first():
            save(trained, output.given[0])
            record = written(record, output, {"model": str(output.given[0])})
    distributed.wait()
    _RECORDS[trained] = record
    return trained


@plain_arguments
@generators_as_they_were()
def forget(
    model: Model,
    data: Any,
    classes: Classes | None = (),
    method: str | Method = DEFAULT_METHOD,
    *,
    preset: str | None = None,
    seed: int = 0,
    batch_size: int | None = None,
    engine: Engine | None = None,
    device: str | torch.device | None = None,
    head: str = "",
    forget_only: bool = False,
    forget_list: Listed | None = None,
    data_options: DataOptions | None = None,
    opening: Opening | None = None,
    evaluated: bool | None = None,
    out: str | Path | None = None,
    export: str | None = None,
    rename_class: str | None = None,
    force: bool = False,
    ledger: Asked = None,
    tell: Callable[[str], None] | None = None,
    **options: Any,
) -> nn.Module:
    """Return a model like the given one that has forgotten the classes. The given one stays as it is.

    Any network that maps images to logits will do; `head` names its last layer where that cannot be found. `model` may
    be the path of a checkpoint, `opening` then says of what network if the file does not. `data` is what `load_data`
    takes or gives, or a Dataset or DataLoader of (x, y), x as the model takes it, or a pair of these: training and
    test images. With `forget_only` it holds only what is to be forgotten. `forget_list` names the images to go, if not
    all of the classes do. With `out` the model is written there in the form that it came in, a record beside it, with
    the scores before and after unless `evaluated` is false. `rename_class` stands in place of the forgotten name in the
    model's card, and so in what is written. A `ledger`, by default UNCLASS_LEDGER and none with False, knows what the
    file of a model was to forget, and images that were erased: those in the data are named before the start, to `tell`
    or as warnings. `options` are the method's.

    Example: `forgotten = unclass.forget(model, loader, classes="deer")`
    """
    check_format(export)
    source = None if isinstance(model, nn.Module) else _source(model, opening)
    output = destination(out, force, source, export)
    known = ledger_to_ask(ledger)
    opening = remembered(known, source, opening or Opening()) if known is not None else opening
    case = case_for(
        model, data, classes, head=head, forget_only=forget_only, forget_list=forget_list,
        data_options=data_options, opening=opening,
    )  # fmt: skip
    tell_erased(known, case.data, tell)
    names = _new_names(case, rename_class)
    chosen = method_for(case.given, case.data, method, preset, options)
    settings = Settings(seed, batch_size_of(data, batch_size), case.workers)
    run = _Run(case, chosen, settings, resumable(engine_for(case.given, engine, device), output))
    with output or nullcontext():
        outcome = unlearn(case.work, case.split, chosen, run.engine, settings)
        result = run.result(outcome)
        record = run.record(outcome, result, digests=output is not None)
        if evaluated or (evaluated is None and output is not None):
            record = replace(record, before=run.scores(case.work), scores=run.scores(outcome.model))
        if isinstance(result, Classifier):
            rename(result, names)
        if output is not None and distributed.is_first():
            record = written(record, output, write_model(result, output.given[0], source, export, names))
    distributed.wait()
    _RECORDS[result] = record
    return result


@plain_arguments
@generators_as_they_were()
def evaluate(
    model: Model,
    data: Any,
    classes: Classes | None = (),
    *,
    engine: Engine | None = None,
    device: str | torch.device | None = None,
    head: str = "",
    forget_only: bool = False,
    forget_list: Listed | None = None,
    data_options: DataOptions | None = None,
    opening: Opening | None = None,
) -> Evaluation:
    """Return the four accuracies and the attack success rate, each in [0, 1], of the sets that the data holds.

    A Dataset or DataLoader counts as test images, with `forget_only` as training images; a pair, or `image_data`, says
    both.

    Example: `unclass.evaluate(forgotten, test_loader, classes="deer").accuracy_forget_test`
    """
    case = case_for(
        model, data, classes, head=head, forget_only=forget_only, forget_list=forget_list, test=not forget_only,
        data_options=data_options, opening=opening,
    )  # fmt: skip
    return _scores(case.work, case, engine_for(case.given, engine, device))


@dataclass(frozen=True, eq=False)
class _Run:
    """What a run unlearns, and how: from here on, what it leaves behind can be made and told."""

    case: Case
    method: Method
    settings: Settings
    engine: Engine

    def result(self, outcome: Outcome) -> nn.Module:
        """Return the unlearned model in the form that it came in, which knows what it was to forget."""
        given, made = self.case.given, outcome.model
        result = made if type(made) is type(given) else like(given, made)
        mark_forgotten(result, self.case.split, outcome.left, outcome.listed)
        return result

    def record(self, outcome: Outcome, result: nn.Module, *, digests: bool) -> Record:
        """Return what was done on what, what it found and what it cost."""
        given, data, split = self.case.given, self.case.data, self.case.split
        about = describe_run(given, data, split, self.method, self.settings, self.engine, digests=digests)
        found = with_findings(about, outcome, self.method, data)
        return replace(found, label=name_of(self.method), cost=outcome.cost(), weights=weights_digest(result))

    def scores(self, model: nn.Module) -> Evaluation:
        return _scores(model, self.case, self.engine)


def _scores(model: nn.Module, case: Case, engine: Engine) -> Evaluation:
    return Evaluation.of(predict_sets(model, case.split, engine, workers=case.workers))


def _source(model: str | Path, opening: Opening | None) -> Path | None:
    """Return the file or folder that a model's weights come from."""
    check_is_model(model)
    return Path(model) if str(model) else (opening or Opening()).own_weights()


def _new_names(case: Case, name: str | None) -> dict[str, str]:
    """Return what forgotten classes are to be called, by what they were called."""
    if name is None:
        return {}
    if not isinstance(case.given, Classifier) or not case.split.whole:
        raise InputError("there is no class to rename; `rename_class` is for models with a card that forget classes")
    return new_names(case.data.classes, [case.data.classes[index] for index in case.split.classes], name)


def _recorder(
    folder: Path,
    classes: Classes | None,
    images: ImageData,
    recipe: Retrain,
    model: Classifier,
    settings: Settings,
    tell: Callable[[str], None] | None,
) -> UpdateRecorder:
    """Return what keeps the updates of classes while a model is trained, once there is room for them."""
    labels = labels_of(classes)
    if not labels:
        raise InputError(f"`record_updates` needs `record_class`; choose from: {', '.join(images.classes)}")
    wanted = [images.index(label) for label in labels]
    batches = Batches(images.train, settings.batch_size, shuffle=True, seed=settings.seed)
    count, size = recorded_size(batches, wanted, recipe.epochs, model)
    prepare_recording(folder, size)
    if tell is not None:
        tell(f"recording {count:,} updates: {size / 1e9:,.2f} GB in {folder}")
    return UpdateRecorder(folder, wanted)
