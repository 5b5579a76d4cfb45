"""The records behind a dump's summary, as dump-log lists them."""

from __future__ import annotations

from datetime import tzinfo

from kraftool.commands.log_table import LogTable
from kraftool.commands.output import Output
from kraftool.decoders.errors import KraftoolError
from kraftool.decoders.kinds import FileKind
from kraftool.directory.file_report import BATCH_KINDS
from kraftool.reports.directory.report import DumpReport
from kraftool.reports.logs.dump import LogDump, TopicNames
from kraftool.storage.source import FileSource


def write_records(
    output: Output, report: DumpReport, zone: tzinfo, *, show_secrets: bool = False
) -> None:
    """List the records of the file, or of a directory's segments in offset order."""
    files = [file_report for file_report in report.files if file_report.kind in BATCH_KINDS]
    files += [
        file_report
        for one in report.directories
        for file_report in one.directory.files
        if file_report.kind is FileKind.LOG and file_report.is_live
    ]
    topics = TopicNames()
    table = LogTable(output, zone, topics=topics)
    dump = LogDump(show_secrets=show_secrets, topics=topics)
    for file in files:
        output.line()
        table.opening(file.file)
        try:
            with FileSource(file.file) as source:
                for entry in dump.entries(file.file, source.read_at):
                    table.entry(entry)
        except KraftoolError as error:
            output.problem(error.message)
