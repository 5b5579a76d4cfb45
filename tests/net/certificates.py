"""Certificates for the tests: an authority, and nodes that it vouches for, on disk as PEM."""

from __future__ import annotations

import datetime as dt
import ipaddress
from dataclasses import dataclass
from pathlib import Path

from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.x509.oid import NameOID


@dataclass(frozen=True, slots=True)
class Certified:
    """A key with its certificate."""

    key: ec.EllipticCurvePrivateKey
    certificate: x509.Certificate

    @property
    def pem(self) -> str:
        return self.certificate.public_bytes(serialization.Encoding.PEM).decode()

    @property
    def der(self) -> bytes:
        return self.certificate.public_bytes(serialization.Encoding.DER)

    def key_pem(self, password: str = "") -> str:
        sealed: serialization.KeySerializationEncryption = serialization.NoEncryption()
        if password:
            sealed = serialization.BestAvailableEncryption(password.encode())
        return self.key.private_bytes(
            serialization.Encoding.PEM, serialization.PrivateFormat.PKCS8, sealed
        ).decode()

    def write(self, path: Path, password: str = "") -> Path:
        """Key and certificate in one file, as ssl.keystore.type=PEM takes it."""
        path.write_text(self.key_pem(password) + self.pem)
        return path


def authority(name: str = "Test CA") -> Certified:
    """Someone to be trusted."""
    return _made([(NameOID.COMMON_NAME, name)], None, is_authority=True)


def node(
    by: Certified,
    name: str = "node-1",
    *,
    host: str = "127.0.0.1",
    more: tuple[tuple[x509.ObjectIdentifier, str], ...] = (),
    days: float = 60,
) -> Certified:
    """A node's certificate, for this address, valid for so many days from now."""
    return _made([(NameOID.COMMON_NAME, name), *more], by, host=host, days=days)


def _made(
    names: list[tuple[x509.ObjectIdentifier, str]],
    by: Certified | None,
    *,
    host: str = "",
    is_authority: bool = False,
    days: float = 60,
) -> Certified:
    key = ec.generate_private_key(ec.SECP256R1())
    subject = x509.Name([x509.NameAttribute(oid, value) for oid, value in reversed(names)])
    now = dt.datetime.now(dt.UTC)
    builder = (
        x509.CertificateBuilder()
        .subject_name(subject)
        .issuer_name(subject if by is None else by.certificate.subject)
        .public_key(key.public_key())
        .serial_number(x509.random_serial_number())
        .not_valid_before(now - dt.timedelta(days=90))
        .not_valid_after(now + dt.timedelta(days=days))
        .add_extension(x509.BasicConstraints(is_authority, None), critical=True)
    )
    if host:
        address: x509.GeneralName = x509.DNSName(host)
        if host[0].isdigit():
            address = x509.IPAddress(ipaddress.ip_address(host))
        builder = builder.add_extension(x509.SubjectAlternativeName([address]), critical=False)
    return Certified(key, builder.sign(key if by is None else by.key, hashes.SHA256()))
