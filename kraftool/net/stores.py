"""Keys and certificates in the stores that Kafka knows: PEM, PKCS12, JKS.

Owns what of a store counts as one's own key and as trusted. A store's kind is read from its bytes:
Java's JKS reads PKCS12 too. A store of any other kind is refused by name.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from kraftool.net import jks
from kraftool.net.errors import KeystoreError

if TYPE_CHECKING:
    from datetime import datetime

    from cryptography.hazmat.primitives.asymmetric.types import PrivateKeyTypes
    from cryptography.x509 import Certificate

KINDS = ("JKS", "PKCS12", "PEM")
MAX_BYTES = 16 << 20
_CERTIFICATE = re.compile(
    rb"-----BEGIN (?:TRUSTED |X509 )?CERTIFICATE-----.+?-----END[^\n]*-----", re.DOTALL
)
_PRIVATE_KEY = re.compile(
    rb"-----BEGIN [A-Z ]*PRIVATE KEY-----.+?-----END [A-Z ]*PRIVATE KEY-----", re.DOTALL
)


@dataclass(frozen=True, slots=True, kw_only=True)
class KeyAndChain:
    """One's own key, and the certificates that vouch for it, its own first. PEM."""

    key: bytes = field(repr=False)
    """Encrypted with `passphrase`."""
    passphrase: bytes = field(repr=False)
    chain: bytes


@dataclass(frozen=True, slots=True, kw_only=True)
class CertificateValidity:
    """The validity of the node's own certificates: the chain's first end, its last begin."""

    store: str
    """Its path, or the key of the configuration that holds it."""
    subject: str
    """Of the certificate that ends first."""
    begins: datetime
    ends: datetime


@dataclass(frozen=True, slots=True, kw_only=True)
class StoreContent:
    """The content of a store's file."""

    key: PrivateKeyTypes | None = field(default=None, repr=False)
    chain: tuple[Certificate, ...] = ()
    trusted: tuple[Certificate, ...] = ()


def read_file(path: str) -> bytes:
    try:
        with open(path, "rb") as source:
            data = source.read(MAX_BYTES + 1)
    except OSError as error:
        raise KeystoreError(f"{path} cannot be read: {error.strerror or error}") from None
    if len(data) > MAX_BYTES:
        raise KeystoreError(f"{path} is larger than any keystore")
    return data


def open_store(
    path: str, kind: str, password: str | None, key_password: str | None = None
) -> StoreContent:
    """Read a keystore or truststore file."""
    if kind.upper() not in KINDS:
        raise KeystoreError(
            f"{path}: keystores of type {kind} are not supported", hint=f"use {', '.join(KINDS)}"
        )
    data = read_file(path)
    try:
        if kind.upper() == "PEM":
            return pem_store(data, key_password)
        if data.startswith(jks.MAGIC):
            return _jks_store(data, password, key_password)
        return _pkcs12_store(data, password)
    except KeystoreError as error:
        raise KeystoreError(f"{path}: {error.message}", hint=error.hint) from None


def pem_store(data: bytes, key_password: str | None) -> StoreContent:
    """Keys and certificates as text; a lone key is that of the first certificate."""
    key = None
    if match := _PRIVATE_KEY.search(data):
        key = _pem_key(match[0], key_password)
    certificates = pem_certificates(data)
    return StoreContent(
        key=key, chain=certificates if key is not None else (), trusted=certificates
    )


def pem_certificates(data: bytes) -> tuple[Certificate, ...]:
    from cryptography import x509

    try:
        return tuple(x509.load_pem_x509_certificate(pem) for pem in _CERTIFICATE.findall(data))
    except ValueError as error:
        raise KeystoreError(f"a certificate that cannot be read: {error}") from None


