"""TLS contexts from Kafka's ssl.* keys.

Owns which keys are carried out and which are refused: a key that would mean less security if it
were passed over is never passed over. Java's names of cipher suites are turned into OpenSSL's.
"""

from __future__ import annotations

import os
import re
import ssl
import tempfile
from collections.abc import Mapping

from kraftool.net.errors import KeystoreError
from kraftool.net.stores import (
    CertificateValidity,
    KeyAndChain,
    StoreContent,
    identity_of,
    open_store,
    pem_certificates,
    pem_store,
    trust_of,
    validity_of,
)

_VERSIONS = {"TLSv1.2": ssl.TLSVersion.TLSv1_2, "TLSv1.3": ssl.TLSVersion.TLSv1_3}
_REFUSED = (
    "ssl.engine.factory.class",
    "ssl.provider",
    "security.providers",
)
"""Java classes, which cannot be run here."""
_PLAIN_ALGORITHMS = {
    "ssl.keymanager.algorithm": ("SUNX509", "PKIX"),
    "ssl.trustmanager.algorithm": ("PKIX", "SUNX509"),
}
_CLIENT_AUTH = {
    "none": ssl.CERT_NONE,
    "requested": ssl.CERT_OPTIONAL,
    "required": ssl.CERT_REQUIRED,
}

Settings = Mapping[str, str]


def client_context(settings: Settings) -> ssl.SSLContext:
    """Return how to meet a server: its certificate and name are checked unless the name is told not
    to.
    """
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
    algorithm = settings.get("ssl.endpoint.identification.algorithm", "https").strip()
    if algorithm.lower() not in ("", "https"):
        raise KeystoreError(f"ssl.endpoint.identification.algorithm {algorithm} is not supported")
    context.check_hostname = bool(algorithm)
    _common(context, settings)
    _trust(context, settings)
    identity = _identity(settings)
    if identity is not None:
        _present(context, identity)
    return context


def server_context(settings: Settings) -> ssl.SSLContext:
    """Return how to be met by clients."""
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    asked = settings.get("ssl.client.auth", "none").strip().lower()
    if asked not in _CLIENT_AUTH:
        raise KeystoreError(f"ssl.client.auth {asked!r} is not one of {', '.join(_CLIENT_AUTH)}")
    _common(context, settings)
    context.verify_mode = _CLIENT_AUTH[asked]
    if context.verify_mode is not ssl.CERT_NONE:
        _trust(context, settings)
    identity = _identity(settings)
    if identity is None:
        raise KeystoreError(
            "a listener with TLS has no key", hint="set ssl.keystore.location, or PEM keys"
        )
    _present(context, identity)
    return context


def _common(context: ssl.SSLContext, settings: Settings) -> None:
    for key in _REFUSED:
        if settings.get(key, "").strip():
            raise KeystoreError(f"{key} names Java classes, which are not supported")
    for key, known in _PLAIN_ALGORITHMS.items():
        if settings.get(key, known[0]).strip().upper() not in known:
            raise KeystoreError(f"{key} {settings[key]} is not supported")
    named = settings.get("ssl.enabled.protocols", "TLSv1.2,TLSv1.3")
    wanted = [part.strip() for part in named.split(",") if part.strip()]
    versions = [_VERSIONS[protocol] for protocol in wanted if protocol in _VERSIONS]
    if not versions:
        raise KeystoreError(
            f"ssl.enabled.protocols {named}: only TLSv1.2 and TLSv1.3 are supported"
        )
    context.minimum_version, context.maximum_version = min(versions), max(versions)
    # Java takes any certificate of a truststore for an anchor, also one that is not self-signed.
    context.verify_flags |= ssl.VERIFY_X509_PARTIAL_CHAIN
    context.options |= ssl.OP_NO_COMPRESSION | ssl.OP_NO_RENEGOTIATION
    suites = [part.strip() for part in settings.get("ssl.cipher.suites", "").split(",")]
    _limit_ciphers(context, [suite for suite in suites if suite])


