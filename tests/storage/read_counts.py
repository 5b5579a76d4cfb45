"""The bytes that code reads of each file."""

from __future__ import annotations

import os
from collections import Counter

import pytest

from kraftool.decoders.kinds import HEAD_SIZE
from kraftool.storage.source import FileSource


def count_bytes_read(monkeypatch: pytest.MonkeyPatch) -> Counter[str]:
    """Return the bytes that are read of each file from now on, by its path."""
    counted: Counter[str] = Counter()
    read_at = FileSource.read_at

    def counting(self: FileSource, position: int, size: int) -> bytes:
        data = read_at(self, position, size)
        counted[os.readlink(f"/proc/self/fd/{self.fileno()}")] += len(data)
        return data

    monkeypatch.setattr(FileSource, "read_at", counting)
    return counted


def assert_read_once(read: Counter[str], *, again: int = 0) -> None:
    """Each log and snapshot was read once, but for `again` bytes and a look at its first ones."""
    logs = [path for path in read if path.endswith((".log", ".checkpoint"))]
    assert len(logs) >= 2
    for path in logs:
        assert read[path] <= os.path.getsize(path) + HEAD_SIZE + again, path
