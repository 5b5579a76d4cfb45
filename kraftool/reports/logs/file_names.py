"""The files of a partition's folder whose names Kafka cannot use, as findings.

Owns that one question, so that a stray `notes.log` is the same to every command: no segment, and a
reason for Kafka not to start. It refuses to look at contents, and at files that were named by
themselves, which may have any name.
"""

from __future__ import annotations

from kraftool.decoders.names import (
    CHECKPOINT_SUFFIX,
    SEGMENT_SUFFIXES,
    FileState,
    parse_checkpoint_name,
    read_offset,
    segment_offset,
    write_segment_name,
)
from kraftool.reports.findings.finding import Finding
from kraftool.reports.findings.kinds import log as log_kinds
from kraftool.reports.findings.kinds import snapshot as snapshot_kinds

_CHECKPOINTS = tuple(
    f"{CHECKPOINT_SUFFIX}{state.value}"
    for state in (FileState.LIVE, FileState.PART, FileState.DELETED)
)


def misnamed(file: str) -> Finding | None:
    """Return what is wrong with the name of a file in a partition's folder, given with or without
    it.
    """
    name = file.rpartition("/")[2]
    if name.endswith(_CHECKPOINTS):
        if parse_checkpoint_name(name) is not None:
            return None
        return snapshot_kinds.NAME.at(
            file, "its name has no offset and epoch: Kafka refuses to start"
        )
    if not name.endswith(SEGMENT_SUFFIXES) or segment_offset(name) is not None:
        return None
    offset = read_offset(name)
    if offset is None:
        begin = name.partition(".")[0]
        return log_kinds.NAME.at(
            file, f"its name begins with {begin!r} and not with an offset: Kafka refuses to start"
        )
    if not name.endswith(".log"):
        return None
    if offset < 0:
        return log_kinds.NAME_FORM.at(file, "its name is a negative offset", found=str(offset))
    return log_kinds.NAME_FORM.at(
        file,
        "its name is an offset in another form than Kafka's, which opens the segment of that name",
        expected=write_segment_name(offset, ".log"),
        found=name,
    )
