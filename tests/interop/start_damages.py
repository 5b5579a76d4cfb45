"""Damages of one node's directory or settings, for tests that then start Kafka on it.

Owns the edits only; `start_claims.py` says what kraftool reports of each, and what Kafka does.
"""

from __future__ import annotations

import json
import shutil
from collections.abc import Callable
from pathlib import Path

from kraftool.decoders.batch import HEADER_SIZE, RecordBatch, encode_batch, seal
from kraftool.decoders.framing import encode_record
from tests.interop.starts import Server, batches, numbered_id, segments, snapshots
from tests.repair import directories
from tests.support.places import PARTITION

Damage = Callable[[Server], None]
TIME = 1_700_000_000_000


def all_of(*damages: Damage) -> Damage:
    def damage(node: Server) -> None:
        for step in damages:
            step(node)

    return damage


def _partition(node: Server) -> Path:
    return node.data / PARTITION


# --- the log --------------------------------------------------------------------------------------


def without_snapshots(node: Server) -> None:
    for path in snapshots(node.data):
        path.unlink()


def flip_batch(segment: int = 0, part: float = 0.5) -> Damage:
    """Flip a bit of a record, in the batch at this part of a segment."""

    def damage(node: Server) -> None:
        path = segments(node.data)[segment]
        batch = _batch_at(path, part)
        directories.flip(path, batch.position + batch.size - 3)

    return damage


def _batch_at(path: Path, part: float) -> RecordBatch:
    items = batches(path)
    return items[min(int(part * len(items)), len(items) - 1)]


def overwrite_batch(fill: bytes, at: int = 0, part: float = 0.5) -> Damage:
    """Overwrite a batch of the first segment from byte `at` of it; empty `fill` means zeros."""

    def damage(node: Server) -> None:
        path = segments(node.data)[0]
        batch, data = _batch_at(path, part), bytearray(path.read_bytes())
        piece = fill or bytes(batch.size)
        data[batch.position + at : batch.position + at + len(piece)] = piece
        path.write_bytes(data)

    return damage


def damage_after_newest_snapshot(node: Server) -> None:
    newest = int(snapshots(node.data)[-1].name[:20])
    path = segments(node.data)[-1]
    batch = next(item for item in batches(path) if item.base_offset >= newest)
    directories.flip(path, batch.position + batch.size - 3)


def append(data: bytes, segment: int = -1) -> Damage:
    def damage(node: Server) -> None:
        with segments(node.data)[segment].open("ab") as file:
            file.write(data)

    return damage


def tear_tail(segment: int = -1) -> Damage:
    def damage(node: Server) -> None:
        path = segments(node.data)[segment]
        append(batches(path)[-1].data[:-7], segment)(node)

    return damage


def append_records(*values: bytes, epochs: int = 0, control: bool = False) -> Damage:
    """Append one batch of records as a leader would."""

    def damage(node: Server) -> None:
        last = batches(segments(node.data)[-1])[-1]
        append(
            encode_batch(
                [(None, value) for value in values],
                base_offset=last.last_offset + 1,
                epoch=last.epoch + epochs,
                timestamp=TIME,
                control=control,
            )
        )(node)

    return damage


NO_OP = encode_record("NoOpRecord", 0, {})
BEGIN = encode_record("BeginTransactionRecord", 0, {"name": "test"})
FROM_THE_FUTURE = bytes.fromhex("01 ce10 00") + b"from the future"
UNKNOWN_PARTITION = encode_record(
    "PartitionChangeRecord",
    0,
    {"partitionId": 0, "topicId": "9PTPM4xATAiPu0uKMvmPmg", "leader": 11},
)
FUTURE_FEATURE = encode_record(
    "FeatureLevelRecord", 0, {"name": "metadata.version", "featureLevel": 99}
)


