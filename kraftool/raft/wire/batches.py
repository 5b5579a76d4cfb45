"""Batches of the log: between the core's and the bytes that Kafka keeps and sends.

Owns the control records of the two forms. The bytes of a batch are kept as they came; only batches
that a leader forms itself are encoded here.
"""

from __future__ import annotations

from collections.abc import Iterable

from kraftool.decoders import control as kafka_control
from kraftool.decoders.batch import HEADER_SIZE, LOG_OVERHEAD, RecordBatch, encode_batch
from kraftool.decoders.codec import Value
from kraftool.decoders.control import ControlRecordType
from kraftool.decoders.errors import DecodeError, KraftoolError
from kraftool.raft.names import ReplicaKey, VersionRange, Voter, VoterSet
from kraftool.raft.records import Batch, ControlRecord, KRaftVersion, LeaderChange, Voters
from kraftool.raft.wire.shapes import endpoints, key_of, listeners, uuid_of


def encode(batch: Batch) -> bytes:
    """The bytes of a batch: those that it came with, or those of what a leader formed."""
    if isinstance(batch.data, bytes):
        return batch.data
    pairs: Iterable[tuple[bytes | None, bytes | None]]
    if batch.control:
        pairs = [_control(record) for record in batch.control]
    else:
        pairs = [(None, record) for record in batch.data]
    return encode_batch(
        pairs,
        base_offset=batch.base_offset,
        epoch=batch.epoch,
        timestamp=batch.timestamp_ms,
        control=bool(batch.control),
    )


def encode_batches(batches: Iterable[Batch]) -> bytes:
    return b"".join(map(encode, batches))


def decode(whole: RecordBatch) -> Batch:
    """A batch with its bytes; control records that cannot be read make it one that is not valid."""
    valid = whole.is_valid and whole.header.magic == 2
    records: tuple[ControlRecord, ...] = ()
    if valid and whole.is_control:
        try:
            records = tuple(_read(record.key, record.value) for record in whole.records())
        except KraftoolError:  # damaged, or of a version that the catalogue lacks
            valid = False
    return Batch(
        base_offset=whole.base_offset,
        last_offset=whole.last_offset,
        epoch=whole.epoch,
        timestamp_ms=whole.header.max_timestamp,
        control=records,
        is_valid=valid,
        size=whole.size,
        data=whole.data,
    )


def decode_batches(data: bytes) -> tuple[Batch, ...]:
    """The batches of an answer to a fetch. What is cut off at its end is left out; where a size is
    impossible nothing after it can be found, and the rest is one batch that is not valid."""
    batches, position = [], 0
    while len(data) - position >= LOG_OVERHEAD:
        length = int.from_bytes(data[position + 8 : position + LOG_OVERHEAD], "big", signed=True)
        if length < HEADER_SIZE - LOG_OVERHEAD:
            base = int.from_bytes(data[position : position + 8], "big", signed=True)
            batches.append(Batch(base_offset=base, last_offset=base, epoch=-1, is_valid=False))
            break
        end = position + LOG_OVERHEAD + length
        if end > len(data):
            break
        batches.append(decode(RecordBatch.read(data[position:end], position)))
        position = end
    return tuple(batches)


def _control(record: ControlRecord) -> tuple[bytes, bytes]:
    match record:
        case LeaderChange():
            kind = ControlRecordType.LEADER_CHANGE
            value: Value = {
                "version": 0,
                "leaderId": record.leader_id,
                "voters": [{"voterId": voter} for voter in record.voters],
                "grantingVoters": [
                    {"voterId": granting_voter} for granting_voter in record.granting_voters
                ],
            }
        case KRaftVersion():
            kind = ControlRecordType.KRAFT_VERSION
            value = {"version": 0, "kRaftVersion": record.level}
        case Voters():
            kind = ControlRecordType.KRAFT_VOTERS
            value = voters_record(record.voters)
    return kafka_control.encode_key(kind), kafka_control.encode_value(kind, value)


def voters_record(voters: VoterSet) -> Value:
    """A voter set as a VotersRecord."""
    return {
        "version": 0,
        "voters": [
            {
                "voterId": voter.key.id,
                "voterDirectoryId": uuid_of(voter.key),
                "endpoints": listeners(voter.endpoints),
                "kRaftVersionFeature": {
                    "minSupportedVersion": voter.kraft_version.min,
                    "maxSupportedVersion": voter.kraft_version.max,
                },
            }
            for voter in voters
        ],
    }


def _read(key: bytes | None, value: bytes | None) -> ControlRecord:
    known = kafka_control.BY_ID.get(kafka_control.read_key(key))
    if known is None:
        raise DecodeError("an unknown control record", position=0, path="key.type")
    _, message = kafka_control.decode_value(known, value)
    match known:
        case ControlRecordType.LEADER_CHANGE:
            return LeaderChange(
                leader_id=message["leaderId"],
                voters=tuple(voter["voterId"] for voter in message["voters"]),
                granting_voters=tuple(
                    granting_voter["voterId"] for granting_voter in message["grantingVoters"]
                ),
            )
        case ControlRecordType.KRAFT_VERSION:
            return KRaftVersion(message["kRaftVersion"])
        case ControlRecordType.KRAFT_VOTERS:
            return Voters(voter_set(message))
        case _:
            raise DecodeError(f"{known.label} in a log", position=0, path="key.type")


def voter_set(record: Value) -> VoterSet:
    """The voter set of a VotersRecord."""
    return VoterSet.of(*map(_voter, record["voters"]))


def _voter(value: Value) -> Voter:
    feature = value["kRaftVersionFeature"]
    key = key_of(value["voterId"], value["voterDirectoryId"])
    return Voter(
        key=key if key is not None else ReplicaKey(value["voterId"]),
        endpoints=endpoints(value["endpoints"]),
        kraft_version=VersionRange(feature["minSupportedVersion"], feature["maxSupportedVersion"]),
    )
