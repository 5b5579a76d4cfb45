"""The kraft.version that a metadata record claims, and no control record bears out.

Owns the one rule about it. Kafka 3.9 answers an upgrade of kraft.version with success, and writes
only a FeatureLevelRecord.
"""

from __future__ import annotations

from kraftool.reports.findings.finding import Finding
from kraftool.reports.findings.kinds import log as log_kinds


def false_upgrade(
    where: str, claimed: int | None, level: int, *, offset: int | None = None
) -> Finding | None:
    """The finding, if the level that is claimed is above the one of the control records."""
    if claimed is None or claimed <= level:
        return None
    return log_kinds.FALSE_UPGRADE.at(
        where,
        "a metadata record sets kraft.version, but no KRaftVersion control record confirms it",
        offset=offset,
        expected=str(level),
        found=str(claimed),
    )
