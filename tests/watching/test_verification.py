"""A directory verified on demand: what both commands find, once, with progress, and to be stopped.

The findings are held against those of verify-log and verify-snapshot themselves.
"""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest

from kraftool.reports.files.locations import open_paths
from kraftool.reports.findings.finding import Severity
from kraftool.reports.text.json_document import json_value
from kraftool.reports.verify.log import verify_logs
from kraftool.reports.verify.snapshot import verify_snapshots
from kraftool.watching.child_process import apart
from kraftool.watching.task import StoppedError, Task
from kraftool.watching.verification import verify


def _sound(fixtures_dir: Path, into: Path) -> Path:
    """A controller's directory."""
    source = fixtures_dir / "kafka-4.3.0" / "dynamic-quorum" / "node-2" / "data"
    return Path(shutil.copytree(source, into / "data", ignore=shutil.ignore_patterns(".lock")))


def _damaged(fixtures_dir: Path, into: Path) -> Path:
    """One with a bit of its log flipped, and a quorum-state that is cut."""
    directory = _sound(fixtures_dir, into)
    log = directory / "__cluster_metadata-0" / "00000000000000000000.log"
    data = bytearray(log.read_bytes())
    data[9000] ^= 4
    log.write_bytes(data)
    (directory / "__cluster_metadata-0" / "quorum-state").write_text('{"leaderId":')
    return directory


def test_a_sound_directory_is_verified(fixtures_dir: Path, tmp_path: Path) -> None:
    path = _sound(fixtures_dir, tmp_path)
    verification = verify(str(path), 7, Task())
    assert all(finding.severity is Severity.INFO for finding in verification.findings)
    assert verification.verdict() == "verified"
    assert verification.what_was_checked == "13 files, 38.1 kB, 116 batches, 421 records"
    assert len(verification.state_hashes) == 5
    assert verification.began == 7


def test_it_finds_what_both_commands_find(fixtures_dir: Path, tmp_path: Path) -> None:
    directory = _damaged(fixtures_dir, tmp_path)
    verification = verify(str(directory), 0, Task())
    locations, _ = open_paths([str(directory)])
    both = {*verify_logs(locations).rows, *verify_snapshots(locations).all_findings}
    assert set(verification.findings) == both
    assert len(verification.findings) == len(both)
    assert verification.findings[0].severity is Severity.ERROR
    in_log = verification.of(f"{directory}/__cluster_metadata-0/00000000000000000000.log")
    assert {finding.code for finding in in_log} >= {"KT-LOG-CRC"}
    assert all(finding.position is not None for finding in in_log)
    counts = json_value(verification)["findingCounts"]
    assert counts["error"] == sum(
        finding.severity is Severity.ERROR for finding in verification.findings
    )


def test_a_path_that_is_not_there_is_a_finding() -> None:
    verification = verify("/no/such/directory", 0, Task())
    assert [finding.code for finding in verification.findings] == ["KT-DIR-READ"]


def test_a_process_of_its_own_finds_the_same_and_tells_how_far_it_is(
    fixtures_dir: Path, tmp_path: Path
) -> None:
    directory = _damaged(fixtures_dir, tmp_path)
    labels: list[str] = []

    class Watching(Task):
        def set(self, label: str, done: int, total: int | None) -> None:
            super().set(label, done, total)
            labels.append(label)

    verification = apart(verify, str(directory), 0, task=Watching())
    assert verification == verify(str(directory), 0, Task())
    assert labels[0] == "reading log and files"
    assert labels[-1] == "comparing snapshots with the log"


def test_it_stops_where_it_is(fixtures_dir: Path) -> None:
    path = fixtures_dir / "kafka-4.3.0" / "dynamic-quorum" / "node-2" / "data"
    task = Task()
    task.stop()
    with pytest.raises(StoppedError):
        verify(str(path), 0, task)
