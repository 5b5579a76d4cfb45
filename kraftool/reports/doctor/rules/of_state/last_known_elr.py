"""lastKnownElr = [-1], which real Kafka writes and which does nothing."""

from __future__ import annotations

from collections.abc import Iterator

from kraftool.reports.doctor import partitions as of_image
from kraftool.reports.doctor.model import Diagnosis, Examination
from kraftool.reports.findings.kinds import signatures as kinds


def find(examination: Examination) -> Iterator[Diagnosis]:
    for patient, state in examination.states():
        partitions = list(
            of_image.partitions_where(state.image, lambda state: -1 in state.last_known_elr)
        )
        if partitions:
            yield Diagnosis(
                finding=kinds.LAST_KNOWN_ELR.at(
                    patient.path, f"{of_image.counted(partitions)}: {of_image.named(partitions)}"
                ),
                directory=patient.path,
                evidence=of_image.evidence(patient, partitions, "last_known_elr"),
            )
