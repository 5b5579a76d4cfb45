"""The errors between two nodes, by what the caller can do about them."""

from __future__ import annotations

from enum import Enum, auto

from kraftool.decoders.errors import KraftoolError


class Failure(Enum):
    """The failure, as far as an operator's next step depends on it."""

    OTHER = auto()
    REFUSED = auto()
    """No process listens there."""
    TIMED_OUT = auto()
    NO_ROUTE = auto()
    UNKNOWN_NAME = auto()
    NO_TLS = auto()
    """A plaintext client got no Kafka answer: a TLS listener behaves so."""
    NO_PLAINTEXT = auto()
    """The TLS handshake got no TLS answer: a plaintext listener behaves so."""
    SERVER_CERTIFICATE = auto()
    """No authority that is trusted has signed it, or it is wrong in another way."""
    EXPIRED_CERTIFICATE = auto()
    CERTIFICATE_NAME = auto()
    """It is for another name than the one that was connected to."""
    CLIENT_CERTIFICATE = auto()
    LOGIN = auto()
    NO_LOGIN = auto()
    """The other side closed a connection without a login: a SASL listener behaves so."""
    CLOSED = auto()


class NetError(KraftoolError):
    """A connection, or a request on one, that came to nothing."""

    def __init__(self, message: str, *, hint: str = "", failure: Failure = Failure.OTHER) -> None:
        super().__init__(message, hint=hint)
        self.failure = failure


class ConnectError(NetError):
    """Nobody was reached: no such name, refused, no route, no handshake, or too late."""


class AuthenticationError(NetError):
    """The other side was reached, and one of the two did not accept the other."""


class DisconnectedError(NetError):
    """The connection ended before the answer; whether the request was done is not known."""


class RequestTimeoutError(NetError):
    """The answer did not come in time; whether the request was done is not known."""


class UnsupportedError(NetError):
    """The other side does not have the api, or none of the versions that were asked for."""


class ProtocolViolation(NetError):
    """An error: what arrived is not Kafka's protocol, or does not answer the request."""


class KeystoreError(KraftoolError):
    """A keystore, truststore or PEM file that cannot be used."""
