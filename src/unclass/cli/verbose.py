"""What `-v` says before anything else: on what a command runs, and where it keeps things."""

import logging
import platform

import torch

import unclass
from unclass.cli.console import set_loudness
from unclass.storage import cache_folder

_log = logging.getLogger(__name__)


def tell_place() -> None:
    """Log versions, processors and folders."""
    set_loudness(quiet=False, verbose=True)
    versions = f"unclass {unclass.__version__}, torch {torch.__version__}, Python {platform.python_version()}"
    accelerators = f"{torch.cuda.device_count()} CUDA devices" if torch.cuda.is_available() else "no accelerator"
    _log.info("%s on %s; threads: %d, %s", versions, platform.machine(), torch.get_num_threads(), accelerators)
    _log.info("data sets and error logs are kept in %s", cache_folder())
