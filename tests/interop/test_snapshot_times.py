"""A directory of a leader whose follower was slow is healthy, and no command has a finding in it.

The leader's snapshots have the time of a later batch in their headers: see KT-SNAP-LOG-TIMESTAMP.
"""

from __future__ import annotations

from pathlib import Path

import pytest

from kraftool.decoders.control import ControlRecordType, decode_value
from tests.interop import kafka, ondisk, scenarios
from tests.interop.clusters import Cluster
from tests.interop.our_commands import kraftool
from tests.support.places import FIXTURES

COMMANDS = ("verify-log", "verify-snapshot", "doctor", "dump")


@pytest.mark.interop
@pytest.mark.soak
@pytest.mark.parametrize("version", ["3.7.2", "3.9.1", "4.3.0", "4.3.1", kafka.NEWEST])
def test_no_command_has_a_finding_in_the_directory_of_a_leader_of_today(
    version: str, tmp_path: Path
) -> None:
    if problem := kafka.available(version):
        pytest.skip(problem)
    scenario = scenarios.SCENARIOS["slow-follower"]
    with Cluster(version, tmp_path / "nodes", common=scenario.common) as cluster:
        scenario.run(cluster)
        leader = cluster.nodes[1]
    check(leader.metadata_log_dir)


@pytest.mark.parametrize("release", ["3.9.1", "4.3.0"])
def test_no_command_has_a_finding_in_a_leaders_directory(release: str) -> None:
    check(FIXTURES / f"kafka-{release}/slow-follower/node-1/data")


def check(data: Path) -> None:
    """A snapshot has the time of a later batch, and no command reports it."""
    partition = data / "__cluster_metadata-0"
    times = {
        batch.last_offset + 1: batch.header.max_timestamp
        for path in sorted(partition.glob("*.log"))
        for batch in ondisk.batches(path)
    }
    snapshots = [path for path in partition.glob("*.checkpoint") if int(path.name[:20])]
    headers = {int(path.name[:20]): header_time(path) for path in snapshots}
    assert any(headers[offset] != times[offset] for offset in headers), "a time of a later batch"
    for command in COMMANDS:
        done = kraftool(command, data)
        assert done.returncode == 0, done.stdout + done.stderr
        assert "KT-" not in done.stdout, done.stdout


def header_time(path: Path) -> int:
    record = next(iter(ondisk.batches(path)[0].records()))
    value = decode_value(ControlRecordType.SNAPSHOT_HEADER, record.value)[1]
    return int(value["lastContainedLogTimestamp"])
