"""Methods × classes × seeds beside the retrained model: resumable, and never doing what is done already."""

import hashlib
import json
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from unclass.audits.result import Audit
from unclass.audits.run import audit
from unclass.data import Batches, ImageData, Split
from unclass.errors import Diverged, InputError
from unclass.methods import Method, Needs
from unclass.methods.amnesiac.recorder import check_updates, recorded_size
from unclass.methods.amnesiac.timed_recorder import TimedRecorder, recorded_bytes
from unclass.methods.configure import configure, name_of, options_of
from unclass.methods.retrain import Retrain
from unclass.metrics import figures
from unclass.models import Classifier, load, save, weights_digest
from unclass.predictions import predict_sets, save_predictions
from unclass.records import read_record, write_record
from unclass.running import (
    Settings,
    check_fit,
    describe_run,
    mark_forgotten,
    new_model,
    original_recipe,
    train_model,
    trained_card,
    unlearn,
)
from unclass.storage import require_space
from unclass.training import distributed
from unclass.training.engine import Engine


@dataclass(frozen=True)
class Plan:
    """What to compare. `methods` are names, or `name@preset`; `originals` are checkpoints, one for each seed.

    Unless `strict`, a method whose recorded updates are missing does not stop the others: what it yields says why.
    """

    data: ImageData
    out: Path
    methods: Sequence[str]
    classes: Sequence[Sequence[str | int]]
    seeds: Sequence[int] = (0,)
    model: str = "small-cnn"
    model_options: dict[str, Any] = field(default_factory=dict)
    recipe: Retrain | None = None
    originals: Sequence[Path] = ()
    settings: Settings = field(default_factory=Settings)
    strict: bool = True

    def __post_init__(self) -> None:
        if self.originals and len(self.originals) != len(self.seeds):
            raise InputError(f"{len(self.originals)} originals for {len(self.seeds)} seeds; give one for each seed")
        for spec in self.methods:
            choose(spec, self.data.name)

    def splits(self) -> list[Split]:
        return [Split.of(self.data, labels) for labels in self.classes]


def compare(plan: Plan, engine: Engine) -> Iterator[dict[str, Any]]:
    """Yield the record of each run: for every seed and class the original, the retrained model, then the methods."""
    splits = plan.splits()
    specs = list(dict.fromkeys(["original", "retrain", *plan.methods]))
    for place, seed in enumerate(plan.seeds):
        original = load(plan.originals[place]) if plan.originals else _original(plan, seed, splits, engine)
        check_fit(original, plan.data, str(plan.originals[place]) if plan.originals else "the original")
        lacking = [_lacking_updates(plan, original, split, specs, seed) for split in splits]
        for split, missing in zip(splits, lacking, strict=True):
            names = [plan.data.classes[index] for index in split.classes]
            for spec in specs:
                if spec in missing:
                    yield not_run(spec, names, seed, missing[spec])
                else:
                    yield _run(plan, original, split, spec, replace(plan.settings, seed=seed), engine)


def audit_runs(plan: Plan, engine: Engine) -> Iterator[Audit]:
    """Yield the audit of each method and class, on the first seed's run, beside the retrained models of all seeds."""
    seed = plan.seeds[0]
    original = load(plan.originals[0] if plan.originals else original_path(plan, seed))
    for split in plan.splits():
        folders = [run_folder(plan, split, "retrain", one) for one in plan.seeds]
        retrained = [load(folder / "model.safetensors") for folder in folders]
        references = {weights_digest(model) for model in (original, *retrained)}
        for spec in [spec for spec in dict.fromkeys(plan.methods) if spec not in ("original", "retrain")]:
            folder = run_folder(plan, split, spec, seed)
            if not (folder / "model.safetensors").exists():
                continue  # it failed
            path, unlearned = folder / "audit.json", load(folder / "model.safetensors")
            found = _earlier_audit(path, references | {weights_digest(unlearned)})
            if found is None:
                about = {"unlearned": _about(folder, spec), "retrained": _about(folders[0], "retrain")}
                found = audit(
                    unlearned, original, plan.data, split.classes, retrained,
                    engine=engine, seed=seed, about=about, workers=plan.settings.workers,
                )  # fmt: skip
                found.save(path)
            yield found


