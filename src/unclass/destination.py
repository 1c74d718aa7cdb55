"""Where a made model, its record and its export go, and what the record says of them."""

from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

from unclass.errors import InputError
from unclass.models.export import export_path
from unclass.models.opening import check_ending
from unclass.records import Record
from unclass.storage import Output, check_target
from unclass.training import distributed
from unclass.training.engine import Engine


def destination(
    out: str | Path | None, force: bool, source: Path | None = None, export: str | None = None
) -> Output | None:
    """Return where model, record and export go, or None; what cannot be written there is refused before any work."""
    if out is None:
        return None
    path = Path(out)
    check_target(path)
    record = path.with_suffix(".json")
    if record == path:
        raise InputError(f"{path} is where the record goes; end the checkpoint's name in .safetensors")
    check_ending(path, source)
    exports = [export_path(path, export)] if export is not None and path.suffix else []
    folder = source is not None and source.is_dir() and not path.suffix
    return Output(
        path, record, *exports, force=force, inputs=[] if source is None else [source],
        resume=path.with_name(path.name + ".resume"), folder=folder, writes=distributed.is_first(),
    )  # fmt: skip


def written(record: Record, output: Output, files: Mapping[str, Any]) -> Record:
    """Return a record that says what was written beside it, and with which bytes, as it stands there."""
    record = replace(record, written={**files, "sha256": output.digests()})
    record.write(output.given[1])
    return record


def resumable(engine: Engine, output: Output | None) -> Engine:
    """Return an engine that keeps a place to resume from beside the output."""
    return engine if output is None else replace(engine, checkpoint=output.resume)
