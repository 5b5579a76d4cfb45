"""The log of a generated cluster, batch by batch, with the snapshots that are due on the way.

Owns offsets, epochs, times, elections and control records. Every record is replayed as it is made,
so that a record which does not fit fails here, and snapshots hold what the log says. It writes no
file; nodes take from it what they have.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Any

from crc32c import crc32c

from fleets.activity import Activity, Bulk
from fleets.cluster import ClusterSpec, Voter, uuid, voters_record
from fleets.rewriting import Rewriter
from fleets.template import Told
from kraftool.decoders.batch import CRC_START, encode_batch
from kraftool.decoders.control import ControlRecordType, encode_key, encode_value
from kraftool.decoders.framing import encode_record
from kraftool.decoders.snapshot import SnapshotFrame, encode_snapshot
from kraftool.image.image import MetadataImage
from kraftool.image.loader import ImageLoader
from kraftool.image.writer import snapshot_records

_BASE_OFFSET, _CRC = slice(0, 8), slice(17, 21)
_EPOCH, _TIMES = slice(12, 16), slice(27, 43)
_BULK_PASSES = 2
"""So many rounds of the bulk are replayed; from then on only epochs rise."""


@dataclass(frozen=True, slots=True)
class Batch:
    """A batch of the log."""

    data: bytes
    base_offset: int
    last_offset: int
    epoch: int
    leader_id: int
    timestamp: int


@dataclass(frozen=True, slots=True)
class Snapshot:
    """A snapshot of all before `offset`."""

    offset: int
    epoch: int
    data: bytes


Event = Batch | Snapshot


class History:
    """Makes the log of one cluster, once."""

    def __init__(self, spec: ClusterSpec) -> None:
        self._spec = spec
        self._random = spec.random("history")
        self._loader = ImageLoader()
        self._offset = 0
        self._size = 0
        self._epoch = 0
        self._leader: Voter = spec.voters[0]
        self._now = spec.began_ms
        self._snapshot_ms = spec.began_ms
        self.voters = spec.voters
        self.release_features: list[dict[str, Any]] = []

    def events(self) -> Iterator[Event]:
        spec = self._spec
        yield from self._elected()
        yield from self._real()
        activity = Activity(spec.random("activity"), self._loader.image())
        yield self._appended(activity.brokers(self._model(), self._offset))
        steps = spec.activity
        elections = sorted(self._random.sample(range(1, steps), min(spec.elections, steps - 1)))
        step_ms = spec.span_ms // (2 * steps if spec.bulk_bytes else steps)
        for number in range(steps):
            self._now += self._random.randrange(step_ms)
            if number in elections:
                yield from self._elected()
            if spec.moves_voter and number == steps // 2:
                yield self._voter_moved()
            records = activity.batch(number)
            if records:
                yield self._appended(records)
            yield from self._snapshot_if_due()
        if spec.bulk_bytes:
            yield from self._bulk(Bulk(activity))

    # --- the real history -------------------------------------------------------------------------

    def _real(self) -> Iterator[Event]:
        rewriter = Rewriter(f"{self._spec.seed}/{self._spec.name}")
        registered = False
        for step in self._spec.template.steps:
            self._now = self._spec.began_ms + 1000 + step.after_ms
            records: list[Told] = []
            for record in step.records:
                if record.name == "RegisterControllerRecord":
                    if not registered:
                        yield from self._controllers(record)
                        registered = True
                    continue
                records.append(rewriter.rewritten(record, self._offset + len(records)))
            if records:
                yield self._appended(records)
        yield self._snapshot()

    def _controllers(self, model: Told) -> Iterator[Event]:
        """Each controller registers, with the features that the real one had."""
        for voter in self.voters:
            endpoint = {**voter.endpoint(), "securityProtocol": 0}
            value = {
                **model.value,
                "controllerId": voter.id,
                "incarnationId": uuid(self._random),
                "endPoints": [endpoint],
            }
            yield self._appended([Told(model.name, model.version, value)])

    def _model(self) -> dict[str, Any]:
        """The newest registration of a broker in the real history."""
        for step in reversed(self._spec.template.steps):
            for record in step.records:
                if record.name == "RegisterBrokerRecord":
                    return {**record.value, "rack": None, "inControlledShutdown": False}
        raise AssertionError("every fixture has a broker")

    # --- the quorum -------------------------------------------------------------------------------

    def _elected(self) -> Iterator[Event]:
        """A new epoch, which its leader begins with a control batch."""
        self._epoch += self._random.choice((1, 1, 2))
        self._leader = self._random.choice(self.voters)
        everybody = [{"voterId": voter.id} for voter in self.voters]
        granting = everybody[: len(everybody) // 2 + 1]
        value = {
            "version": 0,
            "leaderId": self._leader.id,
            "voters": everybody,
            "grantingVoters": granting,
        }
        records = [_control(ControlRecordType.LEADER_CHANGE, value)]
        if self._spec.is_dynamic and self._offset == 0:
            version = {"version": 0, "kRaftVersion": 1}
            records.append(_control(ControlRecordType.KRAFT_VERSION, version))
            voters = voters_record(self.voters)
            records.append(_control(ControlRecordType.KRAFT_VOTERS, voters))
        yield self._control_batch(records)

    def _voter_moved(self) -> Event:
        """A voter has got another endpoint (UpdateRaftVoter)."""
        moved = self._random.choice(self.voters)
        self.voters = tuple(
            replace(voter, host=f"moved-{voter.host}") if voter is moved else voter
            for voter in self.voters
        )
        voters = voters_record(self.voters)
        return self._control_batch([_control(ControlRecordType.KRAFT_VOTERS, voters)])

    def _control_batch(self, records: list[tuple[bytes, bytes]]) -> Batch:
        data = encode_batch(
            records,
            base_offset=self._offset,
            epoch=self._epoch,
            timestamp=self._now,
            control=True,
        )
        return self._batch(data, len(records))

    # --- batches and snapshots --------------------------------------------------------------------

    def _appended(self, records: list[Told]) -> Batch:
        self._loader.begin_batch(self._epoch, self._now)
        for number, record in enumerate(records):
            self._loader.replay(self._offset + number, record.name, record.value)
        data = encode_batch(
            (
                (None, encode_record(record.name, record.version, record.value))
                for record in records
            ),
            base_offset=self._offset,
            epoch=self._epoch,
            timestamp=self._now,
        )
        return self._batch(data, len(records))

    def _batch(self, data: bytes, count: int) -> Batch:
        base = self._offset
        self._size += len(data)
        self._offset += count
        self._loader.end_batch(self._offset - 1, self._epoch, self._now)
        return Batch(data, base, self._offset - 1, self._epoch, self._leader.id, self._now)

    def _snapshot_if_due(self) -> Iterator[Event]:
        if self._now - self._snapshot_ms >= self._spec.snapshot_every_ms:
            yield self._snapshot()

    def _snapshot(self) -> Event:
        assert self._loader.open_transaction is None
        return self._snapshot_of(self._loader.image())

    def _snapshot_of(self, image: MetadataImage) -> Event:
        self._snapshot_ms = self._now
        frame = SnapshotFrame(
            epoch=self._epoch,
            last_contained_log_timestamp=self._now,
            timestamp=self._now,
            kraft_version=int(self._spec.is_dynamic),
            voters=voters_record(self.voters) if self._spec.is_dynamic else None,
        )
        records = (encode_record(*snapshot_record) for snapshot_record in snapshot_records(image))
        return Snapshot(self._offset, self._epoch, b"".join(encode_snapshot(records, frame)))

    # --- the bulk ---------------------------------------------------------------------------------

    def _bulk(self, bulk: Bulk) -> Iterator[Event]:
        for records in bulk.topics():
            yield self._appended(records)
        every = bulk.batches()
        for records in every * _BULK_PASSES:
            yield self._appended(records)
        image = self._loader.image()
        ready = [self._appended_again(records) for records in every]
        missing = max(self._spec.bulk_bytes - self._size, 0)
        count = missing * len(ready) // sum(map(len, ready))
        step_ms = max(self._spec.span_ms // (2 * max(count, 1)), 1)
        done = [0] * len(every)
        for number in range(count):
            turn = number % len(every)
            self._now += step_ms
            yield self._repeated(ready[turn], len(every[turn]))
            done[turn] += 1
            if self._now - self._snapshot_ms >= self._spec.snapshot_every_ms:
                yield self._snapshot_of(bulk.after(image, done))

    def _appended_again(self, records: list[Told]) -> bytearray:
        values = (
            (None, encode_record(record.name, record.version, record.value)) for record in records
        )
        return bytearray(encode_batch(values, base_offset=0, epoch=0, timestamp=0))

    def _repeated(self, data: bytearray, count: int) -> Batch:
        """A batch of the same records at the log's end, now."""
        data[_BASE_OFFSET] = self._offset.to_bytes(8, "big")
        data[_EPOCH] = self._epoch.to_bytes(4, "big")
        data[_TIMES] = self._now.to_bytes(8, "big") * 2
        data[_CRC] = crc32c(memoryview(data)[CRC_START:]).to_bytes(4, "big")
        base = self._offset
        self._offset += count
        return Batch(bytes(data), base, self._offset - 1, self._epoch, self._leader.id, self._now)


def _control(kind: ControlRecordType, value: Any) -> tuple[bytes, bytes]:
    return encode_key(kind), encode_value(kind, value)
