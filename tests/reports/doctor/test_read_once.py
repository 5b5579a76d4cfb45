"""Doctor reads each log and the newest snapshot once."""

from __future__ import annotations

import os
from collections import Counter
from pathlib import Path

import pytest

from kraftool.decoders.kinds import HEAD_SIZE
from kraftool.reports.doctor.read import examine
from kraftool.storage.paths import open_path
from kraftool.storage.source import FileSource

FIXTURES = Path(__file__).parents[3] / "fixtures"


@pytest.fixture
def read(monkeypatch: pytest.MonkeyPatch) -> Counter[str]:
    """The bytes that were read of each file, by its path."""
    counted: Counter[str] = Counter()
    read_at = FileSource.read_at

    def counting(self: FileSource, position: int, size: int) -> bytes:
        data = read_at(self, position, size)
        counted[os.readlink(f"/proc/self/fd/{self.fileno()}")] += len(data)
        return data

    monkeypatch.setattr(FileSource, "read_at", counting)
    return counted


@pytest.mark.parametrize("name", ["dynamic-quorum/node-2", "log-cleaning/node-1"])
def test_doctor_reads_each_log_once(name: str, read: Counter[str]) -> None:
    examination = examine([open_path(str(FIXTURES / "kafka-4.3.0" / name / "data"))])
    (patient,) = examination.patients
    assert patient.state is not None
    logs = [each for each in read if each.endswith((".log", ".checkpoint"))]
    assert len(logs) >= 2
    for path in logs:
        assert read[path] <= os.path.getsize(path) + HEAD_SIZE, path
