"""A log with records and no metadata.version: the first activation of a controller was aborted."""

from __future__ import annotations

from collections.abc import Iterator

from kraftool.image.metadata_version import METADATA_VERSION
from kraftool.reports.doctor import tools
from kraftool.reports.doctor.model import Diagnosis, Evidence, Examination
from kraftool.reports.findings.kinds import signatures as kinds
from kraftool.reports.text import shell_text


def find(examination: Examination) -> Iterator[Diagnosis]:
    for patient, state in examination.states():
        if state.image.features.metadata_version is not None or not state.records:
            continue
        if not (state.has_its_beginning and state.is_whole) or state.open_transaction is not None:
            continue
        image = state.image
        if not (image.cluster.brokers or image.cluster.controllers or image.topics.by_id):
            continue  # what was begun was aborted, and nothing came after it yet
        controller = tools.controller(examination, patient)
        yield Diagnosis(
            finding=kinds.NO_METADATA_VERSION.at(
                patient.path,
                f"{state.records} records up to offset {state.end_offset - 1}, and no record sets"
                f" {METADATA_VERSION}",
            ),
            directory=patient.path,
            evidence=(Evidence(file=patient.path, found="no FeatureLevelRecord"),),
            commands=(
                shell_text.on(patient.path, "dump-log", "--type", "AbortTransactionRecord"),
                shell_text.line("kafka-features", *controller, "describe"),
            ),
        )
