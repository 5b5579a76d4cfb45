"""What can go wrong between two nodes, by what the caller can do about it."""

from __future__ import annotations

from kraftool.decoders.errors import KraftoolError


class NetError(KraftoolError):
    """A connection, or a request on one, that came to nothing."""


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
    """What came is no Kafka, or no answer to what was asked."""


class KeystoreError(KraftoolError):
    """A keystore, truststore or PEM file that cannot be used."""
