"""What Kafka's next start would take away from a log that is damaged in the middle.

Owns that one sentence. Kafka cuts the log at the first batch whose bytes are wrong, and deletes the
segments behind it, with no more than a warning in its own log; with a snapshot beyond the cut it
then wipes the whole log and goes on from there, whatever that snapshot is worth: it goes by names.
"""

from __future__ import annotations

from kraftool.decoders.names import FileState
from kraftool.reports.metadata_summary import MetadataSummary

_KEEP = "keep a copy before Kafka starts here: "
_INSTEAD = ". Take the log of an intact node"


def loss(cut: int | None, end: int | None, newest: int = 0, *, intact: bool = True) -> str | None:
    """What is lost and what to do; None where nothing lies behind the cut.

    `newest` is the offset of the newest snapshot, and `intact` whether it is whole.
    """
    if cut is None or end is None or cut >= end:
        return None
    if newest <= cut:
        lost = f"it cuts the log at offset {cut}, silently, and {_offsets(end - cut)} go with it"
    elif not intact:
        lost = f"it wipes the whole log, and then dies on the snapshot at {newest}, as damaged"
    else:
        lost = f"it wipes the whole log and goes on from the snapshot at {newest}, silently"
        if newest < end:
            lost += f", and the {_offsets(end - newest)} after it go with the log"
    return f"{_KEEP}{lost}{_INSTEAD}"


def loss_of(summary: MetadataSummary) -> str | None:
    """What is lost of a directory's log."""
    log = summary.log
    if log is None:
        return None
    live = [each for each in summary.snapshots if each.state is FileState.LIVE]
    newest = live[-1] if live else None
    return loss(
        log.intact_end_offset,
        log.end_offset,
        newest.offset if newest is not None else 0,
        intact=newest is None or newest.intact,
    )


def _offsets(count: int) -> str:
    return f"{count} offset" if count == 1 else f"{count} offsets"
