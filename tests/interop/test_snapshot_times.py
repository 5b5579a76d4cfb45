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

pytestmark = pytest.mark.interop

COMMANDS = ("verify-log", "verify-snapshot", "doctor", "dump")


@pytest.mark.parametrize(
    "version",
    [
        "4.3.0",
        *(
            pytest.param(release, marks=pytest.mark.soak)
            for release in ("3.7.2", "3.9.1", kafka.NEWEST)
        ),
    ],
)
def test_no_command_has_a_finding_in_a_leaders_directory(version: str, tmp_path: Path) -> None:
    if problem := kafka.available(version):
        pytest.skip(problem)
    scenario = scenarios.SCENARIOS["slow-follower"]
    with Cluster(version, tmp_path / "nodes", common=scenario.common) as cluster:
        scenario.run(cluster)
        leader = cluster.nodes[1]
    times = {
        batch.last_offset + 1: batch.header.max_timestamp
        for path in ondisk.segments(leader)
        for batch in ondisk.batches(path)
    }
    headers = {int(path.name[:20]): header_time(path) for path in ondisk.snapshots(leader)}
    assert any(headers[offset] != times[offset] for offset in headers), "a time of a later batch"
    for command in COMMANDS:
        done = kraftool(command, leader.metadata_log_dir)
        assert done.returncode == 0, done.stdout + done.stderr
        assert "KT-" not in done.stdout, done.stdout


def header_time(path: Path) -> int:
    record = next(iter(ondisk.batches(path)[0].records()))
    value = decode_value(ControlRecordType.SNAPSHOT_HEADER, record.value)[1]
    return int(value["lastContainedLogTimestamp"])
