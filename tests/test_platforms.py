"""The package is imported where Linux is not: no module that only Unix has, nothing read from /proc."""

import subprocess
import sys
from pathlib import Path

import unclass

SOURCE = Path(unclass.__file__).parent

ELSEWHERE = """
import builtins, importlib, io, os, pathlib, sys

for name in ("resource", "fcntl", "pwd", "grp", "termios", "posix_ipc"):
    sys.modules[name] = None  # an import of it fails
del os.sysconf, os.fork, os.mkfifo, os.sched_getaffinity
opened = io.open

def refuse(file, *arguments, **options):
    if str(file).startswith("/proc"):
        raise FileNotFoundError(file)
    return opened(file, *arguments, **options)

builtins.open = io.open = refuse
for name in sys.argv[1:]:
    importlib.import_module(name)
from unclass.records import environment
print(environment().hardware["cores"])
"""


def test_every_module_is_imported_where_only_the_common_part_of_python_is() -> None:
    names = [
        ".".join(("unclass", *path.relative_to(SOURCE).with_suffix("").parts)).removesuffix(".__init__")
        for path in sorted(SOURCE.rglob("*.py"))
        if path.name != "__main__.py"
    ]
    script = ELSEWHERE.replace("for name in (", "import torch, filelock, sklearn, matplotlib, typer\nfor name in (", 1)
    command = [sys.executable, "-c", script, *names]
    done = subprocess.run(command, capture_output=True, text=True, env=None, timeout=120)
    assert done.returncode == 0, done.stderr[-2000:]
