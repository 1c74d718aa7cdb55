"""Keys as PEM files: Ed25519 or EC P-256, made and read by `cryptography`."""

import hashlib
import os
from pathlib import Path
from typing import Any

from unclass.errors import InputError, unknown
from unclass.extras import library
from unclass.storage import check_target, require_plain

EXTRA = "evidence"
KINDS = ("ec-p256", "ed25519")
MOST_BYTES = 1 << 20
VARIABLE, PASSWORD = "UNCLASS_SIGNING_KEY", "UNCLASS_KEY_PASSWORD"


def new_key(path: Path, kind: str = "ec-p256", password: str | None = None) -> tuple[Path, Path]:
    """Write a new private key, readable by its owner alone, and the public one beside it. None is ever replaced."""
    primitives = library("cryptography.hazmat.primitives.serialization", EXTRA)
    if kind not in KINDS:
        raise unknown("kind of key", kind, KINDS)
    key = _generate(kind)
    hidden = primitives.BestAvailableEncryption(password.encode()) if password else primitives.NoEncryption()
    private = key.private_bytes(primitives.Encoding.PEM, primitives.PrivateFormat.PKCS8, hidden)
    check_target(path, folder=False)
    public = path.with_suffix(".pub")
    if public == path:
        raise InputError(f"{path} is where the public key goes; end the private key's name in .pem")
    for one in (path, public):
        if one.exists():
            raise InputError(f"{one} exists already, and a key is never replaced; choose another name")
    path.parent.mkdir(parents=True, exist_ok=True)
    with os.fdopen(os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600), "wb") as file:
        file.write(private)
    public.write_bytes(public_pem(key.public_key()))
    return path, public


def private_key(path: Path) -> Any:
    """Return the private key in a file."""
    primitives = library("cryptography.hazmat.primitives.serialization", EXTRA)
    password = os.environ.get(PASSWORD)
    try:
        return _supported(primitives.load_pem_private_key(_read(path), password.encode() if password else None))
    except (OSError, ValueError, TypeError, _unsupported()) as error:
        if isinstance(error, InputError):
            raise
        hint = f"set {PASSWORD} if it has a password, or make one with: unclass keys new"
        raise InputError(f"{path} is no private key that can be read ({error}); {hint}") from error


def public_key(path: Path) -> Any:
    """Return the public key in a file."""
    return public_key_from(_read(path), str(path))


def public_key_from(pem: bytes, where: str) -> Any:
    """Return the public key that PEM text holds."""
    primitives = library("cryptography.hazmat.primitives.serialization", EXTRA)
    try:
        return _supported(primitives.load_pem_public_key(pem))
    except (ValueError, _unsupported()) as error:
        if isinstance(error, InputError):
            raise
        raise InputError(f"{where} is no public key ({error}); give the .pub file of unclass keys new") from error


def public_pem(key: Any) -> bytes:
    """Return a public key as PEM text."""
    primitives = library("cryptography.hazmat.primitives.serialization", EXTRA)
    pem: bytes = key.public_bytes(primitives.Encoding.PEM, primitives.PublicFormat.SubjectPublicKeyInfo)
    return pem


def fingerprint(key: Any) -> str:
    """Return the SHA-256 of a public key, by which people compare it."""
    primitives = library("cryptography.hazmat.primitives.serialization", EXTRA)
    der = key.public_bytes(primitives.Encoding.DER, primitives.PublicFormat.SubjectPublicKeyInfo)
    return hashlib.sha256(der).hexdigest()


def kind_of(key: Any) -> str:
    """Return which kind of key it is."""
    return "ec-p256" if hasattr(key, "curve") else "ed25519"


def key_path(given: Path | None) -> Path:
    """Return which private key is meant: the one given, else UNCLASS_SIGNING_KEY."""
    found = key_if_named(given)
    if found is None:
        raise InputError(f"no key to sign with was named; give `signing_key` FILE or set {VARIABLE} (unclass keys new)")
    return found


def key_if_named(given: Path | None) -> Path | None:
    """Return the private key that was given or set; None if neither."""
    named = os.environ.get(VARIABLE)
    return given or (Path(named) if named else None)


def is_exposed(path: Path) -> bool:
    """Whether others than its owner can read a key, where the system tells that."""
    return os.name == "posix" and bool(path.stat().st_mode & 0o077)


def _generate(kind: str) -> Any:
    if kind == "ed25519":
        return library("cryptography.hazmat.primitives.asymmetric.ed25519", EXTRA).Ed25519PrivateKey.generate()
    curves = library("cryptography.hazmat.primitives.asymmetric.ec", EXTRA)
    return curves.generate_private_key(curves.SECP256R1())


def _unsupported() -> type[Exception]:
    """Return the error of a curve that nobody knows, as one changed bit makes it."""
    found: type[Exception] = library("cryptography.exceptions", EXTRA).UnsupportedAlgorithm
    return found


def _supported(key: Any) -> Any:
    curve = getattr(getattr(key, "curve", None), "name", None)
    if curve == "secp256r1" or "Ed25519" in type(key).__name__:
        return key
    raise InputError(f"keys of kind {curve or type(key).__name__} are not used here; choose from: {', '.join(KINDS)}")


def _read(path: Path) -> bytes:
    require_plain(path, MOST_BYTES)
    try:
        return path.read_bytes()
    except OSError as error:
        raise InputError(f"{path} cannot be read ({error.strerror}); give a key of unclass keys new") from error
