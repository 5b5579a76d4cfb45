"""Two changes of the voters in a running leader's log, neither of which is committed."""

from __future__ import annotations

from collections.abc import Iterator

from kraftool.reports.doctor import tools
from kraftool.reports.doctor.model import Diagnosis, Evidence, Examination
from kraftool.reports.findings.kinds import signatures as kinds


def find(examination: Examination) -> Iterator[Diagnosis]:
    for patient in examination.patients:
        source = patient.source
        mark = source.high_watermark
        if mark is None or mark < 0:
            continue
        pending = [
            entry
            for entry in source.voter_sets
            if entry.offset >= mark and not entry.with_leader_change
        ]
        if len(pending) < 2:
            continue
        offsets = ", ".join(str(entry.offset) for entry in pending)
        yield Diagnosis(
            finding=kinds.TWO_VOTER_CHANGES.at(
                patient.path,
                f"voter changes at offsets {offsets}, and the leader has committed up to {mark}",
                offset=pending[0].offset,
            ),
            directory=patient.path,
            evidence=tuple(
                Evidence(
                    file=entry.file,
                    offset=entry.offset,
                    found=f"voters {', '.join(str(voter.id) for voter in entry.voters or ())}",
                )
                for entry in pending
            ),
            commands=(tools.quorum(examination, patient, "describe", "--replication"),),
        )
