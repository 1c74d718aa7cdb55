"""Attention maps: where each model sees the forgotten class (Grad-CAM, Selvaraju et al. 2017)."""

from collections.abc import Mapping, Sequence

import torch
from torch import Tensor, nn

from unclass.audits.evidence import Attention, AttentionImage
from unclass.audits.examine import Examination
from unclass.audits.thumbnails import data_uri, heat_uri
from unclass.data import Batches
from unclass.training.engine import Engine

IMAGES, SIDE = 6, 96


def attention_section(
    models: Mapping[str, nn.Module], seen: Examination, names: Sequence[str], engine: Engine
) -> Attention:
    """Return the maps of a few forget images for every role, each for the image's own class. They show the images."""
    rows = torch.linspace(0, len(seen.split.forget) - 1, min(IMAGES, len(seen.split.forget))).long()
    some = seen.split.forget.select(rows)
    pixels, (x, y) = some.read(torch.arange(len(some))), engine.move(*next(iter(Batches(some, len(some)))))
    layers = {role: last_convolution(model, x) for role, model in models.items()}
    maps = {
        role: grad_cam(model, layers[role][1], x, y) for role, model in models.items() if layers[role][1] is not None
    }
    said = {role: seen.observations[role].predictions["forget"].classes[rows] for role in models}
    images = tuple(
        AttentionImage(
            data_uri(pixels[i], SIDE),
            {role: heat_uri(pixels[i], found[i], SIDE) for role, found in maps.items()},
            {role: names[int(classes[i])] for role, classes in said.items()},
        )
        for i in range(len(rows))
    )
    return Attention({role: name for role, (name, _) in layers.items()}, images)


@torch.no_grad()
def last_convolution(model: nn.Module, x: Tensor) -> tuple[str, nn.Module | None]:
    """Return the last convolution whose output for `x` is still a map, larger than 1 × 1."""
    called: list[tuple[str, nn.Module]] = []
    hooks = [
        module.register_forward_hook(
            lambda m, _, output, n=name: called.append((n, m)) if output[0, 0].numel() > 1 else None
        )
        for name, module in model.named_modules()
        if isinstance(module, nn.Conv2d)
    ]
    try:
        model.eval()(x[:1])
    finally:
        for hook in hooks:
            hook.remove()
    return called[-1] if called else ("", None)


def grad_cam(model: nn.Module, layer: nn.Module | None, x: Tensor, y: Tensor) -> Tensor:
    """max(0, Σ_c ᾱ_c A_c) of each image, ᾱ the mean gradient of the class's logit, scaled to [0, 1]."""
    from captum.attr import LayerGradCam  # takes a second to import

    heat: Tensor = LayerGradCam(model.eval(), layer).attribute(x, target=y, relu_attributions=True)
    heat = heat.detach().mean(dim=1)
    return heat / heat.flatten(1).max(dim=1).values.clamp_min(1e-12)[:, None, None]
