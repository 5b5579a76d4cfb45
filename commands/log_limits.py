"""The notes of dump-log on its limits: records before the log, no match, an unknown topic.

Owns these words. If a range begins before the log, the answer is incomplete, and the run exits 3.
"""

from __future__ import annotations

from kraftool.commands.output import Output, printable
from kraftool.directory.log_summary import FIRST_OFFSET
from kraftool.reports.logs.dump import Selection, TopicNames
from kraftool.reports.logs.log_starts import AskedRange, LogBeginnings


def tell_limits(
    output: Output,
    want: Selection,
    beginnings: LogBeginnings,
    names: TopicNames,
    matched: bool,
    snapshots: bool,
) -> None:
    """Report on stderr where the logs begin, if it matters, and whether nothing matched."""
    nothing = want.looks_into_records and not matched
    asked = AskedRange(
        first_offset=want.first_offset,
        last_offset=want.last_offset,
        since=want.since,
        until=want.until,
    )
    has_range = asked != AskedRange()
    begun = list(beginnings.read()) if has_range or nothing else []
    for beginning in begun:
        if beginning.lacks(asked):
            finding = beginning.finding("dump-log")
            output.problem(printable(f"{finding.file}: {finding.text}"), hint=finding.advice)
    if nothing:
        later = [beginning for beginning in begun if beginning.offset > FIRST_OFFSET]
        if later and not snapshots:
            text = "; ".join(f"{beginning.path} begins at {beginning.words}" for beginning in later)
            output.note(
                printable(
                    f"kraftool: nothing matched. The log of {text}. Older records are only in"
                    " checkpoints: --snapshots shows these too"
                )
            )
        else:
            output.note("kraftool: nothing matched")
    if want.topic and not names.knows(want.topic):
        output.note(
            f"kraftool: the log has no TopicRecord of {printable(want.topic)}. Partitions name"
            " topics by id: give the id if you know it"
        )
