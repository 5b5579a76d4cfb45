"""Faults of the log: damage, and histories that part.

Owns the edits. What is written instead of real bytes is as a leader would have written it: lengths
and CRCs are right unless they are the fault.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

from fleets.directory import NodePlan
from fleets.faults import FaultKind, Place, Site, batches
from fleets.history import Batch, Event
from fleets.template import Told
from kraftool.decoders.batch import HEADER_SIZE, RecordBatch, encode_batch
from kraftool.decoders.framing import decode_record, encode_record

_STATE = ("KT-LOG-REPLAY", "KT-SNAP-DIFFERS", "KT-SNAP-LOG-BOUNDARY", "KT-SNAP-MISSING",
          "KT-SNAP-REPLAY", "KT-SIG-OFFLINE", "KT-SIG-MIN-ISR", "KT-SIG-NOT-REGISTERED",
          "KT-SIG-LOST-REPLICAS", "KT-SNAP-SCRAM-LOST")  # fmt: skip
"""What a replay without some of the records may tell."""
_OLD = ("KT-SIG-FORGOTTEN-VOTE", "KT-SIG-LAG")
"""What a directory of another time shows: it gave votes since."""
INDEXES = ("KT-LOG-INDEX-DIFFERS", "KT-DIR-EPOCHS-DIFFER")


def _middle(site: Site) -> tuple[Path, RecordBatch]:
    """A data batch with whole ones before and after it, and in its own segment too."""
    every = [
        (path, batch)
        for path in sorted(site.partition.glob("*.log"))
        for batch in batches(path)[1:-1]
    ]
    inner = [
        located_batch
        for located_batch in every[len(every) // 3 :]
        if not located_batch[1].is_control
    ]
    return site.random.choice(inner)


def _place(site: Site, path: Path, batch: RecordBatch, byte: int | None = None) -> Place:
    return Place(
        file=site.below(path),
        position=batch.position,
        end=batch.position + len(batch.data),
        offset=batch.header.base_offset,
        byte=byte,
    )


def _put(path: Path, position: int, data: bytes) -> None:
    with path.open("r+b") as file:
        file.seek(position)
        file.write(data)


def bit_flip(site: Site) -> Place:
    path, batch = _middle(site)
    position = batch.position + site.random.randrange(HEADER_SIZE, len(batch.data))
    byte = path.read_bytes()[position]
    _put(path, position, bytes([byte ^ 1 << site.random.randrange(8)]))
    return _place(site, path, batch, position)


def zero_range(site: Site) -> Place:
    path, batch = _middle(site)
    _put(path, batch.position, bytes(len(batch.data)))
    return _place(site, path, batch)


def torn_tail(site: Site) -> Place:
    path = max(site.partition.glob("*.log"))
    last = batches(path)[-1]
    size = site.random.randrange(1, len(last.data))
    with path.open("r+b") as file:
        file.truncate(last.position + size)
    return _place(site, path, last)


def diverged_same_epoch(site: Site) -> Place:
    """Some configurations have other values here: other bytes, of the same size."""
    located_batches: list[tuple[Path, RecordBatch]] = []
    for path in sorted(site.partition.glob("*.log")):
        every = batches(path)
        located_batches += [
            (path, record_batch) for record_batch in every if _has_config(record_batch)
        ]
    chosen = site.random.sample(located_batches, min(3, len(located_batches)))
    chosen.sort(key=lambda located_batch: located_batch[1].header.base_offset)
    places = []
    for path, batch in chosen:
        _put(path, batch.position, _with_other_config(batch))
        places.append((site.below(path), batch.position, batch.header.base_offset))
    (file, position, offset), *rest = places
    return Place(file=file, position=position, offset=offset, also=tuple(rest))


def _has_config(batch: RecordBatch) -> bool:
    return not batch.is_control and any(
        _is_changeable(*decode_record(record.value)) for record in batch.records() if record.value
    )


def _is_changeable(name: str, version: int, value: dict[str, Any]) -> bool:
    text = value.get("value")
    return name == "ConfigRecord" and isinstance(text, str) and text.isdigit() and len(text) == 8


def _with_other_config(batch: RecordBatch) -> bytes:
    records: list[bytes] = []
    for record in batch.records():
        assert record.value is not None
        name, version, value = decode_record(record.value)
        if _is_changeable(name, version, value):
            last = str((int(value["value"][-1]) + 1) % 10)
            value = {**value, "value": value["value"][:-1] + last}
        records.append(encode_record(name, version, value))
    header = batch.header
    data = encode_batch(
        ((None, record) for record in records),
        base_offset=header.base_offset,
        epoch=header.partition_leader_epoch,
        timestamp=header.base_timestamp,
    )
    assert len(data) == len(batch.data)
    return data


def diverged_other_epoch(site: Site) -> Place:
    """It led until the last election, and has records that no other node has fetched."""
    events = list(site.cluster.events)
    last_epoch = max(event.epoch for event in events if isinstance(event, Batch))
    cut = next(
        number for number, event in enumerate(events)
        if isinstance(event, Batch) and event.epoch == last_epoch
    )  # fmt: skip
    kept: list[Event] = events[:cut]
    last = [event for event in kept if isinstance(event, Batch)][-1]
    made: list[Batch] = []
    for _ in range(site.random.randint(2, 5)):
        last = _lost_batch(site, last)
        made.append(last)
    site.rewrite([*kept, *made])
    path = max(site.partition.glob("*.log"))
    offset = made[0].base_offset
    position = next(batch.position for batch in batches(path) if batch.header.base_offset == offset)
    return Place(file=site.below(path), position=position, offset=offset)


def _lost_batch(site: Site, after: Batch) -> Batch:
    records = [
        Told("ConfigRecord", 0, {
            "resourceType": 4, "resourceName": "", "name": "log.cleaner.threads",
            "value": str(site.random.randint(1, 9)),
        })
        for _ in range(site.random.randint(1, 3))
    ]  # fmt: skip
    base, timestamp = after.last_offset + 1, after.timestamp + 1
    data = encode_batch(
        ((None, encode_record(record.name, record.version, record.value)) for record in records),
        base_offset=base,
        epoch=after.epoch,
        timestamp=timestamp,
    )
    return Batch(data, base, base + len(records) - 1, after.epoch, after.leader_id, timestamp)


def wiped_log(site: Site) -> Place:
    for path in site.partition.iterdir():
        path.unlink()
    site.partition.rmdir()
    return Place()


def stale_voters(site: Site) -> Place:
    """It stopped before the last change of voters, long before the others."""
    events = list(site.cluster.events)
    cut = next(
        number for number, event in enumerate(events)
        if number and isinstance(event, Batch) and b"moved-" in event.data
    )  # fmt: skip
    return _stopped(site, events[:cut])


def before_upgrade(site: Site) -> Place:
    """It stopped before metadata.version was raised."""
    events = list(site.cluster.events)
    raised = [
        number for number, event in enumerate(events)
        if isinstance(event, Batch) and _raises(event)
    ]  # fmt: skip
    return _stopped(site, events[: raised[-1]])


def _raises(batch: Batch) -> bool:
    """True if it sets metadata.version."""
    read = RecordBatch.read(batch.data, 0)
    if read.is_control:
        return False
    records = [decode_record(record.value) for record in read.records() if record.value is not None]
    return any(
        name == "FeatureLevelRecord" and value["name"] == "metadata.version"
        for name, _, value in records
    )


def _stopped(site: Site, events: list[Event]) -> Place:
    site.rewrite(events, NodePlan())
    return Place()


KINDS = (
    FaultKind(
        name="diverged-same-epoch", plant=diverged_same_epoch, alone=False,
        codes=("KT-LOG-DIVERGED", "KT-SIG-SAME-PLACE"), follow=("KT-SNAP-DIFFERS",),
    ),
    FaultKind(
        name="diverged-other-epoch", plant=diverged_other_epoch, alone=False,
        codes=("KT-LOG-DIVERGED",),
        follow=("KT-DIR-VOTERS-CONFLICT", "KT-SIG-SPLIT-BRAIN", "KT-SIG-FORGOTTEN-VOTE"),
    ),
    FaultKind(
        name="bit-flip", plant=bit_flip, codes=("KT-LOG-CRC", "KT-LOG-DAMAGE", "KT-LOG-RECORDS"),
        follow=(*_STATE, *INDEXES, "KT-LOG-RECORDS", "KT-LOG-RECORD-FORM", "KT-LOG-DIVERGED"),
    ),
    FaultKind(
        name="zero-range", plant=zero_range, codes=("KT-LOG-DAMAGE", "KT-LOG-CRC"),
        follow=(*_STATE, *INDEXES, "KT-LOG-GAP", "KT-LOG-DIVERGED"),
    ),
    FaultKind(
        name="torn-tail", plant=torn_tail, codes=("KT-LOG-TORN-TAIL",),
        follow=(*INDEXES, "KT-SNAP-AHEAD", "KT-SIG-STALE-SNAPSHOT", "KT-LOG-PRODUCERS"),
    ),
    FaultKind(
        name="wiped-log", plant=wiped_log, alone=False, codes=("KT-SIG-WIPED-VOTER",),
        follow=("KT-DIR-QUORUM-STATE-MISSING", "KT-LOG-MISSING"),
    ),
    FaultKind(
        name="stale-voters", plant=stale_voters, alone=False, needs="dynamic",
        codes=("KT-DIR-VOTERS-BEHIND",), follow=_OLD,
    ),
    FaultKind(
        name="before-upgrade", plant=before_upgrade, alone=False, needs="upgraded",
        codes=("KT-FLEET-METADATA-VERSION",), follow=_OLD,
    ),
)  # fmt: skip
