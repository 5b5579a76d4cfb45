"""A directory that Kafka ran on, and whose metadata partition is gone or has another name.

What a run leaves beside it shows that there was one. Another directory of the node, or the
cluster's other nodes, may have a log: then this is no loss, or `wiped_voter.py` says what it is.
"""

from __future__ import annotations

import os
from collections.abc import Iterator

from kraftool.decoders.names import META_PROPERTIES
from kraftool.reports.doctor.model import Diagnosis, Evidence, Examination, ExaminedDirectory
from kraftool.reports.findings.finding import Severity
from kraftool.reports.findings.kinds import signatures as kinds
from kraftool.reports.text import shell_text
from kraftool.storage.entry import ROOT_FILES, is_metadata_copy

_FORMATTED = frozenset({META_PROPERTIES, "bootstrap.checkpoint"})
"""What a directory has that was formatted and never used."""
_MOST_NAMED = 3


def find(examination: Examination) -> Iterator[Diagnosis]:
    for directories in examination.clusters():
        if any(directory.source.has_metadata for directory in directories):
            continue
        for directory in directories:
            left = _left_by_a_run(directory)
            if left and not _may_be_without(directory):
                yield _diagnosis(directory, left)


def _left_by_a_run(directory: ExaminedDirectory) -> tuple[Evidence, ...]:
    """Return what Kafka, or whoever renamed the partition, left in the directory."""
    if not directory.is_read or directory.summary.log is not None:
        return ()
    folders = directory.source.folders
    copies = [os.path.join(directory.path, name) for name in folders.metadata_copies]
    left = [Evidence(file=copy, found="a folder") for copy in copies]
    left += [
        Evidence(file=file.file, found="Kafka creates it when it runs")
        for file in directory.files
        if file.basename in ROOT_FILES and file.basename not in _FORMATTED
    ]
    if folders.topics:
        left.append(Evidence(file=directory.path, found=f"{folders.topics} topic folders"))
    return tuple(left[:_MOST_NAMED])


def _may_be_without(directory: ExaminedDirectory) -> bool:
    """True if Kafka runs on the directory right now, if its partition could not be read, or if its
    settings make it a broker's, which fetches the log again."""
    return (
        directory.is_live
        or directory.source.is_log_unread
        or directory.source.plays("controller") is False
    )


def _diagnosis(directory: ExaminedDirectory, left: tuple[Evidence, ...]) -> Diagnosis:
    copy = next((one.file for one in left if is_metadata_copy(os.path.basename(one.file))), "")
    text = "there is no metadata log"
    text += f", and {copy} may be it under another name" if copy else ", but Kafka ran here"
    return Diagnosis(
        finding=kinds.LOST_LOG.at(
            directory.path,
            text,
            severity=Severity.ERROR if directory.source.plays("controller") else None,
        ),
        directory=directory.path,
        evidence=left,
        commands=(shell_text.on(copy, "dump"),) if copy else (),
    )
