"""Doctor reads each log and the newest snapshot once."""

from __future__ import annotations

from collections import Counter

import pytest

from kraftool.reports.doctor.read import examine
from kraftool.storage.paths import open_path
from tests.storage.read_counts import assert_read_once, count_bytes_read
from tests.support.places import FIXTURES


@pytest.fixture
def read(monkeypatch: pytest.MonkeyPatch) -> Counter[str]:
    return count_bytes_read(monkeypatch)


@pytest.mark.parametrize("name", ["dynamic-quorum/node-2", "log-cleaning/node-1"])
def test_doctor_reads_each_log_once(name: str, read: Counter[str]) -> None:
    examination = examine([open_path(str(FIXTURES / "kafka-4.3.0" / name / "data"))])
    (examined,) = examination.directories
    assert examined.state is not None
    assert_read_once(read)