def _earlier_audit(path: Path, weights: set[str]) -> Audit | None:
    """Return the audit that is there, if it is of models with these very weights."""
    if not path.exists():
        return None
    found = Audit.read(path)
    return found if {model.weights for model in found.models.values()} == weights else None


def _about(folder: Path, spec: str) -> dict[str, Any]:
    cost = read_record(folder / "record.json")["cost"] or {}
    return {"name": spec, "method": spec, "seconds": cost.get("seconds")}


def original_path(plan: Plan, seed: int) -> Path:
    """Return where the original of a seed is kept."""
    return plan.out / "originals" / f"seed{seed}.safetensors"


def choose(spec: str, data_name: str) -> Method | None:
    """Return the method that `name` or `name@preset` stands for; None for the original."""
    name, _, preset = spec.partition("@")
    return None if name == "original" else configure(name, data=data_name, preset=preset or None)


def run_folder(plan: Plan, split: Split, spec: str, seed: int) -> Path:
    """Return where a run is kept."""
    names = "+".join(f"{index}-{_slug(plan.data.classes[index])}" for index in split.classes)
    return plan.out / "runs" / names[:100] / spec / f"seed{seed}"


def not_run(label: str, forget_classes: Sequence[str], seed: int, why: str) -> dict[str, Any]:
    """Return a stand-in for the record of a run that was not possible; it is not written to disk."""
    nothing = {"cost": None, "figures": None, "failed": f"not run: {why}"}
    return {"label": label, "forget_classes": list(forget_classes), "seed": seed, **nothing}


def _run(
    plan: Plan, original: Classifier, split: Split, spec: str, settings: Settings, engine: Engine
) -> dict[str, Any]:
    folder = run_folder(plan, split, spec, settings.seed)
    method = _prepare(spec, plan, original, settings.seed)
    about = {"label": spec, **describe_run(original, plan.data, split, method, settings, engine)}
    identity = _identity(about)
    path = folder / "record.json"
    if path.exists():
        record = read_record(path)
        if record["identity"] != identity:
            raise InputError(f"{path} is of a run with other settings; choose another `out` or delete it")
        return record
    engine = replace(engine, checkpoint=folder / "resume" if method is not None else None, observer=None)
    content: dict[str, Any] = {**about, "identity": identity, "cost": None, "figures": None, "failed": None}
    try:
        model: Any = original
        if method is not None:
            outcome = unlearn(original, split, method, engine, settings)
            model, content["cost"] = outcome.model, outcome.cost()
            if Needs.UPDATES in method.needs:
                content["cost"]["updates"] = _updates_cost(plan, settings.seed)
        sets = predict_sets(model, split, engine, workers=settings.workers)
        content["figures"] = figures(sets)
        if distributed.is_first():
            save_predictions(sets, folder / "predictions.safetensors")
            if method is not None:
                mark_forgotten(model, tuple(plan.data.classes[index] for index in split.classes))
                save(model, folder / "model.safetensors")
    except Diverged as error:
        content["failed"] = str(error)
    if distributed.is_first():
        return read_record(write_record(path, content))
    return content


def _identity(about: dict[str, Any]) -> str:
    """Return a digest of what determines a run's result; where the recorded updates lie does not."""
    options = {key: value for key, value in about["options"].items() if key != "updates"}
    return hashlib.sha256(json.dumps({**about, "options": options}, sort_keys=True, default=str).encode()).hexdigest()


def _prepare(spec: str, plan: Plan, original: Classifier, seed: int) -> Method | None:
    """Fill in what only the comparison knows: the original's recipe, and where its updates were recorded."""
    method = choose(spec, plan.data.name)
    if spec == "retrain" and original.card.recipe:
        return original_recipe(original, plan.data.name)
    if method is not None and Needs.UPDATES in method.needs:
        return configure(name_of(method), options={**options_of(method), "updates": str(_updates(plan, seed))})
    return method


