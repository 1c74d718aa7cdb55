"""Reading published pickles of arrays without executing them.

A pickle is a program. This reader runs the few instructions that build dicts, lists, numbers, text and arrays of
numbers, and refuses everything else by name. What a pickle wants from NumPy is done here: NumPy's own functions believe
a pickle about sizes and types, and one that lies makes them read and write where they should not.
"""

import pickle
from collections import OrderedDict
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from unclass.errors import InputError


class _Type:
    """Stands for numpy.dtype: a kind of number and its byte order."""

    def __init__(self, code: str | bytes, *_: Any) -> None:
        self.dtype = np.dtype(_text(code))
        if self.dtype.kind not in "biufc":
            raise pickle.UnpicklingError(f"it holds {self.dtype}, not numbers")

    def __setstate__(self, state: tuple[Any, ...]) -> None:
        self.dtype = self.dtype.newbyteorder(_text(state[1]))  # type: ignore[arg-type]

    def read(self, data: bytes | str) -> NDArray[Any]:
        raw = data.encode("latin1") if isinstance(data, str) else data  # Python 2 wrote bytes as text
        return np.frombuffer(raw, self.dtype).astype(self.dtype.newbyteorder("="))


class _Array(np.ndarray[Any, Any]):
    """An array whose content is still to come."""

    def __setstate__(self, state: Any) -> None:
        _, shape, kind, fortran, data = state
        values = kind.read(data).reshape(shape, order="F" if fortran else "C")
        super().__setstate__((1, values.shape, values.dtype, False, values.tobytes()))  # type: ignore[arg-type]


def _text(value: str | bytes) -> str:
    """Return text from a pickle, which Python 2 may have written as bytes."""
    return value.decode("latin1") if isinstance(value, bytes) else str(value)


def _scalar(kind: _Type, data: bytes | str) -> Any:
    return kind.read(data)[0]


def _from_buffer(data: bytes, kind: _Type, shape: tuple[int, ...], order: Any, axes: Any = None) -> NDArray[Any]:
    values = kind.read(data)
    return values.reshape(shape, order=order) if axes is None else values.reshape(shape).transpose(axes)


_ALLOWED: dict[tuple[str, str], Any] = {
    ("numpy.multiarray", "_reconstruct"): lambda *_: _Array(0),
    ("numpy.multiarray", "scalar"): _scalar,
    ("numpy.numeric", "_frombuffer"): _from_buffer,
    ("numpy", "ndarray"): None,  # only ever named, as what _reconstruct shall make
    ("numpy", "dtype"): _Type,
    ("_codecs", "encode"): lambda text, _: text.encode("latin1"),
    ("__builtin__", "bytes"): lambda: b"",
    ("collections", "OrderedDict"): OrderedDict,
}


class _ArraysOnly(pickle.Unpickler):
    def find_class(self, module: str, name: str) -> Any:
        place = module.replace("numpy._core.", "numpy.").replace("numpy.core.", "numpy."), name
        if place not in _ALLOWED:
            raise pickle.UnpicklingError(f"it would call {module}.{name}")
        return _ALLOWED[place]


CONVERT = (
    'in a sandbox you trust, convert it: python -c "import sys, pickle, torch, safetensors.torch as s; '
    "d = pickle.load(open(sys.argv[1], 'rb'), encoding='latin1'); d = d.get('state_dict', d); "
    's.save_file({k: torch.as_tensor(v) for k, v in d.items()}, sys.argv[2])" IN.pkl OUT.safetensors'
)


def read_arrays(path: Path, encoding: str = "latin1", advice: str = CONVERT) -> Any:
    """Return the dicts, lists and arrays in a pickle; refuse one that would call anything else, and say what to do."""
    if not path.is_file():
        raise InputError(f"there is no file {path}; {advice}")
    try:
        with path.open("rb") as file:
            return _ArraysOnly(file, encoding=encoding).load()
    except Exception as error:  # a damaged pickle can raise anything
        reason = " ".join(str(error).split())
        raise InputError(
            f"{path} is not opened: a pickle can execute code, and this one is damaged or more than arrays ({reason}); "
            f"{advice}"
        ) from error
