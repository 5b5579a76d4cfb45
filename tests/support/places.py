"""Where tests find what they read: this checkout, its fixtures, and the files in a directory."""

from __future__ import annotations

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
