"""Fetching a data set from its own site: resumed where it broke off, checked, and moved into place when complete."""

import hashlib
from collections.abc import Iterator
from http.client import HTTPException, HTTPResponse
from pathlib import Path
from urllib.error import HTTPError
from urllib.request import Request, urlopen

from unclass.errors import InputError
from unclass.progress import Tracker, silent
from unclass.storage import require_space

CHUNK = 1 << 20
RANGE_NOT_SATISFIABLE = 416


def download(url: str, path: Path, md5: str, progress: Tracker = silent) -> Path:
    """Fetch `url` into `path`. What an interrupted attempt left in `path`.part is kept and continued."""
    part = path.with_name(path.name + ".part")
    part.parent.mkdir(parents=True, exist_ok=True)
    _fetch(url, part, progress)
    with part.open("rb") as file:
        found = hashlib.file_digest(file, "md5").hexdigest()
    if found != md5:
        part.unlink()
        raise InputError(f"{url} gave a file with MD5 {found}, not {md5}; try again, or give a good copy with `root`")
    return part.replace(path)


def _fetch(url: str, part: Path, progress: Tracker) -> None:
    """Append to `part` what is missing of `url`."""
    have = part.stat().st_size if part.exists() else 0
    request = Request(url, headers={"Range": f"bytes={have}-"} if have else {})
    response = _open(request, have)
    if response is None:
        return
    with response:
        have = have if response.status == 206 else 0
        size = have + int(response.headers.get("Content-Length", 0))
        require_space(part, size - have)
        chunks = progress(_chunks(response, url), f"downloading {part.stem} (MB)", -(-size // CHUNK), have // CHUNK)
        with part.open("ab" if have else "wb") as file:
            for chunk in chunks:
                file.write(chunk)
    if (got := part.stat().st_size) < size:
        raise InputError(f"{url} broke off after {got:,} of {size:,} bytes; run the same command again to continue")


def _open(request: Request, have: int) -> HTTPResponse | None:
    """Return the answer to `request`, or None if there is nothing beyond the bytes we have."""
    try:
        response: HTTPResponse = urlopen(request, timeout=30)
    except HTTPError as error:
        if have and error.code == RANGE_NOT_SATISFIABLE:
            return None
        raise unreachable(request.full_url, f"{error.code} {error.reason}") from error
    except (OSError, HTTPException) as error:
        raise unreachable(request.full_url, getattr(error, "reason", error)) from error
    return response


def _chunks(response: HTTPResponse, url: str) -> Iterator[bytes]:
    while True:
        try:
            chunk = response.read(CHUNK)
        except (OSError, HTTPException) as error:
            raise InputError(f"{url} broke off ({error}); run the same command again to continue") from error
        if not chunk:
            return
        yield chunk


def unreachable(url: str, reason: object) -> InputError:
    """Return the error for a site that cannot be reached."""
    return InputError(f"cannot download {url} ({reason}); fetch it on another machine and give its folder with `root`")
