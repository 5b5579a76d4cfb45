"""The image as the records of a snapshot, in Kafka's order and versions.

Owns the order of the aspects: features first, for metadata.version tells how to read the rest.
"""

from __future__ import annotations

from collections.abc import Iterator

from kraftool.image.image import MetadataImage
from kraftool.image.placed import TakeFramed
from kraftool.image.replay import Lost, ReplayError, WrittenRecord


class LossError(ReplayError):
    """State that the records of a metadata.version cannot hold."""


def _refuse(what: str) -> None:
    raise LossError(f"records of this metadata.version cannot hold {what}")


def snapshot_records(
    image: MetadataImage,
    metadata_version: int | None = None,
    lost: Lost = _refuse,
    *,
    take_framed: TakeFramed | None = None,
) -> Iterator[WrittenRecord]:
    """The records of a snapshot as a metadata.version writes them, by default the image's own.

    `lost` is told of what that version cannot hold; by default it raises LossError. `take_framed`
    may get records of partitions as bytes, which are then not among the results.
    """
    level = image.features.metadata_version if metadata_version is None else metadata_version
    if level is None:
        raise LossError("without a metadata.version the versions of the records are unknown")
    yield from image.features.records(level)
    yield from image.cluster.records(level, lost)
    elr_enabled = image.features.is_elr_enabled
    yield from image.topics.records(level, lost, elr_enabled=elr_enabled, take_framed=take_framed)
    yield from image.configs.records()
    yield from image.client_quotas.records()
    yield from image.producer_ids.records()
    yield from image.acls.records()
    yield from image.scram.records(level, lost)
    yield from image.delegation_tokens.records(level, lost)
