"""`unclass`, `python -m unclass`, and `torchrun -m unclass` for several processes.

Little is imported before Ctrl-C is looked after: until then it shows Python's own traceback.
"""

import os
import signal
import sys

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import NoReturn

INTERRUPTED = 130


def main() -> "NoReturn":
    """Run a command and leave with its exit code. Ctrl-C is one line from the first moment on, imports included."""
    signal.signal(signal.SIGINT, _leave)
    _open_streams()
    from unclass.cli import run

    signal.signal(signal.SIGINT, signal.default_int_handler)
    code = run(sys.argv[1:])
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # nothing is left to interrupt
    sys.exit(code)


def _open_streams() -> None:
    """Let what would be said to a closed stream go nowhere: the next file to be opened would take its number."""
    for number, name, mode in ((0, "stdin", "r"), (1, "stdout", "w"), (2, "stderr", "w")):
        try:
            os.fstat(number)
        except OSError:
            os.open(os.devnull, os.O_RDWR)  # the lowest number that is free, which is this one
        if getattr(sys, name) is None:
            setattr(sys, name, os.fdopen(number, mode, encoding="utf-8"))


def _leave(*_: object) -> "NoReturn":
    """Leave at once: nothing has begun, and an exception would come out of a half-imported library as another one."""
    os.write(2, b"error: interrupted; run the same command again to go on\n")
    os._exit(INTERRUPTED)


if __name__ == "__main__":
    main()
