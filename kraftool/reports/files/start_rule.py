"""The findings on which Kafka exits when it starts, where the files next to it decide that.

Owns this rule for every command. A kind says it for all its findings (`keeps_from_starting`); the
cases here are those of which a start of Kafka shows either. It refuses to find anything itself.
"""

from __future__ import annotations

from dataclasses import replace

from kraftool.decoders.kinds import FileKind
from kraftool.reports.files.file_report import FileReport
from kraftool.reports.files.metadata_summary import MetadataSummary
from kraftool.reports.files.snapshot_advice import DAMAGES
from kraftool.reports.findings.finding import Finding
from kraftool.reports.findings.kinds import snapshot as snap_kinds


def with_exit(finding: Finding, file: FileReport, summary: MetadataSummary) -> Finding:
    """A finding of a file, with what Kafka does on it at its start."""
    if finding.code not in DAMAGES:
        return finding
    if file.kind is FileKind.BOOTSTRAP_CHECKPOINT:
        return replace(finding, exits_here=file.is_live and not _has_metadata_version(file))
    loaded = summary.loaded_snapshot
    is_loaded = loaded is not None and loaded.file == file.name
    return replace(finding, exits_here=is_loaded and _is_refused(finding, file))


def _is_refused(finding: Finding, file: FileReport) -> bool:
    """Kafka reads a snapshot without a footer, but none without a header."""
    if finding.code == snap_kinds.FORM.code:
        return file.log is None or not file.log.has_header
    return True


def _has_metadata_version(file: FileReport) -> bool:
    """True if Kafka finds in bootstrap.checkpoint what it looks for. It reads the file at each
    start, also if the node has metadata, and checks no CRC in it."""
    features = file.log.features if file.log is not None else ()
    return any(feature.name == "metadata.version" for feature in features)
