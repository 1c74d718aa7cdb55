"""Which numbers to multiply: what torch says that a device can do."""

from functools import cache

import torch

from unclass.errors import InputError

PRECISIONS = {"float32": torch.float32, "bfloat16": torch.bfloat16}
_MACOS_WITH_BFLOAT16 = (14, 0)


def check_device(device: str) -> None:
    """Raise unless torch can compute on a device here."""
    kind, colon, number = device.partition(":")
    there = {"cpu": True, "cuda": torch.cuda.is_available(), "mps": torch.backends.mps.is_available()}
    count = {"cuda": torch.cuda.device_count() if there["cuda"] else 0, "mps": 1}.get(kind, 0)
    if not there.get(kind, False) or (colon and not (number.isdecimal() and len(number) < 4 and int(number) < count)):
        choices = ", ".join(kind for kind, is_there in there.items() if is_there)
        raise InputError(f"device {device!r} is not there; choose from: {choices}")


@cache
def native_bfloat16(device: str) -> bool:
    """Whether a device multiplies bfloat16 faster than 32-bit numbers."""
    kind = device.partition(":")[0]
    if kind == "cuda":
        return bool(torch.cuda.is_bf16_supported(including_emulation=False))
    if kind == "mps":
        return bool(torch.backends.mps.is_macos_or_newer(*_MACOS_WITH_BFLOAT16))
    if hasattr(torch.cpu, "get_capabilities"):
        can = torch.cpu.get_capabilities()
        return any(can.get(name, False) for name in ("avx512_bf16", "amx_bf16", "bf16"))
    return bool(torch.cpu._is_avx512_bf16_supported())  # torch before it named its capabilities
