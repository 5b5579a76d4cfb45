"""Directories of one cluster at different levels of metadata.version or kraft.version.

Owns when that is odd: a log that ends before the change is behind, one that goes beyond it has
another history. Being behind is normal for a node that was removed and for one that runs; a voter
that lies still and lacks such a change would vote by what is no longer so.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Sequence

from kraftool.reports.findings.finding import Finding, FindingKind, Severity
from kraftool.reports.findings.kinds import fleet as kinds
from kraftool.spark.audit.audit_summary import METADATA_VERSION
from kraftool.spark.audit.examine import AuditedDirectory

_Level = tuple[int, str, int | None]
"""The level, its name, and the offset of the record that set it, where the log has it."""


def mixed_levels(members: Sequence[AuditedDirectory], voters: Collection[int]) -> Iterator[Finding]:
    """Each directory whose level is not that of the one that is furthest.

    `voters` are the ids of those that vote now.
    """
    yield from _mixed(members, voters, kinds.METADATA_VERSION, METADATA_VERSION, _metadata_version)
    yield from _mixed(members, voters, kinds.KRAFT_VERSION, "kraft.version", _kraft_version)


def may_be_behind(examined: AuditedDirectory, voters: Collection[int]) -> bool:
    """True if nothing is odd about a directory that lacks the newest changes."""
    return examined.summary.is_live or examined.summary.node_id not in voters


def _mixed(
    members: Sequence[AuditedDirectory],
    voters: Collection[int],
    kind: FindingKind,
    name: str,
    level_of: Callable[[AuditedDirectory], _Level | None],
) -> Iterator[Finding]:
    levels = [(member, level) for member in members if (level := level_of(member)) is not None]
    if len({level[0] for _, level in levels}) < 2:
        return
    furthest, newest = max(levels, key=lambda member_level: _rank(member_level[0]))
    for audited_directory, level in levels:
        if level[0] == newest[0]:
            continue
        end = _rank(audited_directory)[1]
        since = newest[2] if newest[2] is not None else furthest.summary.newest_snapshot_offset
        is_behind = since is not None and end <= since
        text = f"not at the {name} of {furthest.summary.name}"
        if is_behind:
            text += f", which changed at offset {since}: it is behind"
        yield kind.at(
            audited_directory.summary.name,
            text,
            offset=level[2],
            field=name,
            expected=newest[1],
            found=level[1],
            severity=Severity.INFO
            if is_behind and may_be_behind(audited_directory, voters)
            else None,
        )


def _rank(directory: AuditedDirectory) -> tuple[int, int]:
    """Return how up to date it is: its last epoch, then its end; a snapshot counts where there is
    no log.
    """
    summary = directory.summary
    epoch = summary.epoch if summary.epoch is not None else summary.newest_snapshot_epoch
    end = max(summary.end_offset or 0, summary.newest_snapshot_offset or 0)
    return epoch if epoch is not None else -1, end


def _metadata_version(directory: AuditedDirectory) -> _Level | None:
    examined = directory.examined
    feature = examined.summary.feature(METADATA_VERSION) if examined is not None else None
    return (feature.level, feature.release, feature.offset) if feature is not None else None


def _kraft_version(directory: AuditedDirectory) -> _Level | None:
    if directory.examined is None or directory.summary.kraft_version is None:
        return None
    history = directory.examined.source.history.entries
    levels = [entry for entry in history if entry.kraft_version is not None]
    offset = levels[-1].offset if levels else None
    return directory.summary.kraft_version, str(directory.summary.kraft_version), offset
