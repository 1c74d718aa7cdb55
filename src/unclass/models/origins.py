"""Where networks come from besides our own table: timm, torchvision, a Hugging Face folder, or code of one's own.

The libraries are optional and imported only here, when they are asked for. Nothing is ever fetched from a hub.
"""

import inspect
from collections.abc import Callable, Mapping
from copy import deepcopy
from typing import Any

from torch import nn

from unclass.border.offline import reading
from unclass.errors import InputError, unknown
from unclass.extras import library, own_code
from unclass.models.hugging_face import folder_network, folder_normalisation
from unclass.storage import user_path

Shape = tuple[int, int, int]
Normalisation = tuple[tuple[float, ...], tuple[float, ...]]
IMAGENET: Normalisation = ((0.485, 0.456, 0.406), (0.229, 0.224, 0.225))
SPECS = ("timm:NAME", "torchvision:NAME", "hf:FOLDER", "package.module:factory")
_FETCHING = ("pretrained", "weights", "checkpoint", "cache")


def make_network(spec: str, classes: int, shape: Shape, options: Mapping[str, Any]) -> nn.Module:
    """Return the network that a spec names, with weights as its library or factory draws them."""
    source, _, name = spec.partition(":")
    if not source or not name:
        raise unknown("model", spec, SPECS)
    if source not in SOURCES:
        return own_network(spec, classes, options)
    for option in options:
        if option.startswith(_FETCHING):
            raise InputError(f"option {option} of {spec} is not allowed: nothing is fetched; give `weights` FILE")
    network: nn.Module = SOURCES[source](name, classes, shape, options)
    return network


def refuse_code(spec: str) -> None:
    """Raise if a spec that was read from a file would run code: whoever wrote the file would choose what is run."""
    if spec.partition(":")[0] not in SOURCES:
        raise InputError(
            f"the checkpoint's network comes from the code {spec}, which a file may not choose to run; "
            f"if you trust that code, name it: `model` {spec}"
        )


def known_normalisation(spec: str, network: nn.Module) -> Normalisation | None:
    """Return the mean and standard deviation that a network's origin gives; None where it gives none."""
    source, _, name = spec.partition(":")
    if source == "torchvision":
        return IMAGENET
    if source == "timm":
        config: Any = getattr(network, "default_cfg", {})
        return (tuple(config["mean"]), tuple(config["std"])) if "mean" in config else None
    return folder_normalisation(user_path(name)) if source == "hf" else None


def own_network(spec: str, classes: int, options: Mapping[str, Any]) -> nn.Module:
    """Import `package.module:factory`, from the current folder too, and call it. This runs the user's own code."""
    factory = own_code(spec, "factory", SPECS)
    network = deepcopy(factory) if isinstance(factory, nn.Module) else _call(factory, spec, classes, options)
    if not isinstance(network, nn.Module):
        raise InputError(f"{spec} returned a {type(network).__name__}; it must return a torch.nn.Module")
    return network


def _call(factory: Callable[..., Any], spec: str, classes: int, options: Mapping[str, Any]) -> Any:
    """Call a factory with the class count, if it asks for `num_classes` or `classes`, and with the options given."""
    asked = inspect.signature(factory).parameters
    takes_any = any(one.kind is one.VAR_KEYWORD for one in asked.values())
    for option in options:
        if option not in asked and not takes_any:
            raise unknown("option", option, asked, f" of {spec}")
    count = {key: classes for key in ("num_classes", "classes") if key in asked and key not in options}
    return factory(**count, **options)


def _timm(name: str, classes: int, shape: Shape, options: Mapping[str, Any]) -> Any:
    timm = library("timm", "timm")
    if not timm.is_model(name):
        raise unknown("timm model", name, timm.list_models())
    config = timm.get_pretrained_cfg(name)
    size = {"img_size": shape[1:]} if config is not None and config.fixed_input_size else {}
    given = {"in_chans": shape[0], **size, **options}
    return _made(timm.create_model, f"timm:{name}", name, num_classes=classes, pretrained=False, **given)


def _torchvision(name: str, classes: int, shape: Shape, options: Mapping[str, Any]) -> Any:
    models = library("torchvision.models", "torchvision")
    if name not in models.list_models(module=models):
        raise unknown("torchvision model", name, models.list_models(module=models))
    if shape[0] != 3:
        raise InputError(f"torchvision:{name} takes colour pictures, the data has {shape[0]} channels; use timm:NAME")
    size = {"image_size": shape[1]} if name.startswith("vit_") else {}
    without = {"weights": None, "num_classes": classes}
    return _made(models.get_model, f"torchvision:{name}", name, **without, **{**size, **options})


def _made(make: Callable[..., Any], spec: str, *arguments: Any, **options: Any) -> Any:
    with reading(f"{spec} with these options", "correct `model_set` or `size`", "made"):
        return make(*arguments, **options)


SOURCES: dict[str, Callable[[str, int, Shape, Mapping[str, Any]], Any]] = {
    "timm": _timm,
    "torchvision": _torchvision,
    "hf": folder_network,
}
