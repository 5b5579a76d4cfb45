"""Directories with voters for tests: real ones that may be changed, and logs that are built."""

from __future__ import annotations

import shutil
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any, Self

from kraftool.decoders import quorum_state
from kraftool.decoders.batch import RecordBatch, encode_batch
from kraftool.decoders.control import ControlRecordType, encode_key, encode_value
from kraftool.decoders.names import write_checkpoint_name
from kraftool.decoders.segment import scan
from tests.support.copies import let_change
from tests.support.places import LOG, PARTITION

CLUSTER = "xxuyFdGYSvOPfcYJRNjaMA"
LEADER, VERSION, VOTERS = (
    ControlRecordType.LEADER_CHANGE,
    ControlRecordType.KRAFT_VERSION,
    ControlRecordType.KRAFT_VOTERS,
)
HEADER, FOOTER = ControlRecordType.SNAPSHOT_HEADER, ControlRecordType.SNAPSHOT_FOOTER
Control = tuple[ControlRecordType, dict[str, Any]]
_NOOP = b"\x01\x14\x00\x00"


def directory_of(id: int) -> str:
    """The directory id that node `id` has in built cases."""
    return f"Directory-of-node-{id:03}A"


def voter(id: int, **changes: Any) -> dict[str, Any]:
    port = changes.get("port", 9090 + id)
    return {
        "voterId": id,
        "voterDirectoryId": changes.get("directory", directory_of(id)),
        "endpoints": [
            {"name": changes.get("listener", "CONTROLLER"), "host": "localhost", "port": port}
        ],
        "kRaftVersionFeature": {
            "minSupportedVersion": 0,
            "maxSupportedVersion": changes.get("highest", 1),
        },
    }


def voters(*given: int | dict[str, Any]) -> Control:
    listed = [voter(one) if isinstance(one, int) else one for one in given]
    return VOTERS, {"version": 0, "voters": listed}


def version(level: int = 1) -> Control:
    return VERSION, {"version": 0, "kRaftVersion": level}


def leader(id: int, ids: Iterable[int]) -> Control:
    listed = [{"voterId": voter_id, "voterDirectoryId": "A" * 22} for voter_id in ids]
    return LEADER, {"version": 0, "leaderId": id, "voters": listed, "grantingVoters": listed}


class LogBuilder:
    """A metadata log from offset 0 on."""

    def __init__(self) -> None:
        self.data, self.end = b"", 0

    def control(self, epoch: int, *records: Control, stamp: int = 1_000) -> Self:
        self.data += encode_batch(
            ((encode_key(kind), encode_value(kind, value)) for kind, value in records),
            base_offset=self.end,
            epoch=epoch,
            timestamp=stamp,
            control=True,
        )
        self.end += len(records)
        return self

    def noops(self, epoch: int, count: int, stamp: int = 1_000) -> Self:
        for _ in range(count):
            self.data += encode_batch(
                [(None, _NOOP)], base_offset=self.end, epoch=epoch, timestamp=stamp
            )
            self.end += 1
        return self

    def copy(self) -> LogBuilder:
        other = LogBuilder()
        other.data, other.end = self.data, self.end
        return other


def started(ids: Sequence[int] = (1, 2, 3), epoch: int = 1) -> LogBuilder:
    """What the first leader of a dynamic quorum writes, and five records more: offsets 0 to 7."""
    first = LogBuilder().control(epoch, leader(ids[0], ids), version(), voters(*ids))
    return first.noops(epoch, 5)


def snapshot_bytes(epoch: int, *records: Control) -> bytes:
    head = [(HEADER, {"version": 0, "lastContainedLogTimestamp": 1_000}), *records]
    built = LogBuilder().control(epoch, *head)
    return built.control(epoch, (FOOTER, {"version": 0})).data


def make_node(
    path: Path,
    id: int,
    log: LogBuilder,
    *,
    epoch: int = 1,
    directory: str | None = None,
    cluster: str = CLUSTER,
    leader_id: int = 1,
    voted: tuple[int, str] = (-1, "A" * 22),
) -> Path:
    """A data directory as a controller of a dynamic quorum leaves it."""
    partition = path / PARTITION
    partition.mkdir(parents=True)
    directory = directory_of(id) if directory is None else directory
    (path / "meta.properties").write_text(
        f"version=1\nnode.id={id}\ncluster.id={cluster}\ndirectory.id={directory}\n"
    )
    (partition / LOG).write_bytes(log.data)
    (partition / "leader-epoch-checkpoint").write_text(epochs_text(log.data))
    state = quorum_state.QuorumState(
        leader_id=leader_id, leader_epoch=epoch, voted_id=voted[0], voted_directory_id=voted[1]
    )
    (partition / "quorum-state").write_bytes(quorum_state.encode(state))
    return path


def epochs_text(log: bytes) -> str:
    """leader-epoch-checkpoint as Kafka writes it beside such a log."""
    starts: dict[int, int] = {}
    for batch in scan(lambda position, size: log[position : position + size]):
        if isinstance(batch, RecordBatch):
            starts.setdefault(batch.epoch, batch.base_offset)
    lines = [f"{epoch} {offset}" for epoch, offset in starts.items()]
    return "\n".join(["0", str(len(lines)), *lines, ""])


def add_snapshot(path: Path, offset: int, epoch: int, *records: Control) -> Path:
    file = path / PARTITION / write_checkpoint_name(offset, epoch)
    file.write_bytes(snapshot_bytes(epoch, *records))
    return file


def copied(source: Path, target: Path) -> Path:
    """A node of the fixtures with its metadata only, that may be changed."""
    keep_out = shutil.ignore_patterns("*-[0-9]", "*-delete")
    shutil.copytree(source, target, ignore=keep_out)
    shutil.copytree(source / "data" / PARTITION, target / "data" / PARTITION)
    return let_change(target)


def server(path: Path, id: int, **lines: str) -> Path:
    """A controller's server.properties; its directory is `data` beside it."""
    settings = {
        "process.roles": "controller",
        "node.id": str(id),
        "controller.listener.names": "CONTROLLER",
        "listeners": f"CONTROLLER://localhost:{9090 + id}",
        "log.dirs": "data-that-is-only-here",
        "controller.quorum.bootstrap.servers": "localhost:9091",
    } | {key.replace("_", "."): value for key, value in lines.items()}
    path.write_text("".join(f"{key}={value}\n" for key, value in settings.items() if value))
    return path
