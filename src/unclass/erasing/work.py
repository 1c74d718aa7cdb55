"""The work of an erasure: forgetting and auditing, each into files of one folder, so that it can be done again."""

import json
from collections.abc import Mapping
from dataclasses import asdict, fields, replace
from pathlib import Path
from typing import Any

from unclass.api import forget
from unclass.arguments import engine_for, model_and_data
from unclass.audits.result import Audit, Verdict
from unclass.audits.run import audit, name_roles
from unclass.data import DataOptions, ImageData, Split, listed_rows
from unclass.data.fingerprints import fingerprints
from unclass.erasing.job import Job
from unclass.erasing.listed_images import audit_images
from unclass.forgotten import left_by
from unclass.ledger.files import content_digest
from unclass.ledger.models import Version
from unclass.ledger.requests import Request
from unclass.ledger.store import Ledger
from unclass.models import Classifier, Opening
from unclass.records import read_record
from unclass.storage import real_path, write_json

_PATHS = ("folder", "csv", "parquet", "hf", "webdataset")


def settings_of(data: str, where: DataOptions, opening: Opening) -> dict[str, Any]:
    """Return as JSON how a model and its data are opened; paths absolute, since who erases may stand elsewhere."""
    default = DataOptions()
    given = {
        field.name: getattr(where, field.name)
        for field in fields(DataOptions)
        if field.name != "progress" and getattr(where, field.name) != getattr(default, field.name)
    }
    if where.root is not None:
        given["root"] = str(real_path(where.root))
    form, colon, path = data.partition(":")
    spec = f"{form}:{real_path(path)}" if colon and form in _PATHS else data
    opened = {key: value for key, value in asdict(opening).items() if value}
    return {"data": spec, "data_options": given, "opening": opened}


def read_settings(settings: Mapping[str, Any]) -> tuple[str, DataOptions, Opening]:
    """Return what `settings_of` kept."""
    given, opening = (_with_tuples(settings[part]) for part in ("data_options", "opening"))
    if "root" in given:
        given["root"] = Path(given["root"])
    return settings["data"], DataOptions(**given), Opening(**opening)


def _with_tuples(content: Mapping[str, Any]) -> dict[str, Any]:
    """Return lists as the tuples that they were before JSON."""
    return {key: tuple(value) if isinstance(value, list) else value for key, value in content.items()}


def open_version(file: Path, settings: Mapping[str, Any], quiet: bool = True) -> tuple[Classifier, ImageData]:
    """Return a model of the ledger and its data."""
    data, where, opening = read_settings(settings)
    model, images = model_and_data(file, data, data_options=where, opening=opening)
    assert isinstance(model, Classifier)
    return model, images


def forget_step(ledger: Ledger, request: Request, source: Version, job: Job, folder: Path) -> None:
    """Write the unlearned model, its record, its card and the digests of the erased images into a folder."""
    file, settings = source.file(ledger), with_memory(settings_in(ledger, request.model), source)
    _, images = open_version(file, settings)
    _, where, opening = read_settings(settings)
    unlearned = forget(
        file, images, list(request.classes), job.method, preset=job.preset, seed=job.seed, batch_size=job.batch_size,
        engine=job.engine, forget_list=list(request.images) or None, data_options=where, opening=opening,
        out=folder / f"unlearned{source.ending}", force=True,
        ledger=False, **job.options,
    )  # fmt: skip
    assert isinstance(unlearned, Classifier)
    write_json(folder / "card.json", unlearned.card.as_dict())
    write_json(folder / "images.json", fingerprints(split_for(request, images).forget))


def audit_step(ledger: Ledger, request: Request, source: Version, job: Job, folder: Path, operator: str) -> Verdict:
    """Write the audit into a folder and return its verdict."""
    settings = with_memory(settings_in(ledger, request.model), source)
    data, where, opening = read_settings(settings)
    if request.images:
        found = _audit_of_images(ledger, request, source, job, folder)
    else:
        found = audit(
            unlearned_in(folder), source.file(ledger), data, list(request.classes), list(job.retrained),
            engine=job.engine, seed=job.seed, data_options=where, opening=opening, about=names_of(request, source),
        )  # fmt: skip
    signed = replace(found.provenance, by=operator)
    found = replace(found, subject=replace(found.subject, request=request.id), provenance=signed)
    found.save(folder / "audit.json")
    return found.verdict


def split_for(request: Request, images: ImageData) -> Split:
    """Part the images that a request asks for from the others."""
    rows = listed_rows(list(request.images), images) if request.images else None
    return Split.of(images, list(request.classes), rows=rows)


def settings_in(ledger: Ledger, model: str) -> dict[str, Any]:
    """Return how a model of the ledger is opened."""
    row = ledger.database.execute("SELECT settings FROM models WHERE name = ?", (model,)).fetchone()
    found: dict[str, Any] = json.loads(row["settings"])
    return found


def with_memory(settings: Mapping[str, Any], version: Version) -> dict[str, Any]:
    """Return settings that open a version with what it has forgotten, which not every format of weights can say."""
    kept = ("forgotten", "forgotten_images", "still_known_images")
    said = {key: list(version.card.get(key, ())) for key in kept}
    left = {"still_known": dict(version.card.get("still_known", {}))}
    return {**settings, "opening": {**settings["opening"], **said, **left}}


def unlearned_in(folder: Path) -> Path:
    """Return the unlearned model in a folder of work."""
    found = [path for path in folder.glob("unlearned*") if path.suffix not in (".json", ".resume")]
    return found[0] if found else folder / "unlearned"


def images_of(folder: Path) -> list[str]:
    """Return the digests of the images that were erased."""
    found: list[str] = json.loads((folder / "images.json").read_text(encoding="utf-8"))
    return found


def digest_and_card(file: Path, settings: Mapping[str, Any]) -> tuple[str, dict[str, Any]]:
    """Return the digest of a model's file and its card."""
    return content_digest(file), open_version(file, settings)[0].card.as_dict()


def _audit_of_images(ledger: Ledger, request: Request, source: Version, job: Job, folder: Path) -> Audit:
    """Audit single images: of these the class stays, so that other questions are asked than of a class."""
    settings = with_memory(settings_in(ledger, request.model), source)
    original, images = open_version(source.file(ledger), settings)
    others = [open_version(file, settings)[0] for file in (unlearned_in(folder), *job.retrained)]
    models = name_roles(others[0], original, others[1:])
    split = left_by(original, split_for(request, images))
    about = names_of(request, source)
    about["unlearned"]["method"] = read_record(folder / "unlearned.json").method
    return audit_images(models, images, split, engine_for(original, job.engine), job.seed, about)


def names_of(request: Request, source: Version) -> dict[str, dict[str, str]]:
    """Return what an audit calls the two models, whose files have other names in the ledger."""
    return {
        "original": {"name": f"{request.model}, version {source.number}"},
        "unlearned": {"name": f"{request.model} after {request.id}"},
    }
