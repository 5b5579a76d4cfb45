"""`kraftool verify-log`: a directory as a whole, all its files against each other."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Annotated

from typer import Argument

from kraftool.commands.options import OutputOptions, RowFormat, RowOutput
from kraftool.commands.output import Output

if TYPE_CHECKING:
    from kraftool.reports.verify.log import Checked, LogVerification, Verified


def verify_log(
    *,
    paths: Annotated[
        list[str],
        Argument(
            metavar="PATH",
            help="Data directories, __cluster_metadata-0, segments, server.properties, tar or -.",
        ),
    ],
    output: RowOutput = RowFormat.TABLE,
    printing: OutputOptions,
) -> None:
    """Verify a metadata log, and all its files together.

    Example: kraftool verify-log /var/lib/kafka/data

    Checks each batch and record, and replays all of them into a metadata image. Compares indexes,
    snapshots, quorum-state, leader-epoch-checkpoint, meta.properties and the history of voters with
    the log and with each other. Of the snapshots' states it compares only the newest;
    verify-snapshot compares all. Every finding shows where it is, what it means for Kafka, and what
    to do. A PATH that does not exist is a finding too. Exits 1 if something is wrong, and 3 if
    something could not be read or decoded.

    Nothing is written to the directory, and nothing is locked. A running Kafka is not disturbed.
    """
    from kraftool.commands.finding_options import set_exit_code
    from kraftool.commands.read_progress import read_progress
    from kraftool.reports.files.locations import open_paths
    from kraftool.reports.logs.processes import quicken
    from kraftool.reports.verify.log import verify_logs

    quicken()
    locations, unopened = open_paths(paths)
    to = printing.open()
    with read_progress(to, locations) as progress:
        report = verify_logs(locations, progress, unopened=unopened)
    if output is RowFormat.TABLE:
        _write(to, report)
    else:
        to.document(report, output)
    set_exit_code(to, report.rows)
    to.finish()


_FINE, _NO_LOG = "verified", "no log to verify"


def _write(to: Output, report: LogVerification) -> None:
    """The findings of each directory, a line on what was checked, and the verdict."""
    from kraftool.commands.finding_view import NAME, QUIET, headline, text, verdict, write_findings

    for number, verified in enumerate(report.verified):
        if number:
            to.line()
        has_log = _has_log((verified,))
        fine = _FINE if has_log else _NO_LOG
        head = headline(verified.path, verified.findings, fine=fine, is_complete=has_log)
        to.rich(head, unbroken=True)
        for line in _checked(verified):
            to.rich(text(line, QUIET))
        write_findings(to, verified.findings, verified.path, explain=True)
    if report.findings:
        to.line()
        to.rich(text("Between the directories, and of the PATH as a whole", NAME))
        write_findings(to, report.findings, "", explain=True)
    if report.verified:
        to.line()
    has_log = _has_log(report.verified)
    fine = _FINE if has_log else _NO_LOG
    to.rich(verdict(_sum(report), report.rows, fine=fine, is_complete=has_log))


def _has_log(verified: Sequence[Verified]) -> bool:
    """True if any of these has more than a directory without a log."""
    from kraftool.reports.findings.kinds import log as log_kinds

    none = log_kinds.NONE.code
    return any(all(finding.code != none for finding in one.findings) for one in verified)


def _checked(verified: Verified) -> list[str]:
    from kraftool.reports.text.words import many, size, span

    checked = verified.checked
    counts = (
        many(checked.segments, "segment"),
        many(checked.snapshots, "snapshot"),
        many(checked.batches, "batch"),
        many(checked.records, "record"),
    )
    lines = [f"{many(checked.files, 'file')}, {size(checked.size)}: {', '.join(counts)}"]
    if checked.start_offset is not None and checked.end_offset is not None:
        last = max(checked.end_offset - 1, checked.start_offset)
        replayed = "nothing replayed"
        if checked.replayed_from is not None and checked.replayed_to is not None:
            replayed = f"replayed {span(checked.replayed_from, checked.replayed_to - 1)}"
        empty = checked.start_offset == checked.end_offset
        reach = "no offsets" if empty else f"offsets {span(checked.start_offset, last)}, {replayed}"
        lines.append(reach)
    if checked.snapshots and checked.segments:
        lines.append(_compared(checked))
    if verified.is_live:
        lines.append("another process holds the lock: what it is writing now may look torn")
    return lines


def _compared(checked: Checked) -> str:
    """Return which of the snapshots were compared with the state that the log makes, and what does
    all.
    """
    from kraftool.reports.text.words import many

    if checked.compared_snapshot is None:
        return (
            "states of snapshots not compared with the log; kraftool verify-snapshot compares them"
        )
    line = f"state compared with the snapshot at {checked.compared_snapshot}"
    if checked.snapshots == 1:
        return line
    return f"{line} of {many(checked.snapshots, 'snapshot')}; kraftool verify-snapshot compares all"


def _sum(report: LogVerification) -> str:
    """Return what was checked, over all PATHs."""
    from kraftool.reports.text.words import many

    all_checked = [verified.checked for verified in report.verified]
    counts = [
        many(sum(checked.files for checked in all_checked), "file"),
        many(sum(checked.batches for checked in all_checked), "batch"),
        many(sum(checked.records for checked in all_checked), "record"),
        many(
            sum((checked.end_offset or 0) - (checked.start_offset or 0) for checked in all_checked),
            "offset",
        ),
    ]
    return f"{', '.join(counts)} checked"
