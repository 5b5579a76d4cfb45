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
    for examined in examination.directories:
        if not examined.odd_folders or not _is_broker(examined):
            continue
        for name in examined.odd_folders:
            folder = os.path.join(examined.path, name)
            yield Diagnosis(
                finding=KIND.at(
                    folder,
                    "the broker mistakes this folder for a partition's and does not start",
                    expected="TOPIC-PARTITION",
                    found=name,
                ),
                directory=examined.path,
                evidence=(Evidence(file=folder, found="a folder"),),
                commands=(*tools.stop_first(examined), shell_text.aside(folder)),
            )


def _is_broker(examined: ExaminedDirectory) -> bool:
    """A controller by itself never looks at the folders."""
    plays = examined.source.plays("broker")
    if plays is not None:
        return plays
    return bool(examined.source.folders.topics) or examined.node_id in examined.summary.brokers
