"""Leaders that recover from an unclean election.

A leader tells that it has recovered with its next change of the ISR. A partition of one replica has
none, and stays in this state in real Kafka: that is no more than a note.
"""

from __future__ import annotations

from collections.abc import Iterator

from kraftool.image.topics import RECOVERING
from kraftool.reports.doctor import partitions as of_image
from kraftool.reports.doctor.model import Diagnosis, Examination
from kraftool.reports.findings.finding import Severity
from kraftool.reports.findings.kinds import signatures as kinds


def find(examination: Examination) -> Iterator[Diagnosis]:
    for examined, state in examination.states():
        partitions = list(
            of_image.partitions_where(
                state.image, lambda state: state.leader_recovery_state == RECOVERING
            )
        )
        for alone in (False, True):
            some = [
                partition
                for partition in partitions
                if (len(partition.state.replicas) == 1) is alone
            ]
            if not some:
                continue
            words = "of one replica were" if alone else "were"
            yield Diagnosis(
                finding=kinds.RECOVERING.at(
                    examined.path,
                    f"{of_image.counted(some)} {words} elected uncleanly, with no change of the ISR"
                    f" since: {of_image.named(some)}",
                    severity=Severity.INFO if alone else None,
                    advice="" if alone else None,
                ),
                directory=examined.path,
                evidence=of_image.evidence(
                    examined, some, "leader", "isr", "leader_recovery_state"
                ),
                commands=() if alone else of_image.describe(examined, some),
            )
