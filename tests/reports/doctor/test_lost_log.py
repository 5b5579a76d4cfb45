"""A metadata partition that is gone or renamed, on directories of real Kafka.

What Kafka does on each is in tests/interop/start_claims_quorum.py.
"""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest

from tests.reports.doctor.cases import PARTITION, begun, found, node, one
from tests.reports.voter_cases import server

CODE = "KT-SIG-LOST-LOG"


def test_a_sole_node_whose_partition_is_gone_is_warned_of(combined: Path) -> None:
    shutil.rmtree(combined / PARTITION)
    diagnosis = one(CODE, combined)
    assert diagnosis.finding.file == str(combined)
    assert diagnosis.evidence[0].file == str(combined / ".kafka_cleanshutdown")
    assert "do not start Kafka" in diagnosis.finding.advice


@pytest.mark.parametrize("name", ["__cluster_metadata-1", "__cluster_metadata-0.old"])
def test_a_renamed_partition_is_named(combined: Path, name: str) -> None:
    (combined / PARTITION).rename(combined / name)
    diagnosis = one(CODE, combined)
    assert str(combined / name) in diagnosis.finding.text
    assert diagnosis.commands == (f"kraftool dump {combined / name}",)


def test_the_lock_of_a_controller_shows_that_it_ran(tmp_path: Path) -> None:
    path = node(tmp_path / "data", begun(1))
    shutil.rmtree(path / PARTITION)
    assert not found(CODE, path), "it may just have been formatted"
    (path / ".lock").touch()
    assert one(CODE, path).evidence[0].file == str(path / ".lock")


def test_the_settings_of_a_controller_make_it_an_error(tmp_path: Path) -> None:
    path = node(tmp_path / "data", begun(1))
    shutil.rmtree(path / PARTITION)
    (path / ".lock").touch()
    settings = {"log_dirs": str(path)}
    controller = server(tmp_path / "server.properties", 1, **settings)
    assert one(CODE, controller).finding.severity == "error"
    alone = server(tmp_path / "server.properties", 1, process_roles="broker", **settings)
    assert not found(CODE, alone), "a broker fetches the log again"


def test_another_log_directory_of_the_node_has_lost_nothing(combined: Path, tmp_path: Path) -> None:
    """As of a broker with several disks, of which one has the metadata."""
    other = tmp_path / "other"
    shutil.copytree(combined, other, ignore=shutil.ignore_patterns(PARTITION))
    text = (other / "meta.properties").read_text()
    lines = [line for line in text.splitlines() if not line.startswith("directory.id")]
    (other / "meta.properties").write_text("\n".join([*lines, f"directory.id={'B' * 21}A", ""]))
    assert found(CODE, other)
    assert not found(CODE, combined, other)
