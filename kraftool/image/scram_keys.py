"""The keys that a server keeps of a SCRAM password (RFC 5802), and Kafka's limits of iterations.

Owns the way from a password that was salted to the two keys of a credential. A server that has them
can check a client's proof, and cannot log in as the user.
"""

from __future__ import annotations

import hashlib
import hmac
from typing import NamedTuple

DIGESTS = {"SCRAM-SHA-256": "sha256", "SCRAM-SHA-512": "sha512"}
ITERATIONS = range(4096, 16384 + 1)
"""Kafka accepts a credential with so many, of either mechanism."""


class ScramKeys(NamedTuple):
    """The two keys of a credential."""

    stored_key: bytes
    server_key: bytes


def keys_of(mechanism: str, salted_password: bytes) -> ScramKeys:
    """Return the keys of a salted password."""
    digest = DIGESTS[mechanism]
    client_key = hmac.digest(salted_password, b"Client Key", digest)
    return ScramKeys(
        stored_key=hashlib.new(digest, client_key).digest(),
        server_key=hmac.digest(salted_password, b"Server Key", digest),
    )
