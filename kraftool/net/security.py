"""The security of a connection: what each side of one has to be given.

Owns the values only. `tls.py` makes the contexts, `sasl.py` carries out logins, `settings.py` makes
the values from Kafka's configuration keys.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from typing import TYPE_CHECKING

from kraftool.image.acls import ANONYMOUS
from kraftool.net import scram

if TYPE_CHECKING:
    import ssl


class SecurityProtocol(StrEnum):
    """Kafka's names."""

    PLAINTEXT = "PLAINTEXT"
    SSL = "SSL"
    SASL_PLAINTEXT = "SASL_PLAINTEXT"
    SASL_SSL = "SASL_SSL"

    @property
    def id(self) -> int:
        """Return what registrations say it by."""
        return tuple(SecurityProtocol).index(self)

    @property
    def has_tls(self) -> bool:
        return self in (SecurityProtocol.SSL, SecurityProtocol.SASL_SSL)

    @property
    def has_sasl(self) -> bool:
        return self in (SecurityProtocol.SASL_PLAINTEXT, SecurityProtocol.SASL_SSL)


PLAIN = "PLAIN"
MECHANISMS = (PLAIN, *scram.DIGESTS)
"""The SASL mechanisms that both sides here have."""


@dataclass(frozen=True, slots=True, kw_only=True)
class SaslClient:
    """The user as whom to log in."""

    mechanism: str
    user: str
    password: str = field(repr=False)


@dataclass(frozen=True, slots=True, kw_only=True)
class SaslServer:
    """The users who may log in, by mechanism."""

    plain: Mapping[str, str] | None = field(default=None, repr=False)
    """Passwords by user; None where PLAIN is not enabled."""
    scram: Mapping[str, scram.Lookup] = field(default_factory=dict, repr=False)
    """The enabled mechanisms, each with where its credentials are."""

    @property
    def mechanisms(self) -> tuple[str, ...]:
        return (*([PLAIN] if self.plain is not None else []), *self.scram)


@dataclass(frozen=True, slots=True, kw_only=True)
class ClientSecurity:
    """The security for reaching a listener."""

    tls: ssl.SSLContext | None = None
    sasl: SaslClient | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class ServerSecurity:
    """The security that a listener requires."""

    tls: ssl.SSLContext | None = None
    sasl: SaslServer | None = None
    principal: Callable[[bytes | None], str] = lambda certificate: ANONYMOUS
    """Of the other side's certificate (DER), where that says who it is."""

    @property
    def authenticates(self) -> bool:
        """True if a connection has to pass TLS or SASL before its first request."""
        return self.tls is not None or self.sasl is not None