def replace_last_by_no_ops(node: Server) -> None:
    """What KT-LOG-REPLAY advises."""
    path = segments(node.data)[-1]
    last = batches(path)[-1]
    no_ops = encode_batch(
        [(None, NO_OP)] * last.header.record_count,
        base_offset=last.base_offset,
        epoch=last.epoch,
        timestamp=TIME,
    )
    path.write_bytes(path.read_bytes()[: last.position] + no_ops)


def without_metadata_version(node: Server) -> None:
    """No record sets the level: as if the first activation had been aborted."""
    without_snapshots(node)
    for path in segments(node.data):
        parts = []
        for batch in batches(path):
            values = [] if batch.is_control else [one.value or b"" for one in batch.records()]
            kept = [NO_OP if value[1:2] == b"\x0c" else value for value in values]
            parts.append(
                batch.data
                if kept == values
                else encode_batch(
                    [(None, value) for value in kept],
                    base_offset=batch.base_offset,
                    epoch=batch.epoch,
                    timestamp=batch.header.base_timestamp,
                )
            )
        path.write_bytes(b"".join(parts))


def rewrite_last(**header: int) -> Damage:
    """Give the last batch other header fields, with a CRC that fits."""

    def damage(node: Server) -> None:
        path = segments(node.data)[-1]
        last = batches(path)[-1]
        batch = seal(last.header._replace(**header), last.data[HEADER_SIZE:])
        path.write_bytes(path.read_bytes()[: last.position] + batch)

    return damage


def raise_epoch(node: Server) -> None:
    """Flip a bit of the last batch's epoch, which no CRC covers."""
    path = segments(node.data)[-1]
    directories.flip(path, batches(path)[-1].position + 15, 0x40)


def lower_epoch(node: Server) -> None:
    path = segments(node.data)[-1]
    last = batches(path)[-1]
    data = bytearray(path.read_bytes())
    data[last.position + 12 : last.position + 16] = (1).to_bytes(4, "big")
    path.write_bytes(data)


def record_with_key(node: Server) -> None:
    last = batches(segments(node.data)[-1])[-1]
    append(
        encode_batch(
            [(b"key", NO_OP)],
            base_offset=last.last_offset + 1,
            epoch=last.epoch,
            timestamp=TIME,
        )
    )(node)


def record_with_another_time(node: Server) -> None:
    """A record whose timestamp is not its batch's: its delta is 1."""
    last = batches(segments(node.data)[-1])[-1]
    batch = RecordBatch.read(
        encode_batch(
            [(None, NO_OP)],
            base_offset=last.last_offset + 1,
            epoch=last.epoch,
            timestamp=TIME,
        )
    )
    body = bytearray(batch.data[HEADER_SIZE:])
    body[2] = 2
    append(seal(batch.header, bytes(body)))(node)


def drop_batch(part: float = 0.9) -> Damage:
    def damage(node: Server) -> None:
        path = segments(node.data)[-1]
        batch, data = _batch_at(path, part), path.read_bytes()
        path.write_bytes(data[: batch.position] + data[batch.position + batch.size :])

    return damage


def repeat_batch(part: float = 0.9) -> Damage:
    def damage(node: Server) -> None:
        path = segments(node.data)[-1]
        batch, data = _batch_at(path, part), path.read_bytes()
        end = batch.position + batch.size
        path.write_bytes(data[:end] + batch.data + data[end:])

    return damage


def repeat_half(node: Server) -> None:
    """The first half of the log stands twice: a long step back."""
    path = segments(node.data)[0]
    batch, data = _batch_at(path, 0.5), path.read_bytes()
    path.write_bytes(data[: batch.position] + data)


def put(name: str, content: bytes = b"x") -> Damage:
    """Put a file into the metadata partition."""

    def damage(node: Server) -> None:
        (_partition(node) / name).write_bytes(content)

    return damage


def remove(name: str) -> Damage:
    def damage(node: Server) -> None:
        (_partition(node) / name).unlink()

    return damage


