"""The findings of one file by itself, from what its decoder found wrong.

Owns the step from an error of a decoder to what it means and what to do, and how a report looks at
the batches of a file while it is read. It refuses to look at other files; that is
`directory/findings.py`.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import NamedTuple

from kraftool.decoders import names
from kraftool.decoders.checkpoint_files import PartitionMetadata
from kraftool.decoders.kinds import FileKind
from kraftool.directory.file_report import LARGEST_WHOLE, FileReport
from kraftool.directory.log_reader import Observe
from kraftool.reports.files.locations import problem_finding
from kraftool.reports.files.log_findings import log_findings
from kraftool.reports.findings.finding import Finding, FindingKind
from kraftool.reports.findings.kinds import directory as dir_kinds
from kraftool.reports.findings.kinds import log as log_kinds
from kraftool.reports.logs.file_names import misnamed

_REFUSED: dict[FileKind, FindingKind] = {
    FileKind.QUORUM_STATE: dir_kinds.QUORUM_STATE,
    FileKind.META_PROPERTIES: dir_kinds.META,
    FileKind.LEADER_EPOCH_CHECKPOINT: dir_kinds.EPOCHS,
    FileKind.PARTITION_METADATA: dir_kinds.TOPIC_ID,
    FileKind.OFFSET_CHECKPOINT: dir_kinds.OFFSETS,
}
"""Of files that Kafka does not accept."""
_ODD: dict[FileKind, FindingKind] = {
    FileKind.QUORUM_STATE: dir_kinds.QUORUM_STATE_ODD,
    FileKind.META_PROPERTIES: dir_kinds.META_ODD,
    FileKind.LEADER_EPOCH_CHECKPOINT: dir_kinds.EPOCHS_DIFFER,
    FileKind.PRODUCER_STATE: log_kinds.PRODUCER_STATE,
    FileKind.OFFSET_INDEX: log_kinds.INDEX,
    FileKind.TIME_INDEX: log_kinds.INDEX,
    FileKind.TXN_INDEX: log_kinds.INDEX,
}
"""Of files that Kafka accepts; others are text."""


def file_findings(file: FileReport, *, is_alone: bool = False) -> tuple[Finding, ...]:
    """Return what is wrong with a file. `is_alone`: the file itself is what was asked for."""
    if file.is_misplaced:
        text = "it holds batches, as a segment does"
        return (misnamed(file.file) or dir_kinds.UNKNOWN_FILE.at(file.file, text),)
    if file.unread is not None:
        return (problem_finding(file.unread),)
    if file.kind is FileKind.UNKNOWN:
        return (_unknown(file, is_alone=is_alone),)
    if not file.is_live and not is_alone:
        return ()
    if file.log is not None:
        return log_findings(file.file, file.kind, file.log)
    return tuple(_of_small(file))


def _unknown(file: FileReport, *, is_alone: bool) -> Finding:
    """A file that nothing tells the kind of: the only one asked for, or one among others."""
    text = (
        "empty" if not file.size else "kraftool cannot tell its kind from its name or its content"
    )
    kind = dir_kinds.UNKNOWN_KIND if is_alone else dir_kinds.UNKNOWN_FILE
    return kind.at(file.file, text)


def _of_small(file: FileReport) -> Iterator[Finding]:
    if file.is_read_in_part:
        text = f"kraftool read only the first {LARGEST_WHOLE} bytes"
        yield dir_kinds.TOO_LARGE.at(file.file, text, position=LARGEST_WHOLE)
    kinds = _REFUSED if file.is_refused else _ODD
    kind = kinds.get(file.kind, dir_kinds.TEXT)
    for number, error in enumerate(file.errors):
        # Decoders list first what makes Kafka refuse the file.
        yield kind.of_error(file.file, error, advice="" if file.is_refused and number else None)
    content = file.content
    if (
        isinstance(content, PartitionMetadata)
        and content.accepted
        and file.path.startswith(f"{names.METADATA_FOLDER}/")
        and content.topic_id != names.METADATA_TOPIC_ID
    ):
        yield dir_kinds.TOPIC_ID.at(
            file.file,
            "the topic id of another topic",
            field="topic_id",
            expected=names.METADATA_TOPIC_ID,
            found=str(content.topic_id),
        )


class FileView(NamedTuple):
    """The observers that one report adds to the reading of a file."""

    observers: tuple[Observe, ...] = ()
    end: Callable[[FileReport], Sequence[Finding]] = lambda file: ()
    """Called after the file was read. Returns what the observers found."""
