"""Java's own keystore format, as JDK 8 and older tools wrote it.

Owns the file's form, its digest, and the protection of its keys, which are Sun's own. It refuses
JCEKS, and to write anything.
"""

from __future__ import annotations

import hashlib
import hmac
from dataclasses import dataclass

from kraftool.net.errors import KeystoreError

MAGIC = b"\xfe\xed\xfe\xed"
_SALT = b"Mighty Aphrodite"
_KEY, _TRUSTED = 1, 2
_SUN_PROTECTION = bytes.fromhex("060a2b060104012a02110101")
"""The DER of 1.3.6.1.4.1.42.2.17.1.1."""


@dataclass(frozen=True, slots=True, kw_only=True)
class JksKey:
    """A private key that is still protected, with its certificates, its own first."""

    protected: bytes
    chain: tuple[bytes, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Jks:
    """The content of a keystore; certificates in DER."""

    keys: tuple[JksKey, ...]
    trusted: tuple[bytes, ...]


class _Reader:
    def __init__(self, data: bytes) -> None:
        self._data, self._at = data, 0

    def take(self, size: int) -> bytes:
        chunk = self._data[self._at : self._at + size]
        if len(chunk) < size:
            raise KeystoreError("a JKS keystore that is cut short")
        self._at += size
        return chunk

    def number(self) -> int:
        return int.from_bytes(self.take(4), "big")

    def text(self) -> str:
        size = int.from_bytes(self.take(2), "big")
        return self.take(size).decode("utf-8", "replace")


def read(data: bytes, password: str | None) -> Jks:
    """Read a keystore. Without a password its digest is not checked, as in Java."""
    if password is not None:
        signed = password.encode("utf-16-be") + _SALT + data[:-20]
        if not hmac.compare_digest(_sha1(signed), data[-20:]):
            raise KeystoreError("the password is wrong, or the keystore is damaged")
    reader = _Reader(data[:-20])
    reader.take(4)
    version = reader.number()
    if version not in (1, 2):
        raise KeystoreError(f"a JKS keystore of version {version}")
    keys, trusted = [], []
    for _ in range(reader.number()):
        tag = reader.number()
        reader.text()  # its alias
        reader.take(8)  # when it was made
        if tag == _KEY:
            protected = reader.take(reader.number())
            chain = tuple(_certificate(reader, version) for _ in range(reader.number()))
            keys.append(JksKey(protected=protected, chain=chain))
        elif tag == _TRUSTED:
            trusted.append(_certificate(reader, version))
        else:
            raise KeystoreError(f"a JKS entry of kind {tag}")
    return Jks(keys=tuple(keys), trusted=tuple(trusted))


def _certificate(reader: _Reader, version: int) -> bytes:
    kind = reader.text() if version == 2 else "X.509"
    if kind not in ("X.509", "X509"):
        raise KeystoreError(f"a certificate of the kind {kind}")
    return reader.take(reader.number())


def unprotect(protected: bytes, password: str) -> bytes:
    """The private key in PKCS #8 (DER). The stream cipher is Sun's: SHA-1 chained from a salt."""
    start = protected.find(_SUN_PROTECTION)
    if not 0 <= start < 32:
        raise KeystoreError("a key that is not protected as JKS does")
    sealed = _octets(protected, start + len(_SUN_PROTECTION))
    salt, sealed, check = sealed[:20], sealed[20:-20], sealed[-20:]
    secret = password.encode("utf-16-be")
    plain, block = bytearray(), salt
    for at in range(0, len(sealed), 20):
        block = _sha1(secret + block)
        plain += bytes(a ^ b for a, b in zip(sealed[at : at + 20], block, strict=False))
    if not hmac.compare_digest(_sha1(secret + plain), check):
        raise KeystoreError("the key's password is wrong")
    return bytes(plain)


def _sha1(data: bytes) -> bytes:
    """Return what the format is made of; nothing else here relies on it."""
    return hashlib.sha1(data, usedforsecurity=False).digest()


def _octets(data: bytes, at: int) -> bytes:
    """The OCTET STRING after an algorithm, whose parameters are NULL or left out."""
    if data[at : at + 2] == b"\x05\x00":
        at += 2
    if data[at : at + 1] != b"\x04":
        raise KeystoreError("a key that is not protected as JKS does")
    size, at = data[at + 1], at + 2
    if size & 0x80:
        count = size & 0x7F
        size, at = int.from_bytes(data[at : at + count], "big"), at + count
    octets = data[at : at + size]
    if len(octets) < size or size < 40:
        raise KeystoreError("a key that is cut short")
    return octets
