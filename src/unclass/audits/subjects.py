"""The models of an audit, given as networks or as paths of checkpoints, and what files beside these know."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from torch import nn

from unclass.arguments import Model, check_is_model, model_and_data
from unclass.audits.next_steps import spoken
from unclass.audits.shadow import Shadows, train_shadows
from unclass.audits.shadow_count import affordable, pair_seconds
from unclass.border.bounds import MOST_MINUTES, MOST_SHADOW_MODELS
from unclass.compatibility import check_fit
from unclass.data import DataOptions, ImageData, Split
from unclass.errors import InputError
from unclass.methods.configure import configure
from unclass.models import Opening
from unclass.models.weights_file import no_checkpoint
from unclass.records import Record, read_record
from unclass.running import Settings
from unclass.storage import is_there, sha256
from unclass.training.engine import Engine


@dataclass(frozen=True)
class Subjects:
    """Models by role, the shadow models among them apart, the data, and the records beside the checkpoints."""

    models: Mapping[str, nn.Module]
    shadow_models: Sequence[nn.Module]
    data: ImageData
    records: Mapping[str, Record]
    names: Mapping[str, str]
    workers: int
    digests: Mapping[str, str] = field(default_factory=dict)

    @property
    def about(self) -> dict[str, dict[str, Any]]:
        """What is known of each role beside its weights: name, digest of its file, method, seconds."""
        return {
            role: {"name": name, "file": self.digests.get(role, ""), **_known(self.records.get(role))}
            for role, name in self.names.items()
        }

    def shadows(
        self, count: int, minutes: float, split: Split, engine: Engine, seed: int, tell: Callable[[str], object]
    ) -> Shadows | None:
        """Return the shadow models that were given or that are to be trained; None if there are to be none.

        With `minutes` as many are trained as these allow, which `tell` is given before.
        """
        if count and minutes:
            raise InputError("`shadow` and `shadow_minutes` both say how many shadow models to train; give one of them")
        if not (0 <= count <= MOST_SHADOW_MODELS and 0 <= minutes <= MOST_MINUTES):
            given = f"`shadow` {count}" if minutes == 0 else f"`shadow_minutes` {minutes:g}"
            most = f"{MOST_SHADOW_MODELS} shadow models, or minutes up to a year ({MOST_MINUTES})"
            raise InputError(f"{given} is out of range; give at most {most}")
        if self.shadow_models:
            return Shadows(self.shadow_models, [self.models[role] for role in self.models if "retrained" in role])
        if not count and not minutes:
            return None
        record = self.records.get("unlearned")
        if record is None:
            name = self.names.get("unlearned", "the unlearned model")
            raise InputError(
                f"no record beside {name} says how it was unlearned; give `shadow_models` instead of `shadow`"
            )
        method = configure(record.method, options=record.options)
        settings = Settings(seed, record.batch_size or 64)
        if minutes:
            unlearning = record.cost.seconds if record.cost else 0.0
            seconds = pair_seconds(self.models["original"], self.data, split, unlearning, engine, settings)
            count = affordable(minutes, seconds)
            tell(f"U-LiRA: {count} pairs of shadow models, about {spoken(seconds)} each")
        return train_shadows(self.models["original"], self.data, split, method, count, engine, settings)


def models_in(given: Model | Sequence[Model], name: str) -> list[Model]:
    """Return one model or several, as an argument of this name gives them, as a list."""
    if isinstance(given, nn.Module | str | Path):
        return [given]
    if not isinstance(given, Iterable) or getattr(given, "ndim", 1) == 0:
        raise InputError(f"`{name}` is {repr(given)[:80]}; give a model or the path of one, or a list of them")
    return list(given)


def open_subjects(
    roles: Mapping[str, Model],
    shadow_models: Sequence[Model],
    data: Any,
    *,
    data_options: DataOptions | None = None,
    opening: Opening | None = None,
) -> Subjects:
    """Open what is given as a path; the data is read for the original."""
    for model in (*roles.values(), *shadow_models):
        check_is_model(model)
    how, workers = opening or Opening(), getattr(data, "num_workers", data_options.workers if data_options else 0)
    original, images = model_and_data(roles["original"], data, data_options=data_options, opening=how)
    paths = {role: Path(model) for role, model in roles.items() if not isinstance(model, nn.Module)}

    def opened(model: Model) -> nn.Module:
        if isinstance(model, nn.Module):
            return model
        if not is_there(Path(model)):
            raise no_checkpoint(model)
        found = how.open(Path(model), images.classes, images.train.shape)
        check_fit(found, images, str(model))
        return found

    models = {role: original if role == "original" else opened(model) for role, model in roles.items()}
    records = {role: record for role, path in paths.items() if (record := _beside(path)) is not None}
    names = {role: path.name for role, path in paths.items()}
    digests = {role: sha256(path) for role, path in paths.items() if path.is_file()}
    return Subjects(models, [opened(model) for model in shadow_models], images, records, names, workers, digests)


def _beside(path: Path) -> Record | None:
    """Return the record beside a checkpoint: `model.json` from `forget`, `record.json` from `compare`."""
    for one in (path.with_suffix(".json"), path.with_name("record.json")):
        if one.is_file():
            return read_record(one)
    return None


def _known(record: Record | None) -> dict[str, Any]:
    if record is None:
        return {}
    return {"seconds": record.cost.seconds if record.cost else None, "method": record.label or record.method}
