"""The rows of `kraft.files` and `kraft.findings`: files as `kraftool dump` judges each by itself.

Owns their columns' values. What only several files together show is the audit's.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterator, Sequence
from contextlib import suppress

from kraftool.arrow.fleet import FleetDirectory, FleetFile, Unread
from kraftool.arrow.rows import ArrowRows, identity
from kraftool.arrow.splits import Split
from kraftool.arrow.untyped import ArrowBatch, ArrowSchema
from kraftool.decoders.batch import HEADER_SIZE
from kraftool.decoders.errors import KraftoolError
from kraftool.decoders.kinds import HEAD_SIZE, detect, kind_by_name
from kraftool.directory.file_report import BATCH_KINDS, FileReport, read_file
from kraftool.reports.files.file_findings import file_findings
from kraftool.reports.findings.finding import Finding, in_order
from kraftool.reports.findings.kinds import directory as dir_kinds
from kraftool.reports.text.printable import file_text

_HASHED = 1 << 16
_OF_FINDINGS = frozenset({"findings", "worst"})


def finding_rows(
    arrow: ArrowSchema, splits: Sequence[Split], unread: Sequence[Unread] = ()
) -> Iterator[ArrowBatch]:
    """Every finding of every file, and what could not be listed."""
    table = ArrowRows(arrow)
    for unread_place in unread:
        finding = dir_kinds.UNREADABLE.at(
            unread_place.name, unread_place.reason, advice=unread_place.hint
        )
        add_finding(table, unread_place.owner, finding)
    for split in splits:
        for finding in file_findings(read_file(split.file.entry())):
            add_finding(table, split.file.directory, finding)
            if table.is_full:
                yield table.take()
    if table:
        yield table.take()


def add_finding(table: ArrowRows, owner: FleetDirectory, finding: Finding) -> None:
    """A finding as a row, whosever file it is about."""
    table.add(
        identity(owner, finding.file)
        | {
            "code": finding.code,
            "severity": finding.severity.value,
            "text": file_text(finding.text),
            "position": finding.position,
            "offset": finding.offset,
            "field": finding.field or None,
            "expected": file_text(finding.expected) or None,
            "found": file_text(finding.found) or None,
            "advice": file_text(finding.advice) or None,
            "undecoded": finding.undecoded,
        }
    )


def file_rows(
    arrow: ArrowSchema, splits: Sequence[Split], *, findings: bool
) -> Iterator[ArrowBatch]:
    """Every file, with the number of findings that it has by itself.

    No file is read for columns that are not wanted.
    """
    table = ArrowRows(arrow)
    judged = findings and not _OF_FINDINGS.isdisjoint(table.names)
    for split in splits:
        file = split.file
        report = read_file(file.entry()) if judged else _unread(file)
        add_file(table, file, report, findings=judged)
        if table.is_full:
            yield table.take()
    if table:
        yield table.take()


def add_file(
    table: ArrowRows, file: FleetFile, report: FileReport, *, findings: bool = True
) -> None:
    """Add a file as a row, with what its report says. `findings`: it was read for its findings."""
    found = file_findings(report) if findings else ()
    worst = in_order(found)
    fingerprint = None
    if "identity" in table.names and not file.etag:
        fingerprint = _fingerprint(file, report)
    table.add(
        identity(file.directory, file.name)
        | {
            "path": file_text(file.relative),
            "kind": report.kind.value,
            "state": report.state.name.lower(),
            "size": report.size,
            "modified": file.mtime_ns // 1_000_000,
            "identity": file.etag or fingerprint,
            "findings": len(found) if findings else None,
            "worst": worst[0].severity.value if worst else None,
        }
    )


def _unread(file: FleetFile) -> FileReport:
    """The report of a file without findings. Only a file with an unknown name is opened."""
    head = b""
    if kind_by_name(file.basename) is None:
        with suppress(KraftoolError), file.open() as source:  # a finding, if anybody wants them
            head = source.read_at(0, HEAD_SIZE)
    detected = detect(file.basename, head, file.size)
    return FileReport(
        file=file.name,
        path=file.relative,
        directory=file.directory.name,
        place=file.place,
        size=file.size,
        kind=detected.kind,
        state=detected.state,
    )


def _fingerprint(file: FleetFile, report: FileReport) -> str | None:
    """Return which content it is. A segment is known by its first batch, so that it may grow."""
    wanted = HEADER_SIZE if report.kind in BATCH_KINDS else _HASHED
    try:
        with file.open() as source:
            return hashlib.sha256(source.read_at(0, wanted)).hexdigest()[:32]
    except KraftoolError:
        return None
