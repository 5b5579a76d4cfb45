"""A folder beside the metadata partition with nearly its name: a copy, or one that was renamed."""

from __future__ import annotations

import os
from collections.abc import Iterator

from kraftool.reports.doctor import tools
from kraftool.reports.doctor.model import Diagnosis, Evidence, Examination
from kraftool.reports.findings.finding import Severity
from kraftool.reports.findings.kinds import SIGNATURES
from kraftool.reports.text import shell_text
from kraftool.storage.entry import METADATA_PARTITION, FolderKind, folder_kind

KIND = SIGNATURES.kind(
    "METADATA-COPY",
    Severity.WARNING,
    "A folder has nearly the name of the metadata partition. Kafka ignores it and uses only"
    " __cluster_metadata-0.",
    "find out which of the two is this node's metadata log: kraftool dump shows the end of each."
    " Then move the other one out of the data directory",
)


def find(examination: Examination) -> Iterator[Diagnosis]:
    for directory in examination.directories:
        if not directory.source.has_metadata:
            continue
        for name in directory.source.folders.metadata_copies:
            # A broker refuses other names, which `folder_name.py` says; a controller looks at none.
            if folder_kind(name) is FolderKind.OTHER:
                continue
            folder = os.path.join(directory.path, name)
            yield Diagnosis(
                finding=KIND.at(
                    folder, "Kafka ignores this folder", expected=METADATA_PARTITION, found=name
                ),
                directory=directory.path,
                evidence=(Evidence(file=folder, found="a folder"),),
                commands=(
                    shell_text.on(tools.partition_folder(directory), "dump"),
                    shell_text.on(folder, "dump"),
                    shell_text.aside(folder),
                ),
            )
