"""Print the tested versions with the hashes of the files that pip chooses here, for `pip install --require-hashes`.

Hashes are of one platform's files, so the list is made where it is used: make lock, then make install LOCK=…
"""

import json
import subprocess
import sys


def main() -> None:
    """Ask pip what it would install under constraints.txt, and print it with hashes."""
    pip = [sys.executable, "-m", "pip", "install", "--dry-run", "--ignore-installed", "--quiet"]
    asked = ["--report", "-", "--constraint", "constraints.txt", ".[dev]"]
    report = json.loads(subprocess.run([*pip, *asked], check=True, capture_output=True, text=True).stdout)
    for one in sorted(report["install"], key=lambda one: one["metadata"]["name"].lower()):
        about, archive = one["metadata"], one["download_info"].get("archive_info", {})
        if about["name"] == "unclass":
            continue
        hashes = archive.get("hashes") or dict([archive["hash"].split("=", 1)])
        print(f"{about['name']}=={about['version']} --hash=sha256:{hashes['sha256']}")


if __name__ == "__main__":
    main()
