"""Words for logs that part: which side is known to be right, and what to do about the other.

Owns the advice that `doctor` and `pipeline audit` give alike.
"""

from __future__ import annotations

from collections.abc import Sequence

from kraftool.reports.findings.finding import FindingKind, Severity

EPOCH_ALONE = (
    "only partitionLeaderEpoch differs, which no CRC covers: a flipped bit or an edit."
    " Keep a copy. Then, while the others have a leader, stop Kafka on this node and move"
    " all of __cluster_metadata-0 except quorum-state away (not meta.properties). The node then"
    " fetches everything again"
)
NOTHING_IN_COMMON = (
    "this is the log of another cluster, or of a quorum that was formatted again. Find its owner"
    " by the directory ids of its voters. Delete nothing: it may be the only log that its"
    " cluster has. Do not start Kafka on either side before that"
)
NEITHER_IS_KNOWN = (
    "nothing here shows which side is right. Run kraftool verify-snapshot on each: if a log was"
    " altered later, its snapshots differ from the state that it now produces (KT-SNAP-DIFFERS)."
    " Then: "
)


def tail_severity(
    last_epoch: int, epoch: int, *, alone: bool, others: int, snapshot_beyond: bool
) -> Severity:
    """Return how bad it is that a log has other records than logs of a later epoch.

    A leader that was stopped leaves a tail that nobody else has, and Kafka truncates it. It is that
    if one log alone has it, all of it is of epochs below the one that the others have there, and no
    snapshot shows that it was committed. One log against one does not show which is the rare one.
    """
    if not alone or last_epoch >= epoch or snapshot_beyond:
        return Severity.ERROR
    return Severity.INFO if others > 1 else Severity.WARNING


def advice(kind: FindingKind, agreeing: Sequence[str], *, is_majority: bool) -> str:
    """Return what to do where some agree, and whether they are more than any other side."""
    if not is_majority:
        return NEITHER_IS_KNOWN + kind.advice
    names = " and ".join(agreeing)
    return f"{names} agree, which is evidence for them. {kind.advice[0].upper()}{kind.advice[1:]}"