def _limit_ciphers(context: ssl.SSLContext, suites: list[str]) -> None:
    """Only these. Those of TLS 1.3 cannot be chosen one by one here."""
    if not suites:
        return
    older = [suite for suite in suites if "_WITH_" in suite]
    newer = {cipher["name"] for cipher in context.get_ciphers() if cipher["protocol"] == "TLSv1.3"}
    if context.maximum_version is ssl.TLSVersion.TLSv1_3 and not newer <= set(suites):
        if set(suites) & newer:
            raise KeystoreError(
                "ssl.cipher.suites leaves out some suites of TLSv1.3, which is not possible here",
                hint=f"name all of {', '.join(sorted(newer))}, or none",
            )
        if context.minimum_version is ssl.TLSVersion.TLSv1_3:
            raise KeystoreError("ssl.cipher.suites leaves no suite of TLSv1.3")
        context.maximum_version = ssl.TLSVersion.TLSv1_2
    if not older:
        context.minimum_version = ssl.TLSVersion.TLSv1_3
        return
    try:
        context.set_ciphers(":".join(openssl_name(suite) for suite in older))
    except ssl.SSLError:
        raise KeystoreError(
            f"ssl.cipher.suites {', '.join(older)}: none of them is known"
        ) from None


def openssl_name(suite: str) -> str:
    """TLS_ECDHE_RSA_WITH_AES_256_GCM_SHA384 is ECDHE-RSA-AES256-GCM-SHA384 there."""
    exchange, _, cipher = suite.removeprefix("TLS_").partition("_WITH_")
    cipher = re.sub(r"AES_(128|256)_(CBC_)?", r"AES\1_", cipher)
    cipher = cipher.removesuffix("_SHA256") if cipher.startswith("CHACHA20") else cipher
    parts = [cipher] if exchange == "RSA" else [exchange, cipher]
    return "-".join(parts).replace("_", "-")


def _password(settings: Settings, key: str) -> str | None:
    return settings.get(key) or None


def _trust(context: ssl.SSLContext, settings: Settings) -> None:
    """Load the certificates to trust: the truststore, else the machine's own list, as Java does."""
    path = settings.get("ssl.truststore.location", "").strip()
    kind = settings.get("ssl.truststore.type", "JKS").strip()
    inline = settings.get("ssl.truststore.certificates", "").strip()
    if inline:
        if kind.upper() != "PEM":
            raise KeystoreError("ssl.truststore.certificates is for ssl.truststore.type=PEM")
        certificates = pem_certificates(inline.encode())
    elif path:
        password = _password(settings, "ssl.truststore.password")
        certificates = open_store(path, kind, password).trusted
    else:
        context.load_default_certs()
        return
    if not certificates:
        raise KeystoreError(f"{path or 'ssl.truststore.certificates'} has no certificate")
    context.load_verify_locations(cadata=trust_of(certificates))


def _identity(settings: Settings) -> KeyAndChain | None:
    own = _own_store(settings)
    return None if own is None else identity_of(*own)


def own_validity(settings: Settings) -> CertificateValidity | None:
    """Return how long the certificates that these keys present are valid; None if there are none.

    Raises KeystoreError as the contexts do.
    """
    own = _own_store(settings)
    return None if own is None else validity_of(*own)


def _own_store(settings: Settings) -> tuple[StoreContent, str] | None:
    """The store of one's own key, and its name."""
    path = settings.get("ssl.keystore.location", "").strip()
    kind = settings.get("ssl.keystore.type", "JKS").strip()
    key, chain = settings.get("ssl.keystore.key"), settings.get("ssl.keystore.certificate.chain")
    key_password = _password(settings, "ssl.key.password")
    if key:
        if kind.upper() != "PEM" or not chain:
            raise KeystoreError(
                "ssl.keystore.key needs ssl.keystore.certificate.chain and ssl.keystore.type=PEM"
            )
        return pem_store(f"{key}\n{chain}".encode(), key_password), "ssl.keystore.key"
    if not path:
        return None
    password = _password(settings, "ssl.keystore.password")
    return open_store(path, kind, password, key_password), path


def _present(context: ssl.SSLContext, identity: KeyAndChain) -> None:
    """OpenSSL takes a key from a file only: it lies there sealed, for a moment, for nobody else."""
    with tempfile.TemporaryDirectory(prefix="kraftool-") as folder:
        path = os.path.join(folder, "key.pem")
        with open(os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600), "wb") as file:
            file.write(identity.key + identity.chain)
        try:
            context.load_cert_chain(path, password=identity.passphrase)
        except ssl.SSLError as error:
            reason = (error.reason or str(error)).lower().replace("_", " ")
            raise KeystoreError(f"the private key does not fit its certificate: {reason}") from None
