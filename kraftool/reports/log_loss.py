"""What Kafka's next start would take away from a log that is damaged in the middle.

Owns that one sentence. Kafka cuts the log at the first thing that it refuses, and deletes the
segments behind it, with no more than a warning in its own log; with a snapshot beyond the cut it
wipes the whole log and goes on from there.
"""

from __future__ import annotations

from kraftool.decoders.names import FileState
from kraftool.reports.metadata_summary import MetadataSummary


def loss(summary: MetadataSummary) -> str | None:
    """What is lost and what to do; None where nothing lies behind the cut."""
    log = summary.log
    if log is None or log.intact_end_offset >= log.end_offset:
        return None
    cut, end = log.intact_end_offset, log.end_offset
    newest = max(
        (each.offset for each in summary.snapshots if each.state is FileState.LIVE), default=0
    )
    keep = "keep a copy before Kafka starts here: "
    instead = ". Take the log of an intact node"
    if newest <= cut:
        lost = f"it cuts the log at offset {cut}, silently, and {_offsets(end - cut)} go with it"
        return f"{keep}{lost}{instead}"
    wiped = f"it wipes the whole log and goes on from the snapshot at {newest}, silently"
    if newest >= end:
        return f"{keep}{wiped}{instead}"
    return f"{keep}{wiped}, and the {_offsets(end - newest)} after it go with the log{instead}"


def _offsets(count: int) -> str:
    return f"{count} offset" if count == 1 else f"{count} offsets"
