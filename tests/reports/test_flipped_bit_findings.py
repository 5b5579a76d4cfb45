"""Findings name the bit that explains the damage of a log, if one flipped bit does."""

from __future__ import annotations

from pathlib import Path

import pytest

from kraftool.reports.directory.report import read_location
from kraftool.storage.paths import open_path


@pytest.mark.parametrize(
    ("name", "words"),
    [
        ("flipped-bit-in-crc", "bit 0 of the byte at 1162 (crc)"),
        ("flipped-bit-in-header", "bit 4 of the byte at 1168 (lastOffsetDelta)"),
        ("flipped-bit-in-record", "bit 0 of the byte at 1218 (records)"),
        ("zero-filled-middle", ""),
        ("torn-tail", ""),
    ],
)
def test_the_bit_is_named(fixtures_dir: Path, name: str, words: str) -> None:
    location = open_path(str(fixtures_dir / "damaged" / name))
    texts = [finding.text for finding in read_location(location).all_findings]
    named = [text for text in texts if "one flipped bit explains it" in text]
    assert len(named) == bool(words), texts
    assert not words or named[0].endswith(words)
