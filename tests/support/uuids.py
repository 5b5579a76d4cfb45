"""Ids as Kafka writes them."""

from __future__ import annotations

from base64 import urlsafe_b64encode
from random import Random


def uuid(random: Random) -> str:
    """Draw the id of a cluster, a topic or a directory."""
    return urlsafe_b64encode(random.randbytes(16)).decode().rstrip("=")