def garble_indexes(node: Server) -> None:
    for path in segments(node.data):
        for ending in (".index", ".timeindex"):
            path.with_suffix(ending).write_bytes(bytes(range(1, 84)))


def misplace_index(node: Server) -> None:
    """A well-formed index whose entries point to wrong places."""
    path = segments(node.data)[-1]
    entry = (100).to_bytes(4, "big") + (4001).to_bytes(4, "big")
    path.with_suffix(".index").write_bytes(entry)


def zero_indexes(node: Server) -> None:
    for path in segments(node.data):
        for ending in (".index", ".timeindex"):
            index = path.with_suffix(ending)
            index.write_bytes(bytes(index.stat().st_size or 24))


def garble_producer_state(node: Server) -> None:
    put(f"{end_of(node):020}.snapshot", b"what is this")(node)


def end_of(node: Server) -> int:
    return batches(segments(node.data)[-1])[-1].last_offset + 1


def lose_log(node: Server) -> None:
    for path in _partition(node).glob("0*.*"):
        if path.suffix != ".checkpoint":
            path.unlink()


def lose_segments(node: Server) -> None:
    """Every .log alone: the indexes stay."""
    for path in segments(node.data):
        path.unlink()


def lose_newest_segment(node: Server) -> None:
    """Its .log alone: the indexes stay."""
    segments(node.data)[-1].unlink()


def lose_partition(node: Server) -> None:
    shutil.rmtree(_partition(node))


def strand_log(node: Server) -> None:
    """The partition is gone, and what a run left beside it is there: Kafka's lock, and a topic."""
    lose_partition(node)
    (node.data / ".lock").touch()
    topic = node.data / "orders-0"
    topic.mkdir()
    (topic / f"{0:020}.log").touch()
    (topic / "partition.metadata").write_text(f"version: 0\ntopic_id: {numbered_id(40)}\n")


def second_partition(node: Server) -> None:
    shutil.copytree(_partition(node), node.data / "__cluster_metadata-1")


# --- other files ----------------------------------------------------------------------------------


def quorum_state(**fields: object) -> Damage:
    """Change fields of quorum-state; None removes one."""

    def damage(node: Server) -> None:
        path = _partition(node) / "quorum-state"
        state = json.loads(path.read_text()) | fields
        path.write_text(
            json.dumps({key: value for key, value in state.items() if value is not None})
        )

    return damage


def meta(**fields: str | None) -> Damage:
    """Change lines of meta.properties, `_` for a dot; None removes one."""

    def damage(node: Server) -> None:
        path = node.data / "meta.properties"
        lines = dict(line.split("=", 1) for line in path.read_text().splitlines() if "=" in line)
        for key, value in fields.items():
            lines.pop(key.replace("_", "."), None)
            if value is not None:
                lines[key.replace("_", ".")] = value
        path.write_text("".join(f"{key}={value}\n" for key, value in lines.items()))

    return damage


def append_meta(text: bytes) -> Damage:
    def damage(node: Server) -> None:
        with (node.data / "meta.properties").open("ab") as file:
            file.write(text)

    return damage


def respell_directory_id(node: Server) -> None:
    """The same uuid, spelled with other bits behind its 128th."""
    path = node.data / "meta.properties"
    lines = path.read_text().splitlines()
    [line] = [line for line in lines if line.startswith("directory.id=")]
    last = {"A": "B", "Q": "R", "g": "h", "w": "x"}[line[-1]]
    path.write_text(path.read_text().replace(line, line[:-1] + last))


def remove_meta(node: Server) -> None:
    (node.data / "meta.properties").unlink()


def settings(**fields: str | None) -> Damage:
    """Change the server's settings, `_` for a dot; None removes one."""

    def damage(node: Server) -> None:
        for key, value in fields.items():
            node.settings.pop(key.replace("_", "."), None)
            if value is not None:
                node.settings[key.replace("_", ".")] = value

    return damage


