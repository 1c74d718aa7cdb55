"""The folder for what can be had again: downloads and logs of errors."""

import os
from pathlib import Path

from unclass.errors import InputError
from unclass.storage.reading import user_path


def cache_folder() -> Path:
    """Return where downloaded data sets and logs are kept: $UNCLASS_CACHE, or ~/.cache/unclass."""
    if given := os.environ.get("UNCLASS_CACHE"):
        return user_path(given)
    try:
        return Path.home() / ".cache" / "unclass"
    except RuntimeError as error:
        raise InputError(
            "the system does not know your home folder; name one for downloads by UNCLASS_CACHE"
        ) from error
