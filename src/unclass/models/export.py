"""Writing a model for those who serve it without PyTorch, and checking that it says the same there."""

import logging
import warnings
from collections.abc import Callable
from copy import deepcopy
from pathlib import Path
from typing import Any

import torch
from torch import Tensor, nn

from unclass.errors import InputError, unknown
from unclass.extras import library
from unclass.models import Classifier
from unclass.models.any_output import Logits
from unclass.storage import write_atomically

LARGEST_DIFFERENCE = 1e-4
BATCHES = (1, 3)


def check_format(form: str | None) -> None:
    """Raise if a model cannot be written in this format, before any work is done for it."""
    if form is not None and form not in FORMATS:
        raise unknown("export format", form, FORMATS)
    for name in ("onnx", "onnxscript") if form is not None else ():
        library(name, "onnx")


def export_path(out: Path, form: str) -> Path:
    """Return where a model in another format goes: beside its checkpoint, or into its folder."""
    return out.with_suffix(f".{form}") if out.suffix else out / f"model.{form}"


def export_model(model: Classifier, out: Path, form: str) -> tuple[Path, float]:
    """Write a model beside its checkpoint in another format; return where, and how far its logits are off."""
    check_format(form)
    path = export_path(out, form)
    return path, FORMATS[form](model, path)


def export_onnx(model: Classifier, path: Path) -> float:
    """Write the network as ONNX for any batch size, and return the largest difference of its logits from PyTorch's.

    It is the network alone, in 32 bits: like a weights file, it takes pictures that were normalised before. Class
    names, mean and standard deviation are in the file's metadata.
    """
    onnx = library("onnx", "onnx")
    library("onnxscript", "onnx")
    network = Logits(deepcopy(model.network), classes=len(model.card.classes)).cpu().float().eval()
    network = network.to(memory_format=torch.contiguous_format)  # type: ignore[call-overload]
    stored = _program(network, torch.rand(2, *model.card.shape)).model_proto
    about = {"classes": model.card.classes, "mean": model.card.mean, "std": model.card.std}
    onnx.helper.set_model_props(stored, {key: ",".join(map(str, values)) for key, values in about.items()})
    content = stored.SerializeToString()
    difference = max(_difference(network, content, torch.randn(count, *model.card.shape)) for count in BATCHES)
    if not difference <= LARGEST_DIFFERENCE:
        raise InputError(
            f"{path} was not written: its logits differ from PyTorch's by {difference:.1e}, more than "
            f"{LARGEST_DIFFERENCE:.0e}; serve the weights with PyTorch"
        )
    write_atomically(path, lambda file: file.write_bytes(content))
    return difference


def _program(network: nn.Module, x: Tensor) -> Any:
    """Return what torch's exporter makes of a network, quietly."""
    logging.getLogger("torch.onnx").setLevel(logging.ERROR)
    batch = torch.export.Dim("batch", min=1)
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            return torch.onnx.export(
                network, (x,), input_names=["images"], output_names=["logits"], dynamo=True, verbose=False,
                dynamic_shapes=({0: batch},),
            )  # fmt: skip
    except torch.onnx.errors.OnnxExporterError as error:
        raise InputError(f"the network cannot be written as ONNX ({error}); leave `export` out") from error


def _difference(network: nn.Module, content: bytes, x: Tensor) -> float:
    runtime = library("onnxruntime", "onnx").InferenceSession(content, providers=["CPUExecutionProvider"])
    (found,) = runtime.run(None, {"images": x.numpy()})
    with torch.no_grad():
        return float((torch.from_numpy(found) - network(x)).abs().max())


FORMATS: dict[str, Callable[[Classifier, Path], float]] = {"onnx": export_onnx}
