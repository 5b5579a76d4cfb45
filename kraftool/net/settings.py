"""Security from Kafka's configuration keys, for clients, for listeners, and between nodes.

Owns which key counts where: `listener.name.X.` before what is said for all, a mechanism's own key
before that. What is not supported is refused by its name; nothing that would make a connection less
secure is passed over.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import contextmanager

from kraftool.decoders import properties
from kraftool.net import jaas, scram, tls
from kraftool.net.errors import KeystoreError
from kraftool.net.principals import mapping
from kraftool.net.providers import SettingsError, expand
from kraftool.net.security import (
    MECHANISMS,
    PLAIN,
    ClientSecurity,
    SaslClient,
    SaslServer,
    SecurityProtocol,
    ServerSecurity,
)
from kraftool.net.stores import CertificateValidity

__all__ = [
    "SettingsError",
    "client_security",
    "expand",
    "listener_security",
    "own_validity",
    "peer_security",
]

_MODULES = {"PlainLoginModule": (PLAIN,), "ScramLoginModule": tuple(scram.DIGESTS)}
_REFUSED_CLASSES = (
    "principal.builder.class",
    "sasl.client.callback.handler.class",
    "sasl.login.callback.handler.class",
    "sasl.login.class",
    "sasl.server.callback.handler.class",
)
_DEFAULT_BUILDER = "DefaultKafkaPrincipalBuilder"

Settings = Mapping[str, str]


def read_settings(path: str) -> dict[str, str]:
    """The keys of a properties file, with what providers put in place."""
    try:
        with open(path, "rb") as source:
            data = source.read(properties.MAX_BYTES + 1)
    except OSError as error:
        raise SettingsError(f"{path} cannot be read: {error.strerror or error}") from None
    return expand(properties.decode(data)[0].as_dict())


def client_security(settings: Settings) -> ClientSecurity:
    """Of a client's configuration: security.protocol, ssl.*, sasl.*."""
    protocol = _protocol(settings.get("security.protocol", "PLAINTEXT"))
    mechanism = settings.get("sasl.mechanism", "GSSAPI").strip()
    try:
        _refuse_classes(settings)
        return _client(settings, protocol, mechanism)
    except KeystoreError as error:
        raise SettingsError(error.message, hint=error.hint) from None


def listener_security(
    settings: Settings,
    listener: str,
    protocol: SecurityProtocol | str,
    *,
    scram_lookup: scram.Lookup | None = None,
) -> ServerSecurity:
    """Of a node's configuration: how a listener wants to be reached.

    `scram_lookup`: the credentials that the metadata has.
    """
    own, wanted = of_listener(settings, listener), _protocol(protocol)
    with _naming(f"listener {listener}"):
        _refuse_classes(own)
        return ServerSecurity(
            tls=tls.server_context(own) if wanted.has_tls else None,
            sasl=_server(own, scram_lookup) if wanted.has_sasl else None,
            principal=mapping(own.get("ssl.principal.mapping.rules", "DEFAULT")),
        )


def peer_security(
    settings: Settings, listener: str, protocol: SecurityProtocol | str
) -> ClientSecurity:
    """Of a node's configuration: how it reaches the listener of this name on other controllers."""
    own = of_listener(settings, listener)
    mechanism = own.get("sasl.mechanism.controller.protocol", "GSSAPI").strip()
    with _naming(f"listener {listener}"):
        _refuse_classes(own)
        return _client(own, _protocol(protocol), mechanism)


def own_validity(
    settings: Settings, listener: str, protocol: SecurityProtocol | str
) -> CertificateValidity | None:
    """Return how long the certificates that a listener presents are valid; None without TLS."""
    if not _protocol(protocol).has_tls:
        return None
    with _naming(f"listener {listener}"):
        return tls.own_validity(of_listener(settings, listener))


def of_listener(settings: Settings, listener: str) -> dict[str, str]:
    """The keys as they count for a listener."""
    prefix = f"listener.name.{listener.lower()}."
    own = {
        key[len(prefix) :]: value
        for key, value in settings.items()
        if key.lower().startswith(prefix)
    }
    return {**settings, **own}


@contextmanager
def _naming(where: str) -> Iterator[None]:
    """Say where it is that something is wrong, in one kind of error."""
    try:
        yield
    except (KeystoreError, SettingsError) as error:
        raise SettingsError(f"{where}: {error.message}", hint=error.hint) from None


def _protocol(name: SecurityProtocol | str) -> SecurityProtocol:
    try:
        return SecurityProtocol(str(name).strip().upper())
    except ValueError:
        raise SettingsError(
            f"security.protocol {name} is not supported",
            hint=f"use {', '.join(protocol.value for protocol in SecurityProtocol)}",
        ) from None


def _refuse_classes(settings: Settings) -> None:
    for key in _REFUSED_CLASSES:
        value = settings.get(key, "").strip()
        if value and not value.endswith(_DEFAULT_BUILDER):
            raise SettingsError(f"{key} names a Java class, which is not supported: {value}")


def _client(settings: Settings, protocol: SecurityProtocol, mechanism: str) -> ClientSecurity:
    return ClientSecurity(
        tls=tls.client_context(settings) if protocol.has_tls else None,
        sasl=_sasl_client(settings, mechanism) if protocol.has_sasl else None,
    )


def _sasl_client(settings: Settings, mechanism: str) -> SaslClient:
    _refuse_mechanism("sasl.mechanism", mechanism)
    options = _module(settings, mechanism).options
    if "username" not in options or "password" not in options:
        raise SettingsError(f"the JAAS entry of {mechanism} has no username and password")
    if options.get("tokenauth", "").lower() == "true":
        raise SettingsError("logins with delegation tokens (tokenauth) are not supported")
    return SaslClient(mechanism=mechanism, user=options["username"], password=options["password"])


def _server(settings: Settings, scram_lookup: scram.Lookup | None) -> SaslServer:
    named = settings.get("sasl.enabled.mechanisms", "GSSAPI")
    mechanisms = [part.strip() for part in named.split(",") if part.strip()]
    plain = None
    lookups: dict[str, scram.Lookup] = {}
    for mechanism_name in mechanisms:
        _refuse_mechanism("sasl.enabled.mechanisms", mechanism_name)
        if mechanism_name == PLAIN:
            options = _module(settings, mechanism_name).options
            plain = {
                key.removeprefix("user_"): value
                for key, value in options.items()
                if key.startswith("user_")
            }
        else:
            lookups[mechanism_name] = scram_lookup or (lambda mechanism, user: None)
    if not mechanisms:
        raise SettingsError("sasl.enabled.mechanisms is empty")
    return SaslServer(plain=plain, scram=lookups)


def _refuse_mechanism(key: str, mechanism: str) -> None:
    if mechanism not in MECHANISMS:
        raise SettingsError(
            f"{key}: {mechanism} is not supported", hint=f"use {', '.join(MECHANISMS)}"
        )


def _module(settings: Settings, mechanism: str) -> jaas.LoginModule:
    """The mechanism's own entry, else the one for all."""
    own = settings.get(f"{mechanism.lower()}.sasl.jaas.config")
    text = own or settings.get("sasl.jaas.config", "")
    if not text.strip():
        raise SettingsError(
            f"there is no sasl.jaas.config for {mechanism}",
            hint="a JAAS file (java.security.auth.login.config) is not read",
        )
    login_module = jaas.parse(text)
    if mechanism not in _MODULES.get(login_module.name, ()):
        raise SettingsError(
            f"sasl.jaas.config: {login_module.name} is not a login module of {mechanism}"
        )
    return login_module
