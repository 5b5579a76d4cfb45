"""A reassignment that adds what it removes, and so never completes."""

from __future__ import annotations

from collections.abc import Iterator

from kraftool.reports.doctor import partitions as of_image
from kraftool.reports.doctor import tools
from kraftool.reports.doctor.model import Diagnosis, Examination
from kraftool.reports.findings.finding import Severity
from kraftool.reports.findings.kinds import SIGNATURES
from kraftool.reports.text import shell_text

KIND = SIGNATURES.kind(
    "STUCK-REASSIGNMENT",
    Severity.WARNING,
    "A reassignment can never complete: the same replicas are to be added and removed. A"
    " request to go back to the old replicas leaves this.",
    "cancel it, or reassign the partition once more",
    references=("KIP-455",),
)


def find(examination: Examination) -> Iterator[Diagnosis]:
    for examined, state in examination.states():
        partitions = list(
            of_image.partitions_where(
                state.image,
                lambda state: not set(state.adding_replicas).isdisjoint(state.removing_replicas),
            )
        )
        if not partitions:
            continue
        yield Diagnosis(
            finding=KIND.at(
                examined.path,
                f"{of_image.counted(partitions)} with replicas that are to be both added and"
                    f" removed: {of_image.named(partitions)}",
            ),
            directory=examined.path,
            evidence=of_image.evidence(
                examined, partitions, "replicas", "adding_replicas", "removing_replicas"
            ),
            commands=(
                of_image.reassignment_file(partitions),
                shell_text.line(
                    "kafka-reassign-partitions", *tools.broker(examined), "--cancel",
                    "--reassignment-json-file", "reassign.json",
                ),
            ),
        )  # fmt: skip
