"""Damages of one node's snapshots; see `start_damages.py`."""

from __future__ import annotations

from collections.abc import Callable

from kraftool.decoders.batch import HEADER_SIZE, RecordBatch, encode_batch, seal
from kraftool.decoders.framing import encode_record
from tests.interop.start_damages import Damage, end_of
from tests.interop.starts import Server, batches, segments, snapshots, whole_batches
from tests.repair import directories

JUNK = f"{99999:020}-{99:010}.checkpoint"


def flip_snapshot(number: int = -1) -> Damage:
    def damage(node: Server) -> None:
        path = snapshots(node.data)[number]
        directories.flip(path, path.stat().st_size // 2)

    return damage


def cut_footer(node: Server) -> None:
    path = snapshots(node.data)[-1]
    path.write_bytes(path.read_bytes()[: batches(path)[-1].position])


def cut_snapshot(node: Server) -> None:
    path = snapshots(node.data)[-1]
    path.write_bytes(path.read_bytes()[: path.stat().st_size // 2])


def cut_in_footer(node: Server) -> None:
    path = snapshots(node.data)[-1]
    path.write_bytes(path.read_bytes()[:-5])


def cut_in_second_half(node: Server) -> None:
    """The records are in two batches, and the file ends inside the second one."""
    path = snapshots(node.data)[-1]
    head, data, *_ = batches(path)
    values = [record.value or b"" for record in data.records()]
    half = len(values) // 2
    parts, offset = [], data.base_offset
    for part in (values[:half], values[half:]):
        parts.append(
            encode_batch(
                [(None, value) for value in part],
                base_offset=offset,
                epoch=data.epoch,
                timestamp=data.header.base_timestamp,
            )
        )
        offset += len(part)
    path.write_bytes(b"".join([head.data, *parts])[:-5])


def cut_header(node: Server) -> None:
    path = snapshots(node.data)[-1]
    path.write_bytes(path.read_bytes()[batches(path)[1].position :])


def bootstrap(change: Callable[[bytes], bytes]) -> Damage:
    def damage(node: Server) -> None:
        path = node.data / "bootstrap.checkpoint"
        path.write_bytes(change(path.read_bytes()))

    return damage


def remove_bootstrap(node: Server) -> None:
    (node.data / "bootstrap.checkpoint").unlink()


def noise(data: bytes) -> bytes:
    """As many bytes without a sense."""
    return bytes((number * 37 + 11) % 256 for number in range(len(data)))


def without_footer(data: bytes) -> bytes:
    return data[: whole_batches(data)[-1].position]


def empty_snapshot(node: Server) -> None:
    snapshots(node.data)[-1].write_bytes(b"")


def remove_newest_snapshot(node: Server) -> None:
    snapshots(node.data)[-1].unlink()


def cut_log_below_newest_snapshot(node: Server) -> None:
    """The log ends before the newest snapshot, at a batch's border."""
    newest = int(snapshots(node.data)[-1].name[:20])
    path = segments(node.data)[0]
    batch = next(item for item in batches(path) if item.base_offset > newest - 20)
    path.write_bytes(path.read_bytes()[: batch.position])


def rename_newest_snapshot(name: str) -> Damage:
    def damage(node: Server) -> None:
        path = snapshots(node.data)[-1]
        path.rename(path.with_name(name))

    return damage


def stale_snapshot(node: Server) -> None:
    """The newest snapshot is of an earlier epoch than the log, and beyond its end."""
    path = snapshots(node.data)[0]
    epoch = int(path.name[21:31])
    data = path.read_bytes()
    path.with_name(f"{end_of(node) + 50:020}-{epoch:010}.checkpoint").write_bytes(data)


def edit_snapshot(edit: Callable[[list[bytes]], list[bytes]]) -> Damage:
    """Change the values of the newest snapshot's data records."""

    def damage(node: Server) -> None:
        path = snapshots(node.data)[-1]
        items = batches(path)
        inner = [item for item in items if not item.is_control]
        values = [record.value or b"" for item in inner for record in item.records()]
        first = inner[0]
        head = items[0].data
        body = encode_batch(
            [(None, value) for value in edit(values)],
            base_offset=first.base_offset,
            epoch=first.epoch,
            timestamp=first.header.base_timestamp,
        )
        next_offset = RecordBatch.read(body).last_offset + 1
        foot = items[-1]
        footer = seal(foot.header._replace(base_offset=next_offset), foot.data[HEADER_SIZE:])
        path.write_bytes(head + body + footer)

    return damage


def with_record(value: bytes) -> Damage:
    return edit_snapshot(lambda values: [*values, value])


def without_metadata_version(values: list[bytes]) -> list[bytes]:
    return [value for value in values if value[1] != 12]


def broker_config_of_no_number() -> bytes:
    return encode_record(
        "ConfigRecord",
        0,
        {"resourceType": 4, "resourceName": "one", "name": "log.cleaner.threads", "value": "1"},
    )


def only_newest_snapshot(node: Server) -> None:
    for path in snapshots(node.data)[:-1]:
        path.unlink()


def only_stale_snapshot(node: Server) -> None:
    stale_snapshot(node)
    end = end_of(node)
    for path in snapshots(node.data):
        if int(path.name[:20]) <= end:
            path.unlink()


def rewrite_data(**header: int) -> Damage:
    """Give the newest snapshot's first data batch other header fields, with a CRC that fits."""

    def damage(node: Server) -> None:
        replace_batch(
            node, lambda batch: seal(batch.header._replace(**header), batch.data[HEADER_SIZE:])
        )

    return damage


def replace_batch(node: Server, change: Callable[[RecordBatch], bytes]) -> None:
    """Replace the newest snapshot's first data batch."""
    path = snapshots(node.data)[-1]
    data = path.read_bytes()
    batch = next(item for item in batches(path) if not item.is_control)
    rest = data[batch.position + batch.size :]
    path.write_bytes(data[: batch.position] + change(batch) + rest)


def first_record_with_another_time(node: Server) -> None:
    """The first data record's timestamp delta is 1."""

    def change(batch: RecordBatch) -> bytes:
        body = bytearray(batch.data[HEADER_SIZE:])
        at = 1 if body[0] < 0x80 else 2
        body[at + 1] = 2  # behind the length, of one byte or two, and the attributes
        return seal(batch.header, bytes(body))

    replace_batch(node, change)


def twice(first: bytes, second: bytes) -> Damage:
    return edit_snapshot(lambda values: [*values, first, second])


def repeated(values: list[bytes]) -> list[bytes]:
    """Each record twice, except those that no controller replays a second time."""
    return [value for value in values for _ in range(1 if value[1] in _ONCE else 2)]


_ONCE = (2, 15)
"""TopicRecord and ProducerIdsRecord."""
NEGATIVE_PRODUCER_IDS = encode_record(
    "ProducerIdsRecord", 0, {"brokerId": 1, "brokerEpoch": 1, "nextProducerId": -5}
)


def threads(number: int | None) -> bytes:
    """A default of all brokers that controllers take up and log, too; None removes it."""
    value = None if number is None else str(number)
    fields = {"resourceType": 4, "resourceName": "", "name": "num.io.threads", "value": value}
    return encode_record("ConfigRecord", 0, fields)


def acl(principal: str) -> bytes:
    fields = {
        "id": "9PTPM4xATAiPu0uKMvmPmg", "resourceType": 2, "resourceName": "t", "patternType": 3,
        "principal": principal, "host": "*", "operation": 3, "permissionType": 3,
    }  # fmt: skip
    return encode_record("AccessControlEntryRecord", 0, fields)
