"""The findings on which Kafka exits when it starts, where the files next to it decide that.

Owns this rule for every command. A kind says it for all its findings (`keeps_from_starting`); the
cases here are those of which a start of Kafka shows either. It refuses to find anything itself.
"""

from __future__ import annotations

from dataclasses import replace

from kraftool.decoders.fault import FaultKind
from kraftool.decoders.kinds import FileKind
from kraftool.reports.files.file_report import FileReport
from kraftool.reports.files.metadata_summary import MetadataSummary
from kraftool.reports.findings.finding import Finding
from kraftool.reports.findings.kinds import snapshot as snap_kinds


def with_exit(finding: Finding, file: FileReport, summary: MetadataSummary) -> Finding:
    """Damage of a snapshot, with what Kafka does on it at its start."""
    if file.kind is FileKind.BOOTSTRAP_CHECKPOINT:
        return replace(finding, exits_here=file.is_live and not _has_metadata_version(file))
    loaded = summary.loaded_snapshot
    is_loaded = loaded is not None and loaded.file == file.name
    return replace(finding, exits_here=is_loaded and _is_refused(finding, file))


_UNCHECKED = (FaultKind.GAP, FaultKind.TORN_TAIL)


def _is_refused(finding: Finding, file: FileReport) -> bool:
    """Kafka reads a snapshot without a footer, but none without a header. It checks each batch, and
    not if offsets follow on each other, or if the file ends inside a batch: it loads what is there,
    if a metadata.version is."""
    if file.log is None or not _has_metadata_version(file):
        return True
    if finding.code == snap_kinds.FORM.code:
        return not file.log.has_header
    return file.log.more_problems > 0 or any(
        problem.kind not in _UNCHECKED for problem in file.log.problems
    )


def _has_metadata_version(file: FileReport) -> bool:
    """True if Kafka finds in bootstrap.checkpoint what it looks for. It reads the file at each
    start, also if the node has metadata, and checks no CRC in it."""
    features = file.log.features if file.log is not None else ()
    return any(feature.name == "metadata.version" for feature in features)
