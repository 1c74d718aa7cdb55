"""What convolutions put out on the first images of a set, kept while a model looks at it anyway."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager

import torch
import torch.nn.functional as F
from torch import Tensor, nn

LAYERS, LAYER_IMAGES = 10, 400  # half of the images from D_f, half from D_rt
LAYER_SETS = ("forget", "retain_test")


class Layers:
    """Outputs of up to ten convolutions, evenly spaced from first to last, shrunk to 2 × 2 places."""

    def __init__(self, model: nn.Module) -> None:
        found = [(name, module) for name, module in model.named_modules() if isinstance(module, nn.Conv2d)]
        places = torch.linspace(0, len(found) - 1, min(LAYERS, len(found))).round().long().tolist()
        self._modules = dict(found[place] for place in places)
        self._kept: dict[str, list[Tensor]] = {name: [] for name in self._modules}

    @contextmanager
    def watched(self, images: int) -> Iterator[None]:
        """Keep the outputs for the first so many of the images that the model is shown inside."""
        seen: dict[str, list[Tensor]] = {name: [] for name in self._modules}
        hooks = [
            module.register_forward_hook(_keep(seen[name], images)) for name, module in self._modules.items() if images
        ]
        try:
            yield
        finally:
            for hook in hooks:
                hook.remove()
        for name, parts in seen.items():
            if parts:
                self._kept[name].append(torch.cat(parts)[:images])

    def outputs(self) -> dict[str, Tensor]:
        """Return what was kept, by layer."""
        return {name: torch.cat(parts) for name, parts in self._kept.items() if parts}


def _keep(parts: list[Tensor], images: int) -> Callable[[nn.Module, object, Tensor], None]:
    def hook(_: nn.Module, __: object, output: Tensor) -> None:
        if sum(map(len, parts)) < images:
            parts.append(F.adaptive_avg_pool2d(output.float(), 2).flatten(1).cpu())

    return hook
