"""Writing files so that a command leaves the old ones or the new ones, never a mixture or half of one."""

from unclass.storage.cache import cache_folder
from unclass.storage.files import outlives, sha256, write_atomically, write_json, write_text
from unclass.storage.journal import settle
from unclass.storage.lock import Held, Lock
from unclass.storage.output import Output
from unclass.storage.own_digest import Changed, check_own_digest, is_as_written, json_digest, with_digest
from unclass.storage.reading import (
    is_there,
    parse_json,
    read_json,
    read_text,
    read_toml,
    real_path,
    require_plain,
    user_path,
)
from unclass.storage.space import existing, no_space, require_space
from unclass.storage.targets import check_folder, check_target, require_absent

__all__ = [
    "Changed",
    "Held",
    "Lock",
    "Output",
    "cache_folder",
    "check_folder",
    "check_own_digest",
    "check_target",
    "existing",
    "is_as_written",
    "is_there",
    "json_digest",
    "no_space",
    "outlives",
    "parse_json",
    "read_json",
    "read_text",
    "read_toml",
    "real_path",
    "require_absent",
    "require_plain",
    "require_space",
    "settle",
    "sha256",
    "user_path",
    "with_digest",
    "write_atomically",
    "write_json",
    "write_text",
]
