"""What is signed: an in-toto statement (v1) in a DSSE envelope, and the weights by OpenSSF Model Signing.

The libraries sign and verify; here is only what they are given. DSSE leaves the envelope's own spelling open (spaces,
unused bits of base64), so that one that is not spelled as it was written counts as changed.
"""

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from unclass.errors import InputError
from unclass.extras import library
from unclass.ledger.keys import EXTRA, kind_of, public_pem

STATEMENT = "https://in-toto.io/Statement/v1"
ERASURE, DESTRUCTION = "urn:unclass:erasure:1", "urn:unclass:destruction:1"
PAYLOAD = "application/vnd.in-toto+json"


class Untrue(ValueError):  # noqa: N818 - reads as what was found
    """What was signed is not what is there."""


def statement(digests: Mapping[str, str], predicate: Mapping[str, Any], kind: str = ERASURE) -> dict[str, Any]:
    """Return the statement that `predicate` holds of the files with these SHA-256 digests."""
    subjects = [{"name": name, "digest": {"sha256": digest}} for name, digest in sorted(digests.items())]
    return {"_type": STATEMENT, "subject": subjects, "predicateType": kind, "predicate": dict(predicate)}


def seal(content: Mapping[str, Any], key: Any) -> bytes:
    """Return a statement in an envelope signed with a private key."""
    dsse = library("securesystemslib.dsse", EXTRA)
    signer = library("securesystemslib.signer", EXTRA)
    payload = json.dumps(content, sort_keys=True, ensure_ascii=False, allow_nan=False).encode()
    envelope = dsse.Envelope(payload, PAYLOAD, {})
    envelope.sign(signer.CryptoSigner(key))
    return _spelled(envelope)


def unseal(text: bytes, key: Any, kind: str = ERASURE) -> dict[str, Any]:
    """Return the statement in an envelope; raise `Untrue` unless it was signed with the private half of this key."""
    dsse = library("securesystemslib.dsse", EXTRA)
    signer = library("securesystemslib.signer", EXTRA)
    errors = library("securesystemslib.exceptions", EXTRA)
    try:
        envelope = dsse.Envelope.from_dict(json.loads(text))
        spelled = _spelled(envelope)
    except (ValueError, KeyError, TypeError, AttributeError, RecursionError, errors.FormatError) as error:
        raise Untrue(f"is no DSSE envelope ({type(error).__name__}: {error})") from error
    if spelled != text:
        raise Untrue("is not spelled as it was written")
    try:
        envelope.verify([signer.SSlibKey.from_crypto(key)], 1)
    except errors.VerificationError as error:
        raise Untrue("is not signed with this key") from error
    try:
        content: dict[str, Any] = json.loads(envelope.payload)
        is_ours = content["_type"] == STATEMENT and content["predicateType"] == kind and bool(content["predicate"])
        is_ours = is_ours and all(isinstance(one["digest"]["sha256"] + one["name"], str) for one in content["subject"])
    except (ValueError, KeyError, TypeError, RecursionError):
        is_ours = False
    if envelope.payload_type != PAYLOAD or not is_ours:
        raise Untrue(f"is signed, but is no statement of the kind {kind}")
    return content


def sign_weights(folder: Path, signature: Path, key_file: Path, password: str | None) -> None:
    """Sign the weights in a folder so that OpenSSF's `model_signing verify key` can check them."""
    signing = library("model_signing.signing", EXTRA)
    # The library hands the password on as it is, and `cryptography` wants bytes.
    secret = password.encode() if password else None
    signing.Config().use_elliptic_key_signer(private_key=key_file, password=secret).sign(folder, signature)


def check_weights(folder: Path, signature: Path, key_file: Path) -> None:
    """Raise `Untrue` unless the weights in a folder are those that were signed."""
    verifying = library("model_signing.verifying", EXTRA)
    cryptography = library("cryptography.exceptions", EXTRA)
    try:
        verifying.Config().use_elliptic_key_verifier(public_key=key_file).verify(folder, signature)
    except (ValueError, KeyError, TypeError, cryptography.InvalidSignature) as error:
        if isinstance(error, InputError):
            raise
        reason = str(error) or "the signature does not fit"
        raise Untrue(f"does not vouch for the weights ({reason[:200]})") from error


def can_sign_weights(key: Any) -> bool:
    """Whether OpenSSF Model Signing takes such a key; Ed25519 is not among its kinds."""
    return kind_of(key) == "ec-p256"


def write_public(key: Any, path: Path) -> Path:
    """Write the public half of a private key."""
    path.write_bytes(public_pem(key.public_key()))
    return path


def _spelled(envelope: Any) -> bytes:
    return (json.dumps(envelope.to_dict(), indent=1, sort_keys=True) + "\n").encode()
