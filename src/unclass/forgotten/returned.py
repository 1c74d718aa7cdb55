"""What to do when a run brings back what was forgotten before."""

from typing import NoReturn

from unclass.errors import InputError
from unclass.training.engine import Engine


def refuse_return(engine: Engine, why: str) -> NoReturn:
    """Raise, and remove the point to resume from: going on from there would bring it back again."""
    if engine.checkpoint is not None:
        engine.checkpoint.unlink(missing_ok=True)
    raise InputError(f"{why}; nothing was written: choose another method or weaker options")
