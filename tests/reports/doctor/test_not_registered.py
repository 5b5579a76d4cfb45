"""A voter that has not registered, and what it is to register at."""

from __future__ import annotations

import shutil
from pathlib import Path

from tests.reports.doctor.cases import begun, controller, doctor, found, level, node, one


def quorum(path: Path, metadata_version: int, *registered: int) -> Path:
    registrations = [controller(voter_id) for voter_id in registered]
    return node(path, begun().data_batch(level(metadata_version), *registrations))


def test_a_voter_that_has_not_registered_is_named(tmp_path: Path) -> None:
    diagnosis = one("KT-SIG-NOT-REGISTERED", quorum(tmp_path / "data", 30, 1, 2))
    assert "voter 3 at CONTROLLER://c3.example:9090" in diagnosis.finding.text
    assert diagnosis.commands[1].endswith(
        "remove-controller --controller-id 3 --controller-directory-id Directory-of-node-003A"
    )


def test_all_registered_or_an_old_metadata_version_is_fine(tmp_path: Path) -> None:
    assert not found("KT-SIG-NOT-REGISTERED", quorum(tmp_path / "a", 30, 1, 2, 3))
    assert not found("KT-SIG-NOT-REGISTERED", quorum(tmp_path / "b", 14))


def test_what_a_damaged_snapshot_lacks_is_not_missing(tmp_path: Path, fixtures_dir: Path) -> None:
    """The controller's registration is in it, but cannot be read any more."""
    data = tmp_path / "data"
    shutil.copytree(fixtures_dir / "kafka-4.3.0/log-cleaning/node-1/data", data)
    register = bytes([1, 27, 0])  # frame version, api key and version of a RegisterControllerRecord
    for snapshot in (data / "__cluster_metadata-0").glob("*.checkpoint"):
        content = bytearray(snapshot.read_bytes())
        after = content.index(register) + len(register)
        content[after + 4 + 16 + 1] = 0xFF  # more endpoints than there are bytes
        snapshot.chmod(0o600)
        snapshot.write_bytes(content)
    codes = {finding.code for finding in doctor(data).findings}
    assert "KT-SNAP-DAMAGE" in codes
    assert "KT-SIG-NOT-REGISTERED" not in codes
