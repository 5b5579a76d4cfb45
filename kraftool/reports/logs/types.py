"""Record types by their frames: how many of each, and which ones the catalogue lacks.

Owns the step from counted frames to names. A frame is the three bytes that open a usual record, or
0xff with both numbers as int16 where one of them takes more than a byte.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from kraftool.decoders import schema
from kraftool.decoders.control import BY_ID
from kraftool.decoders.fault import FaultKind, LogFault
from kraftool.decoders.framing import record_format
from kraftool.decoders.log_record import LogRecord
from kraftool.reports.logs.summary import TypeCount

_LONG = b"\xff"


def long_frame(api_key: int, version: int) -> bytes:
    """The key under which a record with a number beyond 127 is counted."""
    return _LONG + api_key.to_bytes(2, "big") + version.to_bytes(2, "big")


def _numbers(frame: bytes) -> tuple[int, int]:
    if len(frame) == 3:
        return frame[1], frame[2]
    return int.from_bytes(frame[1:3], "big"), int.from_bytes(frame[3:5], "big")


def unknown_types(
    counts: Mapping[bytes, int], first_seen: Mapping[bytes, tuple[int, int]]
) -> Iterator[LogFault]:
    """The types and versions that the catalogue lacks, each with the place of its first record."""
    for frame, (position, offset) in first_seen.items():
        api_key, version = _numbers(frame)
        if record_format(api_key, version) is not None:
            continue
        message = schema.metadata_record(api_key)
        records = "1 record" if counts[frame] == 1 else f"{counts[frame]} records"
        text = f"{records} of a type that Kafka {schema.KAFKA} lacks, the first here"
        if message is not None:
            text = f"{records} of {message.name} in a version that Kafka {schema.KAFKA} lacks"
        yield LogFault(
            kind=FaultKind.UNKNOWN,
            reason=text,
            position=position,
            offset=offset,
            expected=f"version {message.versions}" if message is not None else "",
            found=f"version {version}" if message is not None else f"api key {api_key}",
        )


def count_types(
    counts: Mapping[bytes, int],
    first_seen: Mapping[bytes, tuple[int, int]],
    controls: Mapping[int, int],
    not_framed: int,
) -> tuple[TypeCount, ...]:
    """All types with their counts, the most frequent first. `first_seen` has the place and the
    offset of the first record of each."""
    type_counts = [_control(type_id, count) for type_id, count in controls.items()]
    type_counts += [
        _record(*_numbers(frame), count, first_seen[frame][1]) for frame, count in counts.items()
    ]
    if not_framed:
        type_counts.append(
            TypeCount(
                name="", type="", version=None, count=not_framed, is_control=False, type_id=None
            )
        )
    return tuple(
        sorted(
            type_counts,
            key=lambda type_count: (-type_count.count, type_count.type, type_count.version or 0),
        )
    )


def _control(type_id: int, count: int) -> TypeCount:
    kind = BY_ID.get(type_id)
    return TypeCount(
        name=kind.message if kind is not None else "",
        type=kind.label if kind is not None else "",
        version=None,
        count=count,
        is_control=True,
        type_id=type_id,
    )


def _record(api_key: int, version: int, count: int, first_offset: int) -> TypeCount:
    message = schema.metadata_record(api_key)
    name = message.name if message is not None else ""
    return TypeCount(
        name=name,
        type=schema.record_type(name) if name else "",
        version=version,
        count=count,
        is_control=False,
        type_id=api_key,
        first_offset=first_offset,
    )


def record_label(item: LogRecord) -> str:
    """The type of a record for people: as in Kafka's sources, with its version where that is not 0,
    and by its number where the catalogue lacks it."""
    name = item.type if item.is_control else item.name
    if not name and item.api_key is None:
        name = "unknown record"
    elif not name:
        name = f"{'control type' if item.is_control else 'record type'} {item.api_key}"
    return f"{name} v{item.version}" if item.version else name
