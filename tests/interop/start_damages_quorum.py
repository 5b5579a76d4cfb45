"""Damages that concern voters and several nodes; see `start_damages.py`."""

from __future__ import annotations

import shutil

from kraftool.decoders.batch import RecordBatch, encode_batch
from kraftool.decoders.codec import Value
from kraftool.decoders.control import ControlRecordType, encode_key, encode_value
from kraftool.decoders.log_record import decode_control
from tests.interop.start_damages import (
    NO_OP,
    TIME,
    Damage,
    append_records,
    end_of,
    meta,
    settings,
)
from tests.interop.start_damages_snapshots import (
    cut_log_below_newest_snapshot,
    remove_newest_snapshot,
)
from tests.interop.starts import (
    Server,
    batches,
    numbered_id,
    segments,
    server,
)
from tests.support.places import PARTITION
from tests.support.ports import HOST, free_ports

_HEADER = ControlRecordType.SNAPSHOT_HEADER
_FOOTER = ControlRecordType.SNAPSHOT_FOOTER
_VERSION = ControlRecordType.KRAFT_VERSION
_VOTERS = ControlRecordType.KRAFT_VOTERS
QUICK = {
    "controller.quorum.election.timeout.ms": "300",
    "controller.quorum.fetch.timeout.ms": "600",
    "controller.quorum.election.backoff.max.ms": "100",
}
STRANGER = 9
"""A voter that no other file names."""
_FEATURE, _CONTROLLER = 12, 27
"""The records that a controller without topics has in a snapshot."""


def _log(node: Server) -> list[RecordBatch]:
    return [batch for path in segments(node.data) for batch in batches(path)]


def _voters(node: Server, *, more: tuple[int, ...] = (), only: tuple[int, ...] = ()) -> Value:
    """The log's voters with others that have the first one's endpoint and do not answer."""
    [*_, value] = (
        item.data
        for batch in _log(node)
        if batch.is_control
        for item in map(decode_control, batch.records())
        if item.type == _VOTERS.label and item.data is not None
    )
    [voter] = value["voters"]
    made = [
        voter | {"voterId": number, "voterDirectoryId": numbered_id(number)}
        for number in more + only
    ]
    return value | {"voters": made if only else [voter, *made]}


def _control(kind: ControlRecordType, value: Value) -> tuple[bytes, bytes]:
    return encode_key(kind), encode_value(kind, value)


def other_listener_first(node: Server) -> None:
    """There are two voters, recorded with another listener than the node's first."""
    last = _log(node)[-1]
    batch = encode_batch(
        [_control(_VOTERS, _voters(node, more=(2,)))],
        base_offset=last.last_offset + 1,
        epoch=last.epoch,
        timestamp=TIME,
        control=True,
    )
    with segments(node.data)[-1].open("ab") as file:
        file.write(batch)
    [port] = free_ports(1)
    node.settings["listeners"] = f"OTHER://{HOST}:{port},{node.settings['listeners']}"
    node.settings["controller.listener.names"] = "OTHER,CONTROLLER"
    node.settings["listener.security.protocol.map"] += ",OTHER:PLAINTEXT"


def snapshot_at_end(*, voters: bool, only: tuple[int, ...] = ()) -> Damage:
    """Add a snapshot at the log's end, with other voters or without any."""

    def damage(node: Server) -> None:
        log, end = _log(node), end_of(node)
        epoch = log[-1].epoch
        first = node.data / PARTITION / f"{0:020}-{0:010}.checkpoint"
        controls = [
            _control(_HEADER, {"version": 0, "lastContainedLogTimestamp": _time(log[-1])}),
            _control(_VERSION, {"version": 0, "kRaftVersion": 1}),
        ]
        if voters:
            controls.append(_control(_VOTERS, _voters(node, only=only)))
        values = [
            record.value
            for batch in (*batches(first), *log)
            if not batch.is_control
            for record in batch.records()
            if record.value is not None and record.value[1] in (_FEATURE, _CONTROLLER)
        ]
        values = sorted(dict.fromkeys(values), key=lambda value: value[1])
        data, position = b"", 0
        for records, is_control in (
            (controls, True),
            ([(None, value) for value in values], False),
            ([_control(_FOOTER, {"version": 0})], True),
        ):
            data += encode_batch(
                records, base_offset=position, epoch=epoch, timestamp=TIME, control=is_control
            )
            position += len(records)
        (node.data / PARTITION / f"{end:020}-{epoch:010}.checkpoint").write_bytes(data)

    return damage


def _time(batch: RecordBatch) -> int:
    return batch.header.max_timestamp


# --- several nodes --------------------------------------------------------------------------------


def peer(node: Server, node_id: int) -> Server:
    """Another node with a copy of a node's directory; voters are not set yet."""
    data = node.data.parent / f"peer-{node_id}" / "data"
    shutil.copytree(node.data, data)
    made = server(data, node_id=node_id)
    meta(node_id=str(node_id), directory_id=numbered_id(node_id))(made)
    return made


def make_voters(*nodes: Server) -> None:
    """Give each node the same static voters, if there are several."""
    if len(nodes) == 1:
        return
    voters = ",".join(node.settings["controller.quorum.voters"] for node in nodes)
    for node in nodes:
        settings(controller_quorum_voters=voters)(node)
        node.settings |= QUICK


def older_copy_that_went_on(node: Server) -> None:
    """The log and the snapshots end before the newest snapshot; a later leader wrote to the log."""
    epoch = _log(node)[-1].epoch
    cut_log_below_newest_snapshot(node)
    remove_newest_snapshot(node)
    append_records(NO_OP, epochs=epoch + 1 - _log(node)[-1].epoch)(node)
