"""Snapshots that kraftool writes are loaded by real Kafka, as Kafka's own are.

Kafka's classes load each fixture's snapshot twice, as Kafka wrote it and as kraftool writes it from
its image; and controllers start with nothing but such a snapshot, lead, and write the same state.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from kraftool.decoders.batch import RecordBatch
from kraftool.decoders.control import ControlRecordType
from kraftool.decoders.framing import encode_record
from kraftool.decoders.names import write_checkpoint_name
from kraftool.decoders.segment import scan
from kraftool.decoders.snapshot import SnapshotFrame, encode_snapshot
from kraftool.image.image import MetadataImage
from kraftool.image.writer import snapshot_records
from kraftool.reports.findings.finding import Severity
from kraftool.reports.state.load import LoadedState, load_state
from kraftool.reports.verify.snapshot import verify_snapshots
from kraftool.reports.verify.snapshot_diff import difference
from kraftool.storage.paths import open_path
from tests.interop import kafka, scenarios, shelltrees
from tests.interop.clusters import Cluster, Node
from tests.support.places import FIXTURES, PARTITION
from tests.support.ports import HOST

SNAPSHOTS = sorted(
    path
    for path in FIXTURES.glob(f"*/*/node-*/data*/{PARTITION}/*.checkpoint")
    if path.parts[-6] != "damaged" and int(path.name[:20])
)
CONTROLLER = 3000
"""A node id that no fixture has."""


def written(state: LoadedState, **changed: Any) -> Iterator[bytes]:
    """The bytes of a snapshot of a state."""
    header = state.controls[ControlRecordType.SNAPSHOT_HEADER]
    version = state.controls.get(ControlRecordType.KRAFT_VERSION)
    voters = state.controls.get(ControlRecordType.KRAFT_VOTERS)
    frame: dict[str, Any] = {
        "epoch": state.image.provenance.last_epoch,
        "last_contained_log_timestamp": header.value["lastContainedLogTimestamp"],
        "timestamp": state.inside.last_timestamp,
        "kraft_version": version.value["kRaftVersion"] if version is not None else 0,
        "voters": voters.value if voters is not None else None,
    }
    records = (encode_record(*snapshot_record) for snapshot_record in snapshot_records(state.image))
    return encode_snapshot(records, SnapshotFrame(**{**frame, **changed}))


def write(path: Path, chunks: Iterator[bytes]) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    with path.open("wb") as file:
        file.writelines(chunks)
    return path


def records_in(path: Path) -> int:
    data = path.read_bytes()
    return sum(
        item.header.record_count
        for item in scan(lambda at, size: data[at : at + size])
        if isinstance(item, RecordBatch)
    )


@pytest.mark.interop
def test_kafka_loads_what_kraftool_writes_as_it_loads_its_own(tmp_path: Path) -> None:
    assert len(SNAPSHOTS) > 100
    pairs = []
    for number, path in enumerate(SNAPSHOTS):
        theirs, ours = f"{number}/kafka/{path.name}", f"{number}/kraftool/{path.name}"
        write(tmp_path / theirs, iter([path.read_bytes()]))
        write(tmp_path / ours, written(load_state(str(path))))
        pairs.append((path, theirs, ours))
    names = [name for _, *both in pairs for name in both]
    trees = shelltrees.kafka_trees(names, tmp_path)
    for path, theirs, ours in pairs:
        assert trees[ours].faults == trees[theirs].faults, path
        expected, loaded = trees[theirs].nodes, trees[ours].nodes
        if records_in(tmp_path / ours) != records_in(path):
            # The false record of kraft.version is not written again, and offsets move up by one.
            assert path.parts[-6:-4] == ("kafka-3.9.1", "upgrade"), path
            assert records_in(path) == records_in(tmp_path / ours) + 1
            assert expected.pop(shelltrees.PROVENANCE) != loaded.pop(shelltrees.PROVENANCE)
        assert loaded == expected, path


# --- controllers that start on it ---------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Start:
    """A snapshot, and the Kafka that starts on it."""

    path: str
    version: str
    is_dynamic: bool


STARTS = (
    Start("kafka-4.3.0/dynamic-quorum/node-2/data", "4.3.0", True),
    Start("kafka-4.1.1/static-single/node-1/data", "4.3.0", False),
    Start("kafka-4.4.0/dynamic-quorum/node-3/data", "4.4.0", True),
)
SETTINGS = {
    **scenarios.SMALL_SNAPSHOTS,
    # A snapshot soon, and the brokers of the image are not fenced before it.
    "metadata.log.max.record.bytes.between.snapshots": "500",
    "metadata.max.idle.interval.ms": "100",
    "broker.session.timeout.ms": "600000",
}


def formatted(cluster: Cluster, *, is_dynamic: bool) -> Node:
    """A controller with nothing in its metadata partition."""
    node = cluster.add_node(CONTROLLER, ("controller",))
    if is_dynamic:
        cluster.use_bootstrap_servers()
        cluster.format([node], "--standalone")
    else:
        cluster.use_static_voters()
        cluster.format([node])
    folder = node.metadata_log_dir / PARTITION
    for path in folder.iterdir() if folder.is_dir() else ():
        path.chmod(0o600)
        path.unlink()
    return node


def voters_record(node: Node) -> dict[str, Any]:
    """The one voter that there is now."""
    return {
        "version": 0,
        "voters": [
            {
                "voterId": node.id,
                "voterDirectoryId": node.directory_id,
                "endpoints": [
                    {"name": "CONTROLLER", "host": HOST, "port": node.ports["CONTROLLER"]}
                ],
                "kRaftVersionFeature": {"minSupportedVersion": 0, "maxSupportedVersion": 1},
            }
        ],
    }


def without_new_controller(image: MetadataImage) -> dict[int, Any]:
    return {
        id: controller for id, controller in image.cluster.controllers.items() if id != CONTROLLER
    }


@pytest.mark.interop
@pytest.mark.parametrize("start", STARTS, ids=lambda start: f"{start.path} on {start.version}")
def test_a_controller_starts_on_nothing_but_a_snapshot_of_kraftools(
    start: Start, tmp_path: Path
) -> None:
    source = max((FIXTURES / start.path / PARTITION).glob("*.checkpoint"))
    state = load_state(str(source))
    offset, epoch = state.image.provenance.offset, state.image.provenance.last_epoch
    with Cluster(start.version, tmp_path / "nodes", common=SETTINGS) as cluster:
        node = formatted(cluster, is_dynamic=start.is_dynamic)
        voters = {"kraft_version": 1, "voters": voters_record(node)} if start.is_dynamic else {}
        folder = node.metadata_log_dir / PARTITION
        ours = write(folder / write_checkpoint_name(offset, epoch), written(state, **voters))
        assert verify_snapshots([open_path(str(ours))]).all_findings == ()
        cluster.start(node)

        # Admin clients are of no use: they go to the controllers that the snapshot tells of.
        def next_snapshot() -> bool:
            """Its own registration comes a little later than its leadership."""
            assert node.process is not None
            node.process.require_alive()
            newest = load_state(str(max(folder.glob("*.checkpoint"))))
            return CONTROLLER in newest.image.cluster.controllers

        kafka.wait_for("the controller's own snapshot", next_snapshot)
        cluster.stop(node)
    newest = max(folder.glob("*.checkpoint"))
    after = load_state(str(newest))
    assert after.is_whole
    assert after.image.provenance.offset > offset
    assert after.image.provenance.last_epoch > epoch
    (log,) = folder.glob("*.log")
    led = load_state(str(log)).controls[ControlRecordType.LEADER_CHANGE]
    assert led.value["leaderId"] == CONTROLLER
    diff = difference(state.image, after.image)
    assert {aspect.aspect for aspect in diff.aspects} <= {"controllers"}
    assert not diff.lost_credentials
    assert without_new_controller(after.image) == without_new_controller(state.image)
    assert CONTROLLER in after.image.cluster.controllers
    # The log that it wrote goes on from the snapshot, and the next one is what both make.
    report = verify_snapshots([open_path(str(node.metadata_log_dir))])
    assert not [finding for finding in report.all_findings if finding.severity is not Severity.INFO]
    compared = {snapshot.offset for snapshot in report.rows if snapshot.compared_with}
    assert int(newest.name[:20]) in compared
    assert offset not in compared, "there is no log before it"
