"""One cluster's part of the audit: its directories in, all rows of its findings and summaries out.

Owns the task that the workers run for each cluster. It refuses to compare the batches of logs of
which too little is known: such a cluster comes back once they were read again.
"""

from __future__ import annotations

import pickle
from collections.abc import Iterator, Sequence
from dataclasses import replace
from functools import reduce

from kraftool.reports.findings.mutes import FindingFilter
from kraftool.spark.audit.cluster import ClusterMembers, Misplaced, compare, in_company
from kraftool.spark.audit.examine import AuditedDirectory
from kraftool.spark.audit.examined import key_text
from kraftool.spark.audit.fleet_totals import both, of_cluster, of_directory
from kraftool.spark.audit.frames import (
    cluster_row,
    counts_row,
    directory_row,
    divergence_row,
    finding_row,
    uncompared_row,
)
from kraftool.spark.audit.identities import may_differ
from kraftool.spark.values import Row


def compared(
    key: bytes,
    rows: Sequence[Row],
    left_out: FindingFilter,
    misplaced: Misplaced,
    *,
    is_read: bool = False,
) -> Iterator[Row]:
    """The rows of a cluster, or the name of one whose logs have to be read again."""
    name = key_text(key)
    held = ((number, audited) for _, number, audited, _ in rows if audited is not None)
    directories: list[AuditedDirectory] = [pickle.loads(audited) for _, audited in sorted(held)]
    logs = [one.batches for one in directories if one.summary.name not in misplaced.log_of]
    if not is_read and len(logs) > 1 and may_differ(logs):
        yield uncompared_row(name)
        return
    members = in_company([_at_home(one, name) for one in directories])
    divergences = [pickle.loads(held) for *_, held in rows if held is not None]
    cluster = ClusterMembers(
        name=name,
        members=tuple(sorted(members, key=lambda member: member.summary.name)),
        divergences=tuple(sorted(divergences, key=lambda divergence: divergence.first_offset)),
        misplaced=misplaced,
    )
    yield from _rows(members, cluster, left_out)


def _rows(
    members: Sequence[AuditedDirectory], cluster: ClusterMembers, left_out: FindingFilter
) -> Iterator[Row]:
    result = compare(cluster, left_out)
    totals = of_cluster(result.summary)
    counts = replace(totals, ignored=result.ignored, muted_findings=result.muted)
    sums = (
        replace(of_directory(member.summary), ignored=member.ignored, muted_findings=member.muted)
        for member in members
    )
    findings = [finding for member in members for finding in member.findings]
    findings += result.findings
    yield counts_row(reduce(both, sums, counts))
    yield cluster_row(result.summary, findings)
    yield from map(directory_row, (member.summary for member in members))
    yield from map(finding_row, findings)
    yield from map(divergence_row, cluster.divergences)


def _at_home(audited: AuditedDirectory, cluster: str) -> AuditedDirectory:
    """The directory with the name of its cluster."""
    return replace(
        audited,
        summary=replace(audited.summary, cluster=cluster),
        findings=tuple(replace(finding, cluster=cluster) for finding in audited.findings),
    )
