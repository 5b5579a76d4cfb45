"""Metadata logs and snapshots of a few records, built for tests of the state."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

from kraftool.decoders.batch import encode_batch
from kraftool.decoders.control import ControlRecordType, encode_key, encode_value
from kraftool.decoders.framing import encode_record
from tests.support.places import PARTITION

Told = tuple[str, int, dict[str, Any]]

BEGIN: Told = ("BeginTransactionRecord", 0, {"name": "work"})
END: Told = ("EndTransactionRecord", 0, {})
NO_OP: Told = ("NoOpRecord", 0, {})


def topic(name: str) -> Told:
    return "TopicRecord", 0, {"name": name, "topicId": topic_id(name)}


def topic_id(name: str) -> str:
    return f"{name:A<21}A"


def level(of: int = 30) -> Told:
    return "FeatureLevelRecord", 0, {"name": "metadata.version", "featureLevel": of}


def config(name: str, key: str, value: str | None, kind: int = 2) -> Told:
    return (
        "ConfigRecord",
        0,
        {"resourceType": kind, "resourceName": name, "name": key, "value": value},
    )


def stamp(epoch: int, offset: int) -> int:
    """The time of a batch: a second an offset."""
    return 1_700_000_000_000 + 1000 * offset + epoch


class Logs:
    """A metadata partition in the making: segments and checkpoints."""

    def __init__(self, directory: Path) -> None:
        self.directory = directory
        self.folder = directory / PARTITION
        self.folder.mkdir(parents=True)
        (directory / "meta.properties").write_text(
            "version=1\nnode.id=1\ncluster.id=xxuyFdGYSvOPfcYJRNjaMA\n"
        )

    @property
    def path(self) -> str:
        return str(self.directory)

    def segment(self, base: int, *batches: Sequence[Told], epoch: int = 1) -> Path:
        """A segment whose batches follow on each other from `base` on."""
        data, offset = b"", base
        for records in batches:
            data += batch(offset, records, epoch=epoch)
            offset += len(records)
        path = self.folder / f"{base:020}.log"
        path.write_bytes(data)
        return path

    def snapshot(self, offset: int, *records: Told, epoch: int = 1, footer: bool = True) -> Path:
        path = self.folder / f"{offset:020}-{epoch:010}.checkpoint"
        path.write_bytes(
            snapshot_bytes(*records, epoch=epoch, timestamp=stamp(epoch, offset - 1), footer=footer)
        )
        return path


def batch(offset: int, records: Sequence[Told], *, epoch: int = 1) -> bytes:
    return encode_batch(
        [(None, encode_record(*record)) for record in records],
        base_offset=offset,
        epoch=epoch,
        timestamp=stamp(epoch, offset),
    )


def snapshot_bytes(*records: Told, epoch: int, timestamp: int, footer: bool = True) -> bytes:
    def control(offset: int, kind: ControlRecordType, value: dict[str, Any]) -> bytes:
        return encode_batch(
            [(encode_key(kind), encode_value(kind, value))],
            base_offset=offset,
            epoch=epoch,
            timestamp=timestamp,
            control=True,
        )

    header = {"version": 0, "lastContainedLogTimestamp": timestamp}
    data = control(0, ControlRecordType.SNAPSHOT_HEADER, header)
    if records:
        data += encode_batch(
            [(None, encode_record(*record)) for record in records],
            base_offset=1,
            epoch=epoch,
            timestamp=timestamp,
        )
    if footer:
        end = {"version": 0}
        data += control(1 + len(records), ControlRecordType.SNAPSHOT_FOOTER, end)
    return data
