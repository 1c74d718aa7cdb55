"""Pictures as PNG data URIs, small enough for a page that needs nothing from outside."""

import base64
import io
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray
from PIL import Image
from torch import Tensor


def data_uri(pixels: Tensor, side: int) -> str:
    """Return pixels (C × H × W) as a PNG about `side` pixels wide."""
    array = as_bytes(pixels).permute(1, 2, 0).cpu().numpy()
    image = Image.fromarray(array[:, :, :3] if array.shape[2] > 2 else array[:, :, 0])
    return _encode(_resized(image, side))


def heat_uri(pixels: Tensor, heat: Tensor, side: int) -> str:
    """Return a picture in grey with a map of [0, 1] values (H × W) laid over it in colour."""
    grey = _resized(Image.fromarray(as_bytes(pixels).float().mean(0).byte().cpu().numpy()), side)
    values = Image.fromarray((255 * heat.clamp(0, 1)).byte().cpu().numpy()).resize(grey.size, Image.Resampling.BICUBIC)
    strength = np.asarray(values, dtype=np.float32)[..., None] / 255
    shades = np.asarray(grey, dtype=np.float32)[..., None].repeat(3, axis=2)
    blended = (0.45 * shades + 0.55 * _colours(strength)).clip(0, 255).astype(np.uint8)
    return _encode(Image.fromarray(blended))


def as_bytes(pixels: Tensor) -> Tensor:
    """Return pixels as bytes: numbers that their owner made of them, normalised or not, are spread from 0 to 255."""
    if not pixels.is_floating_point():
        return pixels.byte()
    low, high = min(0.0, float(pixels.min())), max(1.0, float(pixels.max()))
    return ((pixels.float() - low) / (high - low) * 255).round().byte()


def _colours(strength: NDArray[Any]) -> NDArray[Any]:
    """From near black over blue-green to yellow, evenly in lightness (five stops of Matplotlib's viridis)."""
    stops = torch.tensor([[68, 1, 84], [59, 82, 139], [33, 145, 140], [94, 201, 98], [253, 231, 37]]).float().numpy()
    place = strength[..., 0] * (len(stops) - 1)
    below = np.minimum(place.astype(int), len(stops) - 2)
    part = (place - below)[..., None]
    colours: NDArray[Any] = stops[below] * (1 - part) + stops[below + 1] * part
    return colours


def _resized(image: Image.Image, side: int) -> Image.Image:
    width, height = image.size
    scale = side / max(width, height)
    size = max(1, round(width * scale)), max(1, round(height * scale))
    return image.resize(size, Image.Resampling.NEAREST if scale > 1 else Image.Resampling.BOX)


def _encode(image: Image.Image) -> str:
    buffer = io.BytesIO()
    image.save(buffer, "PNG", optimize=True)
    return "data:image/png;base64," + base64.b64encode(buffer.getvalue()).decode("ascii")
