"""Reading published pickles of arrays without executing them.

A pickle is a program. This reader runs the few instructions that build dicts, lists, numbers, text and NumPy arrays,
and refuses everything else by name.
"""

import pickle
from pathlib import Path
from typing import Any

from unclass.errors import InputError

_ALLOWED = {
    ("numpy.core.multiarray", "_reconstruct"),
    ("numpy._core.multiarray", "_reconstruct"),
    ("numpy.core.multiarray", "scalar"),
    ("numpy._core.multiarray", "scalar"),
    ("numpy.core.numeric", "_frombuffer"),
    ("numpy._core.numeric", "_frombuffer"),
    ("numpy", "ndarray"),
    ("numpy", "dtype"),
    ("_codecs", "encode"),
    ("collections", "OrderedDict"),
}


class _ArraysOnly(pickle.Unpickler):
    def find_class(self, module: str, name: str) -> Any:
        if (module, name) not in _ALLOWED:
            raise pickle.UnpicklingError(f"it would call {module}.{name}")
        return super().find_class(module.replace("numpy.core", "numpy._core"), name)


def read_arrays(path: Path, encoding: str = "latin1") -> Any:
    """Return the dicts, lists and arrays in a pickle; refuse one that would call anything else."""
    try:
        with path.open("rb") as file:
            return _ArraysOnly(file, encoding=encoding).load()
    except FileNotFoundError as error:
        raise InputError(f"there is no file {path}") from error
    except (pickle.UnpicklingError, EOFError, ValueError, ImportError, AttributeError, IndexError) as error:
        raise InputError(
            f"{path} is not opened, since a pickle can execute code and this one is more than arrays ({error}); in a "
            'sandbox you trust, convert it: python -c "import sys, pickle, torch, safetensors.torch as s; '
            "d = pickle.load(open(sys.argv[1], 'rb'), encoding='latin1'); d = d.get('state_dict', d); "
            's.save_file({k: torch.as_tensor(v) for k, v in d.items()}, sys.argv[2])" IN.pkl OUT.safetensors'
        ) from error
