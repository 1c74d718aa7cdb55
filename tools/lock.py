"""Print the tested versions with the hashes of the files that pip chooses here, for `pip install --require-hashes`.

Hashes are of one platform's files: make lock, then make install LOCK=requirements.lock. Elsewhere make it again.
"""

import json
import platform
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any


def locked(report: dict[str, Any]) -> Iterator[str]:
    """Return a line for each package of pip's report: its version and the hash of its file."""
    for one in sorted(report["install"], key=lambda one: one["metadata"]["name"].lower()):
        about, archive = one["metadata"], one["download_info"].get("archive_info", {})
        if about["name"] == "unclass":
            continue
        hashes = archive.get("hashes") or dict([archive["hash"].split("=", 1)])
        yield f"{about['name']}=={about['version']} --hash=sha256:{hashes['sha256']}"


def main() -> None:
    """Ask pip what it would install under constraints.txt, or read that from a report, and print it with hashes."""
    if sys.argv[1:]:
        report = Path(sys.argv[1]).read_text(encoding="utf-8")
    else:
        pip = [sys.executable, "-m", "pip", "install", "--dry-run", "--ignore-installed", "--quiet"]
        asked = ["--report", "-", "--constraint", "constraints.txt", ".[dev]"]
        report = subprocess.run([*pip, *asked], check=True, capture_output=True, text=True).stdout
    print(f"# By tools/lock.py for CPython {sys.version_info[0]}.{sys.version_info[1]} on {platform.system()}", end="")
    print(f" {platform.machine()}. Elsewhere, or with another build of torch: make lock")
    print("\n".join(locked(json.loads(report))))


if __name__ == "__main__":
    main()
