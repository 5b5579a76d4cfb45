"""A node whose log ends far before another's in the same epoch.

Records count that the other has one after the other: an offset behind damage or a gap is no record.
"""

from __future__ import annotations

from collections.abc import Iterator

from kraftool.reports.doctor import tools
from kraftool.reports.doctor.model import Diagnosis, Evidence, Examination
from kraftool.reports.findings.finding import Severity
from kraftool.reports.findings.kinds import SIGNATURES

KIND = SIGNATURES.kind(
    "LAG",
    Severity.WARNING,
    "A node's log ends more than 1000 records before another's in the same epoch. The node"
    " does not keep up, or its directory was copied earlier.",
    "check its disk and network. Do not restart the others before it has caught up",
)

_MOST_RECORDS = 1000


def find(examination: Examination) -> Iterator[Diagnosis]:
    for directories in examination.clusters():
        logs = [(directory, directory.summary.log) for directory in directories]
        ends = [
            (directory, log)
            for directory, log in logs
            if log is not None and log.last_epoch is not None
        ]
        if len(ends) < 2:
            continue
        first, furthest = max(ends, key=lambda end: (end[1].last_epoch or 0, end[1].end))
        for examined, log in ends:
            behind = furthest.end - log.end
            if log.last_epoch != furthest.last_epoch or behind <= _MOST_RECORDS:
                continue
            if not furthest.covers(log.end, furthest.end - 1):
                continue
            late = (furthest.last_timestamp or 0) - (log.last_timestamp or 0)
            yield Diagnosis(
                finding=KIND.at(
                    examined.path,
                    f"its log ends {behind} records and {late / 1000:.0f} s before that of"
                    f" {first.path}, both in epoch {log.last_epoch}",
                    offset=log.end,
                    expected=str(furthest.end),
                    found=str(log.end),
                ),
                directory=examined.path,
                evidence=tuple(
                    Evidence(file=directory.path, offset=end.end, found="the log ends here")
                    for directory, end in ((first, furthest), (examined, log))
                ),
                commands=(tools.quorum(examination, examined, "describe", "--replication"),),
            )