def _pem_key(data: bytes, password: str | None) -> PrivateKeyTypes:
    from cryptography.exceptions import UnsupportedAlgorithm
    from cryptography.hazmat.primitives.serialization import load_pem_private_key

    is_sealed = b"ENCRYPTED" in data
    if is_sealed and not password:
        raise KeystoreError("the private key is encrypted", hint="ssl.key.password is missing")
    try:
        return load_pem_private_key(data, password.encode() if is_sealed and password else None)
    except (ValueError, TypeError, UnsupportedAlgorithm):
        raise KeystoreError("the private key cannot be read, or its password is wrong") from None


def _jks_store(data: bytes, password: str | None, key_password: str | None) -> StoreContent:
    from cryptography import x509
    from cryptography.hazmat.primitives.serialization import load_der_private_key

    held = jks.read(data, password)
    key = None
    chain: tuple[Certificate, ...] = ()
    if held.keys:
        first = held.keys[0]
        secret = key_password or password
        if secret is None:
            raise KeystoreError("the keystore has a key, and no password was given")
        key = load_der_private_key(jks.unprotect(first.protected, secret), None)
        chain = tuple(x509.load_der_x509_certificate(der) for der in first.chain)
    trusted = tuple(x509.load_der_x509_certificate(der) for der in held.trusted)
    return StoreContent(key=key, chain=chain, trusted=trusted)


def _pkcs12_store(data: bytes, password: str | None) -> StoreContent:
    from cryptography.exceptions import UnsupportedAlgorithm
    from cryptography.hazmat.primitives.serialization import pkcs12

    secret = None if password is None else password.encode()
    try:
        held = pkcs12.load_pkcs12(data, secret)
    except (ValueError, UnsupportedAlgorithm) as error:
        raise KeystoreError(
            f"no keystore that can be read, or its password is wrong ({error})"
        ) from None
    others = [additional_cert.certificate for additional_cert in held.additional_certs]
    own = [held.cert.certificate] if held.cert is not None else []
    if held.key is None:
        return StoreContent(trusted=(*own, *others))
    return StoreContent(key=held.key, chain=(*own, *_chain(own, others)), trusted=tuple(others))


def _chain(own: Sequence[Certificate], others: Sequence[Certificate]) -> list[Certificate]:
    """The certificates that vouch for one's own, in order: a store has them in any."""
    certificates: list[Certificate] = []
    last = own[0] if own else None
    while last is not None and last.issuer != last.subject:
        last = next((other for other in others if other.subject == last.issuer), None)
        if last is None or last in certificates:
            break
        certificates.append(last)
    return certificates


def validity_of(store: StoreContent, name: str) -> CertificateValidity | None:
    """Return how long the own chain is valid; None for a store without a key."""
    if store.key is None or not store.chain:
        return None
    first = min(store.chain, key=lambda certificate: certificate.not_valid_after_utc)
    return CertificateValidity(
        store=name,
        subject=first.subject.rfc4514_string(),
        begins=max(certificate.not_valid_before_utc for certificate in store.chain),
        ends=first.not_valid_after_utc,
    )


def identity_of(store: StoreContent, name: str) -> KeyAndChain:
    """A store's key with its chain, sealed for the way to OpenSSL."""
    import secrets

    from cryptography.hazmat.primitives import serialization

    if store.key is None or not store.chain:
        raise KeystoreError(f"{name} has no private key with a certificate")
    passphrase = secrets.token_hex(32).encode()
    key = store.key.private_bytes(
        serialization.Encoding.PEM,
        serialization.PrivateFormat.PKCS8,
        serialization.BestAvailableEncryption(passphrase),
    )
    return KeyAndChain(key=key, passphrase=passphrase, chain=_pem(store.chain))


def _pem(certificates: Sequence[Certificate]) -> bytes:
    from cryptography.hazmat.primitives.serialization import Encoding

    return b"".join(certificate.public_bytes(Encoding.PEM) for certificate in certificates)


def trust_of(certificates: Sequence[Certificate]) -> str:
    """Certificates as OpenSSL takes them."""
    return _pem(certificates).decode()