def second_directory(*edits: Damage) -> Damage:
    """Another directory in log.dirs: of this node, with an id of its own, and then edited."""

    def damage(node: Server) -> None:
        other = node.data.parent / "other"
        other.mkdir()
        shutil.copy(node.data / "meta.properties", other)
        for edit in (meta(directory_id=numbered_id(50)), *edits):
            edit(Server(other))
        node.settings["metadata.log.dir"] = str(node.data)
        node.settings["log.dirs"] = f"{node.data},{other}"

    return damage


def copy_first_meta(second: Server) -> None:
    """The second directory gets meta.properties of the first."""
    shutil.copy(second.data.parent / "data" / "meta.properties", second.data)


def broker_too(node: Server) -> None:
    """The node is a broker as well."""
    from tests.support.ports import HOST, free_ports

    [port] = free_ports(1)
    node.settings["process.roles"] = "broker,controller"
    node.settings["listeners"] += f",BROKER://{HOST}:{port}"
    node.settings["inter.broker.listener.name"] = "BROKER"
    node.settings["log.cleaner.dedupe.buffer.size"] = "4194304"


def garble_checkpoint(name: str) -> Damage:
    def damage(node: Server) -> None:
        (node.data / name).write_text("what is this")

    return damage


def folder(name: str) -> Damage:
    def damage(node: Server) -> None:
        (node.data / name).mkdir()

    return damage


def copy_of_partition(node: Server) -> None:
    shutil.copytree(_partition(node), node.data / f"{PARTITION}.aside")


def remove_index(segment: int) -> Damage:
    def damage(node: Server) -> None:
        segments(node.data)[segment].with_suffix(".index").unlink()

    return damage


def replace_byte(old: bytes, new: bytes, at: int) -> Damage:
    """Put a byte of a batch header of the first segment back."""

    def damage(node: Server) -> None:
        path = segments(node.data)[0]
        data = bytearray(path.read_bytes())
        positions = [batch.position for batch in batches(path)]
        gaps = [p for p in range(len(data) - at) if data[p + at : p + at + 1] == old]
        position = next(p for p in gaps if p not in positions and data[p : p + 6] == bytes(6))
        data[position + at : position + at + 1] = new
        path.write_bytes(data)

    return damage


CHECKPOINTS = (
    "recovery-point-offset-checkpoint",
    "replication-offset-checkpoint",
    "log-start-offset-checkpoint",
    "cleaner-offset-checkpoint",
)
LEFTOVERS = (
    f"{888:020}-{1:010}.checkpoint.part",
    f"{59:020}-{1:010}.checkpoint.deleted",
    f"{777:020}.log.deleted",
    f"{778:020}.log.cleaned",
    "quorum-state.tmp",
    "leader-epoch-checkpoint.tmp",
)


def remove_checkpoints(node: Server) -> None:
    for name in CHECKPOINTS:
        (node.data / name).unlink()


def three_voters(node: Server) -> None:
    """The other two voters do not answer."""
    node.settings["controller.quorum.voters"] += ",2@127.0.0.1:1,3@127.0.0.1:2"


def mark_clean_stop(node: Server) -> None:
    """The file that a broker leaves at a clean stop; it concerns topics only."""
    (node.data / ".kafka_cleanshutdown").write_text('{"version":0,"brokerEpoch":1}')


def metadata_elsewhere(*, also_here: bool = False) -> Damage:
    """The metadata partition is in the second directory of log.dirs, as of swapped mounts: that has
    the meta.properties of the first one, too."""

    def damage(node: Server) -> None:
        second_directory()(node)
        other = node.data.parent / "other"
        (shutil.copytree if also_here else shutil.move)(node.data / PARTITION, other / PARTITION)
        if not also_here:
            kept = (other / "meta.properties").read_bytes()
            shutil.copy(node.data / "meta.properties", other)
            (node.data / "meta.properties").write_bytes(kept)

    return damage
