"""A folder that a broker cannot take for a partition, such as lost+found of a mounted disk."""

from __future__ import annotations

import os
from collections.abc import Iterator

from kraftool.reports.doctor import tools
from kraftool.reports.doctor.model import Diagnosis, Evidence, Examination, ExaminedDirectory
from kraftool.reports.findings.kinds import signatures as kinds
from kraftool.reports.text import shell_text


def find(examination: Examination) -> Iterator[Diagnosis]:
    for patient in examination.patients:
        if not patient.odd_folders or not _is_broker(patient):
            continue
        for name in patient.odd_folders:
            folder = os.path.join(patient.path, name)
            yield Diagnosis(
                finding=kinds.FOLDER_NAME.at(
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
