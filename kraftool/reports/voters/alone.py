"""What the voters of one directory show without any other.

Owns the rules of which every report of a directory tells: dump, verify-log, verify-snapshot and
doctor have them from here, diff-voters asks the same rules of several sources. It refuses to read.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

from kraftool.reports.files.notes import bounded
from kraftool.reports.findings.finding import Finding
from kraftool.reports.findings.kinds import directory as dir_kinds
from kraftool.reports.findings.kinds import log as log_kinds
from kraftool.reports.findings.kinds import snapshot as snap_kinds
from kraftool.reports.voters import node_rules
from kraftool.reports.voters.commit import with_verdicts
from kraftool.reports.voters.node_directory import NodeDirectory

TOLD_ALONE = frozenset(
    finding_kind.code
    for finding_kind in (
        dir_kinds.NODE_ID_EDITED, dir_kinds.NOT_A_VOTER, dir_kinds.STALE_VOTER,
        log_kinds.VOTERS_JUMP, snap_kinds.LOG_VOTERS,
    )
)  # fmt: skip
"""The kinds of these rules, which a comparison of sources tells anew in the light of all."""


def voter_findings(directory: NodeDirectory) -> Iterator[Finding]:
    """Yield what a directory's own voters show: who the node is beside them, jumps, snapshots."""
    # How meta.properties fits the settings is reported where both are read.
    settings = replace(directory.settings, node_id=None) if directory.settings else None
    sources = with_verdicts([replace(directory, name=directory.path, settings=settings)])
    yield from directory.history.findings
    yield from bounded(node_rules.membership(sources))
    yield from bounded(node_rules.jumps(sources))
