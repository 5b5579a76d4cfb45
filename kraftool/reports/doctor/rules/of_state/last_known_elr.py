"""lastKnownElr = [-1], which real Kafka writes and which does nothing."""

from __future__ import annotations

from collections.abc import Iterator

from kraftool.reports.doctor import partitions as of_image
from kraftool.reports.doctor.model import Diagnosis, Examination
from kraftool.reports.findings.finding import Severity
from kraftool.reports.findings.kinds import SIGNATURES

KIND = SIGNATURES.kind(
    "LAST-KNOWN-ELR",
    Severity.INFO,
    "lastKnownElr names broker -1. Kafka writes that if it knew no last leader. It is harmless.",
    references=("KIP-966",),
)


def find(examination: Examination) -> Iterator[Diagnosis]:
    for examined, state in examination.states():
        partitions = list(
            of_image.partitions_where(state.image, lambda state: -1 in state.last_known_elr)
        )
        if partitions:
            yield Diagnosis(
                finding=KIND.at(
                    examined.path, f"{of_image.counted(partitions)}: {of_image.named(partitions)}"
                ),
                directory=examined.path,
                evidence=of_image.evidence(examined, partitions, "last_known_elr"),
            )
