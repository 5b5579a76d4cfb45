"""Files encrypted with age: to the owners of public keys, by the library pyrage.

Owns how recipients and identities are written. The form is that of the tool `age`, which decrypts
such a file without kraftool. pyrage is imported when the first file is encrypted or decrypted.
"""

from __future__ import annotations

import os
from collections.abc import Sequence
from importlib import import_module
from typing import IO, Any, Protocol

from kraftool.decoders.errors import KraftoolError
from kraftool.installing import install_hint

SUFFIX = ".age"
IDENTITY_VARIABLE = "KRAFTOOL_AGE_IDENTITY"
"""The file with the identity by which encrypted backups are read."""
_MOST_BYTES = 1 << 20
_NO_MATCH = "No matching keys found"
"""The words of pyrage on a file for other keys."""


class Stream(Protocol):
    """A file that is read from its beginning."""

    def read(self, size: int = -1, /) -> bytes: ...


class NoIdentityError(KraftoolError):
    """A file that is encrypted, and no identity that decrypts it was given."""


def encrypt(content: IO[bytes], out: IO[bytes], recipients: Sequence[str]) -> None:
    """Encrypt to every recipient: an age or an ssh public key. Raises KraftoolError."""
    pyrage = _library()
    keys = [_recipient(pyrage, words) for words in recipients]
    try:
        pyrage.encrypt_io(content, out, keys)
    except pyrage.EncryptError as error:
        raise KraftoolError(f"the checkpoint cannot be encrypted: {error}") from None


def check_recipients(recipients: Sequence[str]) -> None:
    """Raise KraftoolError for a recipient that is none, before there is something to encrypt."""
    if recipients:
        pyrage = _library()
        for words in recipients:
            _recipient(pyrage, words)


def decrypt(content: Stream, out: IO[bytes], name: str) -> None:
    """Decrypt with the identity that the environment names. Raises KraftoolError."""
    path = os.environ.get(IDENTITY_VARIABLE, "")
    if not path:
        raise NoIdentityError(
            f"{name} is encrypted, and no identity to decrypt it is known",
            hint=f"set {IDENTITY_VARIABLE} to the file of an age identity or of an ssh key",
        )
    pyrage = _library()
    identities = _identities(pyrage, path)
    try:
        pyrage.decrypt_io(content, out, identities)
    except pyrage.DecryptError as error:
        if str(error) == _NO_MATCH:
            raise NoIdentityError(
                f"{name} is encrypted to other keys than that of {path}",
                hint=f"set {IDENTITY_VARIABLE} to the file of the right identity",
            ) from None
        raise _damaged(name, error) from None
    except OSError as error:
        if error.errno is not None:  # nothing of age's
            raise
        raise _damaged(name, error) from None


def _damaged(name: str, error: Exception) -> KraftoolError:
    return KraftoolError(f"{name} is damaged: {error}", hint="use another backup")


def _library() -> Any:
    try:
        return import_module("pyrage")
    except ImportError:
        raise KraftoolError(
            "encryption needs pyrage, which is not installed", hint=install_hint("backup")
        ) from None


def _recipient(pyrage: Any, words: str) -> Any:
    kind = pyrage.ssh if words.startswith("ssh-") else pyrage.x25519
    try:
        return kind.Recipient.from_str(words)
    except pyrage.RecipientError:
        raise KraftoolError(
            f"{words!r} is no public key of age or ssh",
            hint="age-keygen -y FILE prints the public key of an identity",
        ) from None


def _identities(pyrage: Any, path: str) -> list[Any]:
    try:
        with open(path, "rb") as file:
            data = file.read(_MOST_BYTES)
    except OSError as error:
        raise KraftoolError(f"{IDENTITY_VARIABLE} {path}: {error.strerror or error}") from None
    lines = [line.strip() for line in data.decode("latin-1").splitlines()]
    try:
        if not data.startswith(b"-----BEGIN"):
            keys = [line for line in lines if line and not line.startswith("#")]
            return [pyrage.x25519.Identity.from_str(key) for key in keys]
        return [pyrage.ssh.Identity.from_buffer(data)]
    except pyrage.IdentityError:
        raise KraftoolError(
            f"{path} has no identity of age or ssh that is usable without a passphrase"
        ) from None
