"""Words for logs that part: which side is known to be right, and what to do about the other.

Owns the advice that `doctor` and `pipeline audit` give alike. It refuses to find where logs part.
"""

from __future__ import annotations

from collections.abc import Sequence

from kraftool.reports.findings.finding import FindingKind, Severity

EPOCH_ALONE = (
    "no record differs, only partitionLeaderEpoch, which no CRC covers: a flipped bit or an edit."
    " Keep a copy; then, while the others have a leader and with Kafka stopped on this node, move"
    " all of __cluster_metadata-0 but quorum-state away (not meta.properties), so that it fetches"
    " everything anew"
)
NOTHING_IN_COMMON = (
    "this is the log of another cluster, or of a quorum that was formatted anew: find out whose it"
    " is, by the directory ids of its voters, and delete nothing; it may be the only one that its"
    " cluster has. Start Kafka on neither before"
)
NEITHER_IS_KNOWN = (
    "nothing here tells which of the sides is right. kraftool verify-snapshot on each may: the"
    " snapshots of a log that was altered later are not what the log makes now (KT-SNAP-DIFFERS)."
    " Then: "
)


def tail_severity(
    last_epoch: int, epoch: int, *, alone: bool, others: int, snapshot_beyond: bool
) -> Severity:
    """How bad it is that a log has other records than logs of a later epoch.

    A leader that was stopped leaves a tail that nobody else has, and Kafka truncates it. It is that
    if one log alone has it, all of it is of epochs below the one that the others have there, and no
    snapshot shows that it was committed. One log against one does not show which is the rare one.
    """
    if not alone or last_epoch >= epoch or snapshot_beyond:
        return Severity.ERROR
    return Severity.INFO if others > 1 else Severity.WARNING


def advice(kind: FindingKind, agreeing: Sequence[str], *, is_majority: bool) -> str:
    """What to do where some agree, and whether they are more than any other side."""
    if not is_majority:
        return NEITHER_IS_KNOWN + kind.advice
    names = " and ".join(agreeing)
    return f"{names} agree, which speaks for them. {kind.advice[0].upper()}{kind.advice[1:]}"
