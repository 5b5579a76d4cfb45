"""A folder that a broker cannot take for a partition, such as lost+found of a mounted disk."""

from __future__ import annotations

import os
from collections.abc import Iterator

from kraftool.reports.doctor import tools
from kraftool.reports.doctor.model import Diagnosis, Evidence, Examination, ExaminedDirectory
from kraftool.reports.findings.finding import Severity
from kraftool.reports.findings.kinds import SIGNATURES
from kraftool.reports.text import shell_text

KIND = SIGNATURES.kind(
    "FOLDER-NAME",
    Severity.ERROR,
    "The name of a folder in a broker's log directory is not a partition's name. The broker"
    " does not start.",
    "move it out of the log directory. If it is lost+found, use a folder below the mount"
    " point as the log directory",
    observed=(
        (
            "4.3.0: a folder in a broker's log.dirs whose name is not a partition's stops its "
            "start. So does a copy of __cluster_metadata-0: copies belong outside the data "
            "directory."
        ),
    ),
)


def find(examination: Examination) -> Iterator[Diagnosis]:
    for patient in examination.patients:
        if not patient.odd_folders or not _is_broker(patient):
            continue
        for name in patient.odd_folders:
            folder = os.path.join(patient.path, name)
            yield Diagnosis(
                finding=KIND.at(
                    folder,
                    "the broker mistakes this folder for a partition's and does not start",
                    expected="TOPIC-PARTITION",
                    found=name,
                ),
                directory=patient.path,
                evidence=(Evidence(file=folder, found="a folder"),),
                commands=(*tools.stop_first(patient), shell_text.aside(folder)),
            )


def _is_broker(patient: ExaminedDirectory) -> bool:
    """A controller by itself never looks at the folders."""
    plays = patient.source.plays("broker")
    if plays is not None:
        return plays
    return bool(patient.source.folders.topics) or patient.node_id in patient.summary.brokers
