"""Findings of one file, weighed by where the file stands: last or not, on a running node or not.

Owns these rules for every command. It refuses to find anything itself.
"""

from __future__ import annotations

from dataclasses import replace

from kraftool.reports.findings import Finding, Severity
from kraftool.reports.kinds import log as log_kinds

_TAILS = frozenset({log_kinds.TORN_TAIL.code, log_kinds.ZERO_TAIL.code})
_MOVING = frozenset({log_kinds.INDEX.code, log_kinds.INDEX_DIFFERS.code})
"""A running node goes on writing between the reading of a segment and that of its indexes."""
CUTTING = frozenset({log_kinds.CRC.code, log_kinds.DAMAGE.code})
"""At these findings Kafka cuts the log when it starts."""


def weighed(
    finding: Finding, *, is_last: bool = True, is_live: bool = False, lost: str | None = None
) -> Finding:
    """A segment's or index's finding in its place.

    `is_last`: no other segment follows. `is_live`: another process holds the directory's lock.
    `lost`: what Kafka's start would take away from the log, if it is known.
    """
    if finding.code in _TAILS and not is_last:
        return replace(
            finding,
            code=log_kinds.DAMAGE.code,
            severity=log_kinds.DAMAGE.severity,
            undecoded=log_kinds.DAMAGE.undecoded,
            text=f"{finding.text}, and another segment follows",
            advice=lost or log_kinds.DAMAGE.advice,
        )
    if finding.code == log_kinds.TORN_TAIL.code and is_live:
        text = "a batch is being written by the running node"
        return replace(finding, severity=Severity.INFO, undecoded=False, text=text, advice="")
    if finding.code in _MOVING and is_live:
        return replace(finding, severity=Severity.INFO, undecoded=False)
    if finding.code in CUTTING and lost is not None:
        return replace(finding, advice=lost)
    return finding
