"""The whole copies of damaged snapshots among all directories that were verified.

Owns the advice to use such a copy. Two snapshots of one offset and epoch in one cluster have the
same content, so a whole one can replace a damaged one. It refuses files of an unknown cluster.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import replace

from kraftool.reports.findings.finding import Finding, Severity
from kraftool.reports.verify.snapshot_values import VerifiedDirectory, VerifiedSnapshot


def with_whole_copies(
    directories: Sequence[VerifiedDirectory], others: Sequence[VerifiedDirectory] = ()
) -> list[VerifiedDirectory]:
    """The directories; a damaged snapshot's error names the whole copies of it."""
    return [
        replace(
            directory,
            snapshots=tuple(
                _advised(directory, snapshot, (*directories, *others))
                for snapshot in directory.snapshots
            ),
        )
        for directory in directories
    ]


def damaged_where_others_are_whole(
    other: VerifiedDirectory, directories: Sequence[VerifiedDirectory]
) -> Iterable[Finding]:
    """Yield the errors of another directory's snapshots that these directories have whole."""
    (advised,) = with_whole_copies([other], directories)
    for before, after in zip(other.snapshots, advised.snapshots, strict=True):
        if before != after:
            yield from (one for one in after.findings if one.severity is Severity.ERROR)


def _advised(
    directory: VerifiedDirectory,
    snapshot: VerifiedSnapshot,
    directories: Iterable[VerifiedDirectory],
) -> VerifiedSnapshot:
    copies = list(_copies(directory, snapshot, directories)) if _is_damaged(snapshot) else []
    errors = [one for one in snapshot.findings if one.severity is Severity.ERROR]
    if not copies or not errors:
        return snapshot
    advice = (
        f"{copies[0]} is the same snapshot, and it is whole: use it instead. Stop the node, copy"
        " that file over this one, and keep owner and permissions (cp -p)"
    )
    first = replace(
        errors[0], advice=f"{errors[0].advice}. {advice}" if errors[0].advice else advice
    )
    findings = tuple(first if one is errors[0] else one for one in snapshot.findings)
    return replace(snapshot, findings=findings)


def _is_damaged(snapshot: VerifiedSnapshot) -> bool:
    return snapshot.is_state and not snapshot.state_hash


def _copies(
    directory: VerifiedDirectory,
    snapshot: VerifiedSnapshot,
    directories: Iterable[VerifiedDirectory],
) -> Iterable[str]:
    for other in directories:
        if not directory.cluster_id or other.cluster_id != directory.cluster_id:
            continue
        for copy in other.snapshots:
            is_same = (copy.offset, copy.epoch) == (snapshot.offset, snapshot.epoch)
            is_whole = bool(copy.state_hash) and not any(
                one.severity is Severity.ERROR for one in copy.findings
            )
            if is_same and copy.is_state and is_whole and copy.file != snapshot.file:
                yield copy.file
