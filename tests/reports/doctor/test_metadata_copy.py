"""A second metadata partition beside the one that Kafka uses.

What Kafka does on it is in tests/interop/start_claims_quorum.py.
"""

from __future__ import annotations

import shutil
from pathlib import Path

from tests.reports.doctor.cases import PARTITION, begun, broker, found, level, node, one

COPY = "KT-SIG-METADATA-COPY"


def test_a_second_partition_is_warned_of(combined: Path) -> None:
    assert not found(COPY, combined)
    second = combined / "__cluster_metadata-1"
    shutil.copytree(combined / PARTITION, second)
    diagnosis = one(COPY, combined)
    assert diagnosis.finding.file == str(second)
    assert diagnosis.commands[-1] == f"mv {second} {combined}.__cluster_metadata-1"


def test_a_folder_that_no_broker_takes_is_told_once(tmp_path: Path) -> None:
    path = node(tmp_path / "data", begun(1).data_batch(level(), broker(1)))
    (path / "__cluster_metadata-0.aside").mkdir()
    assert found("KT-SIG-FOLDER-NAME", path)
    assert not found(COPY, path)
