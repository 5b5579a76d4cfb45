"""A hash of the state, so that two nodes' images of one offset can be compared by a line of text.

Owns its form. The order in which records were written does not matter, nor do versions: every
record is hashed as the newest Kafka would write it, and the hashes are added up. Provenance is not
part of it.
"""

from __future__ import annotations

from collections.abc import Sequence
from hashlib import sha256

from kraftool.decoders.framing import encode_record
from kraftool.image.image import MetadataImage
from kraftool.image.metadata_version import LATEST_LEVEL, METADATA_VERSION
from kraftool.image.writer import snapshot_records

_BITS = 256


def state_hash(image: MetadataImage) -> str:
    """64 hex digits; equal for equal states."""
    total = 0
    level = image.features.metadata_version

    def add(records: Sequence[bytes]) -> None:
        nonlocal total
        from_bytes = int.from_bytes
        total += sum([from_bytes(sha256(record).digest(), "big") for record in records])

    for name, version, value in snapshot_records(image, LATEST_LEVEL, take_framed=add):
        if name == "FeatureLevelRecord" and value["name"] == METADATA_VERSION:
            value = {**value, "featureLevel": level or 0}
        add((encode_record(name, version, value),))
    return f"{total % (1 << _BITS):0{_BITS // 4}x}"
