"""Snapshots that kraftool writes are loaded by real Kafka, as Kafka's own are.

Kafka's classes load each fixture's snapshot twice, as Kafka wrote it and as kraftool writes it from
its image; and controllers start with nothing but such a snapshot, lead, and write the same state.
"""

from __future__ import annotations

import tempfile
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache
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
from tests.interop.recorded import Recording
from tests.interop.shared_jvms import TREES_SOURCE
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


def records_in(data: bytes) -> int:
    return sum(
        item.header.record_count
        for item in scan(lambda at, size: data[at : at + size])
        if isinstance(item, RecordBatch)
    )


@cache
def pairs() -> dict[str, tuple[bytes, bytes]]:
    """Each fixture's snapshot by its name: as Kafka wrote it, and as kraftool writes it."""
    return {
        str(path.relative_to(FIXTURES)): (
            path.read_bytes(),
            b"".join(written(load_state(str(path)))),
        )
        for path in SNAPSHOTS
    }


def _loaded() -> dict[str, Any]:
    with tempfile.TemporaryDirectory() as folder:
        names = {}
        for number, (name, both) in enumerate(pairs().items()):
            names[name] = [f"{number}/{whose}/{Path(name).name}" for whose in ("kafka", "kraftool")]
            for file, data in zip(names[name], both, strict=True):
                write(Path(folder) / file, iter([data]))
        files = [file for both in names.values() for file in both]
        trees = shelltrees.kafka_trees(files, Path(folder))
    return {name: [shelltrees.kept(trees[file]) for file in both] for name, both in names.items()}


RECORDING = Recording(
    name="snapshots-of-kraftool",
    release=kafka.TOOLS_VERSION,
    command="java/ShellTrees.java: tree FILE...",
    sources=(TREES_SOURCE,),
    about=lambda: {
        f"{name} {at}": data for name, both in pairs().items() for at, data in enumerate(both)
    },
    ask=_loaded,
)


def test_kafka_loads_what_kraftool_writes_as_it_loads_its_own() -> None:
    assert len(SNAPSHOTS) > 100
    for name, (theirs, ours) in RECORDING.answers().items():
        data, rewritten = pairs()[name]
        if records_in(rewritten) != records_in(data):
            # The false record of kraft.version is not written again, and offsets move up by one.
            assert name.startswith("kafka-3.9.1/upgrade/"), name
            assert records_in(data) == records_in(rewritten) + 1
            assert theirs.pop("provenance") != ours.pop("provenance")
        assert ours == theirs, name


# --- controllers that start on it ---------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Start:
    """A snapshot, and the Kafka that starts on it."""

    path: str
    version: str
    is_dynamic: bool

    def __str__(self) -> str:
        return f"{self.path} on {self.version}"


STARTS = (
    pytest.param(
        Start("kafka-4.3.0/dynamic-quorum/node-2/data", "4.3.0", True), marks=pytest.mark.soak
    ),
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
@pytest.mark.parametrize("start", STARTS, ids=str)
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