def _lacking_updates(plan: Plan, original: Classifier, split: Split, specs: Sequence[str], seed: int) -> dict[str, str]:
    """Return which methods lack the updates that the original's training should have recorded, and why.

    Raise if the plan is strict, before anything runs.
    """
    lacking = {}
    for spec in specs:
        method = choose(spec, plan.data.name)
        done = (run_folder(plan, split, spec, seed) / "record.json").exists()
        if method is not None and Needs.UPDATES in method.needs and not done:
            try:
                check_updates(_updates(plan, seed), original, split.classes)
            except InputError as error:
                if plan.strict:
                    raise InputError(f"{spec} cannot run: {error}; or leave {spec} out of `methods`") from error
                lacking[spec] = "no recorded updates of this model and class"
    return lacking


def _original(plan: Plan, seed: int, splits: Sequence[Split], engine: Engine) -> Classifier:
    """Train the original of a seed, or take it from an earlier run."""
    path = original_path(plan, seed)
    settings = replace(plan.settings, seed=seed)
    recipe = plan.recipe or configure("retrain", data=plan.data.name)
    assert isinstance(recipe, Retrain)
    model = new_model(plan.data, plan.model, plan.model_options, recipe)
    if path.exists():
        earlier = load(path)
        if earlier.card != trained_card(model, plan.data, recipe, settings):
            raise InputError(f"{path} was trained with other settings; choose another `out` or delete it")
        return earlier
    engine = replace(engine, checkpoint=path.with_suffix(".resume"), observer=None)
    if any((method := choose(spec, plan.data.name)) and Needs.UPDATES in method.needs for spec in plan.methods):
        engine.observer = _recorder(plan, seed, splits, recipe, model)
    model, outcome = train_model(model, plan.data, recipe, engine, settings)
    if distributed.is_first():
        cost: dict[str, Any] = outcome.cost()
        if isinstance(engine.observer, TimedRecorder):
            cost["recording_seconds"] = engine.observer.seconds_each() * outcome.steps
        save(model, path)
        about = {"kind": "train", "data": plan.data.describe(), "recipe": dict(model.card.recipe), "seed": seed}
        more = {"precision": engine.precision, "weights": weights_digest(model), "cost": cost}
        write_record(path.with_suffix(".json"), {**about, **more})
    return load(path) if distributed.is_first() else model


def _recorder(
    plan: Plan, seed: int, splits: Sequence[Split], recipe: Retrain, model: Classifier
) -> TimedRecorder | None:
    """Return what records the updates; None where the disk has no room for them and the plan is not strict."""
    classes = sorted({index for split in splits for index in split.classes})
    batches = Batches(plan.data.train, plan.settings.batch_size, shuffle=True, seed=seed)
    _, size = recorded_size(batches, classes, recipe.epochs, model)
    try:
        require_space(_updates(plan, seed), size)
    except InputError:
        if plan.strict:
            raise
        return None
    return TimedRecorder(_updates(plan, seed), classes)


def _updates_cost(plan: Plan, seed: int) -> dict[str, Any]:
    """Return what recording the updates cost: files, bytes, and, where the original was trained here, seconds."""
    count, size = recorded_bytes(_updates(plan, seed))
    path = original_path(plan, seed).with_suffix(".json")
    trained = read_record(path)["cost"] if path.exists() and not plan.originals else {}
    training = {"training_seconds": trained.get("seconds"), "recording_seconds": trained.get("recording_seconds")}
    return {"count": count, "bytes": size, **training}


def _updates(plan: Plan, seed: int) -> Path:
    return plan.out / "updates" / f"seed{seed}"


def _slug(text: str) -> str:
    return re.sub(r"[^A-Za-z0-9._-]+", "-", text).strip("-.") or "class"
