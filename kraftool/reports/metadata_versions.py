"""metadata.version levels by the names of the releases that they came with.

Owns the table, up to Kafka 4.4. A level that it lacks is one of a newer Kafka and has no name.
"""

from __future__ import annotations

METADATA_VERSION = "metadata.version"
OLDEST_KRAFT_LEVEL = 7
"""The lowest that Kafka 4.0 and later start with."""

_NAMES = {
    1: "3.0-IV1", 2: "3.1-IV0", 3: "3.2-IV0", 4: "3.3-IV0", 5: "3.3-IV1", 6: "3.3-IV2",
    7: "3.3-IV3", 8: "3.4-IV0", 9: "3.5-IV0", 10: "3.5-IV1", 11: "3.5-IV2", 12: "3.6-IV0",
    13: "3.6-IV1", 14: "3.6-IV2", 15: "3.7-IV0", 16: "3.7-IV1", 17: "3.7-IV2", 18: "3.7-IV3",
    19: "3.7-IV4", 20: "3.8-IV0", 21: "3.9-IV0", 22: "4.0-IV0", 23: "4.0-IV1", 24: "4.0-IV2",
    25: "4.0-IV3", 26: "4.1-IV0", 27: "4.1-IV1", 28: "4.2-IV0", 29: "4.2-IV1", 30: "4.3-IV0",
    31: "4.4-IV0", 32: "4.4-IV1", 33: "4.4-IV2",
}  # fmt: skip


def release_name(feature: str, level: int) -> str:
    """The release that a level of metadata.version came with; empty for anything else."""
    return _NAMES.get(level, "") if feature == METADATA_VERSION else ""
