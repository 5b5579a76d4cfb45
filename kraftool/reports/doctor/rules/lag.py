"""A node whose log ends far before another's in the same epoch.

Records count that the other has one after the other: an offset behind damage or a gap is no record.
"""

from __future__ import annotations

from collections.abc import Iterator

from kraftool.reports.doctor import tools
from kraftool.reports.doctor.model import Diagnosis, Evidence, Examination
from kraftool.reports.findings.kinds import signatures as kinds

_MOST_RECORDS = 1000


def find(examination: Examination) -> Iterator[Diagnosis]:
    for patients in examination.clusters():
        logs = [(directory, directory.summary.log) for directory in patients]
        ends = [
            (directory, log)
            for directory, log in logs
            if log is not None and log.last_epoch is not None
        ]
        if len(ends) < 2:
            continue
        first, furthest = max(ends, key=lambda end: (end[1].last_epoch or 0, end[1].end_offset))
        for patient, log in ends:
            behind = furthest.end_offset - log.end_offset
            if log.last_epoch != furthest.last_epoch or behind <= _MOST_RECORDS:
                continue
            extent = first.source.log
            if extent is None or not extent.covers(log.end_offset, furthest.end_offset - 1):
                continue
            late = (furthest.last_timestamp or 0) - (log.last_timestamp or 0)
            yield Diagnosis(
                finding=kinds.LAG.at(
                    patient.path,
                    f"its log ends {behind} records and {late / 1000:.0f} s before that of"
                    f" {first.path}, both in epoch {log.last_epoch}",
                    offset=log.end_offset,
                    expected=str(furthest.end_offset),
                    found=str(log.end_offset),
                ),
                directory=patient.path,
                evidence=tuple(
                    Evidence(file=directory.path, offset=end.end_offset, found="the log ends here")
                    for directory, end in ((first, furthest), (patient, log))
                ),
                commands=(tools.quorum(examination, patient, "describe", "--replication"),),
            )
