"""Kafka's uuids as base64 text: their order, and the ones that Kafka reserves for directories.

Owns no parsing of records; a uuid's text is what the codec gives.
"""

from __future__ import annotations

from base64 import urlsafe_b64decode
from struct import Struct

_TWO_LONGS = Struct(">qq")

NO_ID = "AAAAAAAAAAAAAAAAAAAAAA"
"""Where a request names no id."""
MIGRATING = NO_ID
UNASSIGNED = "AAAAAAAAAAAAAAAAAAAAAQ"
LOST = "AAAAAAAAAAAAAAAAAAAAAg"


def uuid_order(text: str) -> tuple[int, int]:
    """Sort key of a uuid as Java compares it: two signed halves."""
    high, low = _TWO_LONGS.unpack(urlsafe_b64decode(text + "=="))
    return high, low


def is_reserved_directory(text: str) -> bool:
    """True if no directory may have this id."""
    high, low = uuid_order(text)
    return high == 0 and low < 100
