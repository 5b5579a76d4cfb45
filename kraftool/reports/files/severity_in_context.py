"""Findings of one file, weighed by where the file stands: last or not, on a running node or not.

Owns these rules for every command.
"""

from __future__ import annotations

from dataclasses import replace

from kraftool.directory.log_summary import LogSummary
from kraftool.reports.findings.finding import Finding, Severity
from kraftool.reports.findings.kinds import log as log_kinds

_TAILS = frozenset({log_kinds.TORN_TAIL.code, log_kinds.ZERO_TAIL.code})
"""What Kafka cuts off at a log's end; garbage there has the code of damage, and less weight."""
_MOVING = frozenset({log_kinds.INDEX.code, log_kinds.INDEX_DIFFERS.code})
"""A running node goes on writing between the reading of a segment and that of its indexes."""
CUTTING = frozenset({log_kinds.CRC.code, log_kinds.DAMAGE.code})
"""At these findings Kafka cuts the log when it starts."""


def left_by_truncation(finding: Finding, active: LogSummary | None, *, roomy: bool) -> Finding:
    """An entry that does not fit, at the end of an index of the segment that is written to.

    A node that lost an election cuts its log at the end of what it has in common with the leader,
    and the leader's epochs follow there. Of its indexes it forgets entries from there on without
    wiping them, until others overwrite them. `roomy`: the file has its preallocated space; without
    it only an entry where an epoch begins is taken for one that was left.
    """
    if finding.code != log_kinds.INDEX_DIFFERS.code or finding.offset is None:
        return finding
    elected = [epoch.start_offset for epoch in active.epochs[1:]] if active is not None else []
    if not (
        any(start_offset <= finding.offset for start_offset in elected)
        if roomy
        else finding.offset in elected
    ):
        return finding
    text = f"{finding.text}: left over from records that were truncated after an election was lost"
    return replace(
        finding.saying(text),
        severity=Severity.INFO,
        undecoded=False,
        advice="nothing to do: Kafka recreates the index when it starts",
    )


def weighed(
    finding: Finding, *, is_last: bool = True, is_live: bool = False, lost: str | None = None
) -> Finding:
    """A segment's or index's finding in its place.

    `is_last`: no other segment follows. `is_live`: another process holds the directory's lock.
    `lost`: what Kafka's start would take away from the log, if it is known.
    """
    garbage = finding.code == log_kinds.DAMAGE.code and finding.severity is Severity.WARNING
    if (finding.code in _TAILS or garbage) and not is_last:
        fault = finding.saying(f"{finding.text}, and another segment follows").fault
        return log_kinds.DAMAGE.of(fault, advice=lost, count=finding.count)
    if finding.code == log_kinds.TORN_TAIL.code and is_live:
        text = "the running node is writing a batch"
        return replace(finding.saying(text), severity=Severity.INFO, undecoded=False, advice="")
    if finding.code in _MOVING and is_live:
        return replace(finding, severity=Severity.INFO, undecoded=False)
    if finding.code in CUTTING and lost is not None:
        return replace(finding, advice=lost)
    return finding
