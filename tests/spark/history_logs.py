"""Logs and snapshots in which a topic's leader changes, and their histories as rows."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from kraftool.arrow.fleet import FleetFile
from kraftool.arrow.search import find_fleet
from kraftool.decoders.batch import encode_batch
from kraftool.decoders.framing import encode_record
from kraftool.decoders.names import write_checkpoint_name
from kraftool.decoders.snapshot import SnapshotFrame, encode_snapshot
from kraftool.image.writer import snapshot_records
from kraftool.reports.state.load import load_state
from kraftool.spark.tables.states import write_states

TOPIC_ID = "AAAAAAAAAAAAAAAAAAAAAQ"
Row = dict[str, Any]


def write_history(path: Path, sink: Any, **more: Any) -> list[FleetFile]:
    """Give a sink the states and histories of a directory; return its files."""
    files = list(find_fleet([str(path)]).files)
    write_states(files, sink, **{"newest": True, "show_secrets": False, **more})
    return files


def write_log(folder: Path, *batches: list[tuple[str, int, Row]], start: int = 0) -> Path:
    """A log of batches of records, in a data directory."""
    log, offset = b"", start
    for records in batches:
        values = [(None, encode_record(*record)) for record in records]
        log += encode_batch(values, base_offset=offset, epoch=1, timestamp=1_000 + offset)
        offset += len(values)
    below = folder / "data/__cluster_metadata-0"
    below.mkdir(parents=True, exist_ok=True)
    (below / f"{start:020}.log").write_bytes(log)
    return folder / "data"


def topic_record(name: str = "orders", topic_id: str = TOPIC_ID) -> tuple[str, int, Row]:
    return "TopicRecord", 0, {"name": name, "topicId": topic_id}


def partition_record(number: int = 0, elr: list[int] | None = None) -> tuple[str, int, Row]:
    value: Row = {
        "partitionId": number, "topicId": TOPIC_ID, "replicas": [1, 2], "isr": [1],
        "removingReplicas": [], "addingReplicas": [], "leader": 1, "leaderEpoch": 0,
        "partitionEpoch": 0, "directories": [TOPIC_ID, TOPIC_ID], "eligibleLeaderReplicas": elr,
        "lastKnownElr": None,
    }  # fmt: skip
    return "PartitionRecord", 2, value


def leader_change(leader: int) -> tuple[str, int, Row]:
    return "PartitionChangeRecord", 2, {"topicId": TOPIC_ID, "partitionId": 0, "leader": leader}


def write_snapshot(path: Path, offset: int, *, whole: bool = True) -> None:
    """The snapshot that Kafka would have written at an offset of this log."""
    image = load_state(str(path), at=offset).image
    frame = SnapshotFrame(epoch=1, last_contained_log_timestamp=999 + offset, timestamp=5_000)
    records = (encode_record(*snapshot_record) for snapshot_record in snapshot_records(image, 30))
    data = b"".join(encode_snapshot(records, frame))
    name = write_checkpoint_name(offset, 1)
    (path / "__cluster_metadata-0" / name).write_bytes(data if whole else data[:-40])


def cleaned_log(tmp_path: Path, start: int) -> Path:
    """A log without the records before an offset, with three snapshots."""
    whole = [
        [topic_record(), partition_record()],
        *([leader_change(1 + number % 2)] for number in range(8)),
    ]
    path = write_log(tmp_path, *whole)
    for offset in (3, 5, 8):
        write_snapshot(path, offset, whole=offset != 3)
    segment = path / "__cluster_metadata-0/00000000000000000000.log"
    segment.unlink()
    return write_log(
        tmp_path, *([leader_change(1 + number % 2)] for number in range(start - 2, 8)), start=start
    )
