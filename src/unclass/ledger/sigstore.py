"""Signing weights with an identity instead of a key, by sigstore: its servers are asked only on request."""

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from unclass.errors import InputError
from unclass.extras import library
from unclass.ledger.envelope import Untrue
from unclass.ledger.keys import EXTRA


@contextmanager
def _asking(what: str, advice: str) -> Iterator[None]:
    """Say in one line what went wrong with the network, an identity or the service."""
    try:
        yield
    except (InputError, Untrue):
        raise
    except Exception as error:  # of requests, tuf, sigstore or an identity provider: each has its own
        reason = " ".join(f"{type(error).__name__}: {error}".split())[:200]
        raise InputError(f"sigstore could not be asked to {what} ({reason}); {advice}") from error


def sigstore_signer() -> Any:
    """Reach sigstore and return what signs there: with the machine's own identity, else after a log-in."""
    signing = library("model_signing.signing", EXTRA)
    with _asking("sign", "leave `sigstore` out, or try again where it can be reached"):
        return signing.Config().use_sigstore_signer(use_ambient_credentials=True)


def sign_by_sigstore(folder: Path, signature: Path) -> None:
    """Sign the weights in a folder with an identity, so that `model_signing verify sigstore` can check them."""
    signer = sigstore_signer()
    with _asking("sign", "leave `sigstore` out, or try again where it can be reached"):
        signer.sign(folder, signature)


def check_by_sigstore(folder: Path, signature: Path, identity: str, provider: str) -> None:
    """Raise `Untrue` unless the weights in a folder are those that this identity signed."""
    verifying = library("model_signing.verifying", EXTRA)
    errors = library("sigstore.errors", EXTRA)
    with _asking("verify", "leave `identity` out, or try again where it can be reached"):
        verifier = verifying.Config().use_sigstore_verifier(identity=identity, oidc_issuer=provider)
        try:
            verifier.verify(folder, signature)
        except (ValueError, KeyError, TypeError, errors.VerificationError) as error:
            raise Untrue(f"does not vouch for the weights ({str(error)[:200]})") from error
