"""A cluster at a glance: the summary of the audit from those of its directories.

Owns how values of several nodes become one.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence

from kraftool.reports.doctor.model import Examination
from kraftool.reports.fleet.model import ClusterSummary, DirectorySummary, ElectionDay
from kraftool.reports.text.json_forms import FindingCounts
from kraftool.reports.text.times import utc
from kraftool.spark.audit.audit_summary import voters_of
from kraftool.spark.audit.examine import AuditedDirectory

_MOST_DAYS = 60
_LATEST = 1 << 47
"""Times beyond this are no times of Kafka's."""


def cluster_summary(
    name: str,
    members: Sequence[AuditedDirectory],
    examination: Examination,
    between: FindingCounts,
    divergences: int,
) -> ClusterSummary:
    """The summary; the members are in order, those of the cluster's own id first."""
    all_of = [member.summary for member in members]
    furthest = max(all_of, key=lambda summary: (summary.epoch or -1, summary.end_offset or -1))
    voting = [summary for summary in all_of if summary.quorum_epoch is not None]
    newest = max(
        voting,
        key=lambda summary: (summary.quorum_epoch or 0, summary.leader_id is not None),
        default=None,
    )
    ends = _known(summary.end_offset for summary in all_of)
    elections = _elections(members)
    return ClusterSummary(
        name=name,
        cluster_id=next((summary.cluster_id for summary in all_of if summary.cluster_id), None),
        directories=len(all_of),
        node_ids=tuple(sorted(set(_known(summary.node_id for summary in all_of)))),
        live=sum(summary.is_live for summary in all_of),
        size=sum(summary.size for summary in all_of),
        batches=sum(summary.batches for summary in all_of),
        records=sum(summary.records for summary in all_of),
        start_offset=min(_known(summary.start_offset for summary in all_of), default=None),
        end_offset=max(ends, default=None),
        lowest_end_offset=min(ends, default=None),
        lag=max(ends) - min(ends) if ends else None,
        epoch=furthest.epoch,
        leader_id=newest.leader_id if newest is not None else None,
        first_timestamp=min(_known(summary.first_timestamp for summary in all_of), default=None),
        last_timestamp=max(_known(summary.last_timestamp for summary in all_of), default=None),
        newest_snapshot_offset=max(
            _known(summary.newest_snapshot_offset for summary in all_of), default=None
        ),
        metadata_versions=_releases(all_of),
        kraft_versions=tuple(sorted(set(_known(summary.kraft_version for summary in all_of)))),
        voters=voters_of(examination.voters.voters),
        topics=furthest.topics,
        partitions=furthest.partitions,
        brokers=furthest.brokers,
        elections=len(elections),
        elections_by_day=_by_day(elections.values()),
        divergences=divergences,
        finding_counts=sum((summary.finding_counts for summary in all_of), between),
        between_counts=between,
    )


def _known(values: Iterable[int | None]) -> list[int]:
    return [value for value in values if value is not None]


def _releases(members: Sequence[DirectorySummary]) -> tuple[str, ...]:
    """The releases of metadata.version, lowest first."""
    levels = {
        member.metadata_version: member.metadata_release or str(member.metadata_version)
        for member in members
        if member.metadata_version is not None
    }
    return tuple(levels[level] for level in sorted(levels))


def _elections(members: Sequence[AuditedDirectory]) -> dict[int, int]:
    """The time of each epoch's LeaderChange, whichever log has it."""
    return {
        election.epoch: election.timestamp
        for member in members
        if member.examined is not None
        for election in member.examined.statistics.elections
    }


def _by_day(times: Iterable[int]) -> tuple[ElectionDay, ...]:
    days = Counter(utc(time, "%Y-%m-%d") for time in times if 0 <= time < _LATEST)
    return tuple(ElectionDay(*item) for item in sorted(days.items())[-_MOST_DAYS:])
