"""Where tests find what they read: this checkout, its fixtures, and the files in a directory."""

from __future__ import annotations

from collections.abc import Iterable
from hashlib import sha256
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
"""This checkout."""
FIXTURES = ROOT / "fixtures"
"""What real Kafka wrote, read only."""
PARTITION = "__cluster_metadata-0"
"""The folder of the metadata in a data directory."""
LOG = f"{0:020}.log"
"""The first segment of a log."""


def fixture_name(path: Path) -> str:
    """Return the path of a fixture below `fixtures`, as a name of a test's case."""
    return str(path.relative_to(FIXTURES))


def distinct(paths: Iterable[Path]) -> list[Path]:
    """Return one of the files of a name that have the same bytes, as half of the fixtures have."""
    kept = {(path.name, sha256(path.read_bytes()).digest()): path for path in sorted(paths)[::-1]}
    return sorted(kept.values())
