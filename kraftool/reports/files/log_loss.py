"""The records that Kafka's next start would remove from a log that is damaged in the middle.

Owns that one sentence. Kafka recovers the whole metadata log at every start, also after a clean
stop. It cuts the log at the first batch whose bytes are wrong, and deletes the segments behind it,
with no more than warnings in its own log. With a snapshot beyond the cut it then wipes the whole
log and goes on from there, whatever that snapshot is worth: it uses names. Where the index of the
damaged segment is missing or damaged, Kafka cuts that segment alone, before that recovery, and
keeps the segments behind it.
"""

from __future__ import annotations

from kraftool.reports.files.metadata_summary import MetadataSummary

_KEEP = "keep a copy before you start Kafka here: "
_INSTEAD = ". Use the log of an intact node"
_FETCHED = (
    ". If the other voters run and have a leader, start this node once you have the copy: it"
    " fetches from the leader what it lacks. If they have none, use the log of an intact node"
)
_QUIET = "and only writes warnings to its own log"


def loss(cut: int | None, end: int | None, newest: int = 0, *, intact: bool = True) -> str | None:
    """Return what is lost and what to do; None where nothing lies behind the cut.

    `newest` is the offset of the newest snapshot, and `intact` whether it is whole.
    """
    if cut is None or end is None or cut >= end:
        return None
    if newest <= cut:
        lost = f"it cuts the log at offset {cut} {_QUIET}. {_offsets(end - cut)} are lost with it"
    elif not intact:
        lost = (
            f"it deletes the whole log. Then it exits on the snapshot at {newest}, which is"
            " damaged, or loads what is left of it"
        )
    else:
        lost = f"it deletes the whole log and continues from the snapshot at {newest} {_QUIET}"
        if newest < end:
            lost += f". {_offsets(end - newest)} after the snapshot are lost with the log"
    is_fetched = newest <= cut or intact
    return f"{_KEEP}{lost}{_FETCHED if is_fetched else _INSTEAD}"


def loss_of(summary: MetadataSummary, cut: int | None) -> str | None:
    """Return what is lost of a directory's log that Kafka cuts at an offset."""
    log, loaded = summary.log, summary.loaded_snapshot
    if log is None:
        return None
    return loss(
        cut,
        log.end,
        loaded.offset if loaded is not None else 0,
        intact=loaded is None or loaded.intact,
    )


def hole(cut: int, resumes: int) -> str:
    """Return what is lost where Kafka cuts one segment alone, and the next one begins at
    `resumes`.
    """
    return (
        f"{_KEEP}the index of this segment is missing or damaged, so Kafka cuts only this"
        f" segment, at offset {cut}, and keeps the later ones. {_offsets(resumes - cut)} are"
        " then missing in the middle of the log, and a controller may stop at a record after"
        f" them{_INSTEAD}"
    )


def _offsets(count: int) -> str:
    return f"{count} offset" if count == 1 else f"{count} offsets"
