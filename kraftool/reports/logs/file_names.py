"""The files of a partition's folder whose names Kafka cannot use, as findings.

Owns that one question, so that a stray `notes.log` is the same to every command: no segment, and a
reason for Kafka not to start. It refuses to look at contents, and at files that were named by
themselves, which may have any name.
"""

from __future__ import annotations

from kraftool.decoders.names import (
    SNAPSHOT_SUFFIXES,
    is_usable_name,
    read_offset,
    write_segment_name,
)
from kraftool.reports.findings.finding import Finding
from kraftool.reports.findings.kinds import log as log_kinds
from kraftool.reports.findings.kinds import snapshot as snapshot_kinds


def misnamed(file: str) -> Finding | None:
    """Return what is wrong with the name of a file in a partition's folder, given with or without
    it.
    """
    name = file.rpartition("/")[2]
    if is_usable_name(name):
        return None
    if name.endswith(SNAPSHOT_SUFFIXES):
        return snapshot_kinds.NAME.at(
            file, "its name has no offset and epoch: Kafka refuses to start"
        )
    offset = read_offset(name)
    if offset is None:
        begin = name.partition(".")[0]
        return log_kinds.NAME.at(
            file, f"its name begins with {begin!r} and not with an offset: Kafka refuses to start"
        )
    if offset < 0:
        return log_kinds.NAME_FORM.at(file, "its name is a negative offset", found=str(offset))
    return log_kinds.NAME_FORM.at(
        file,
        "its name is an offset in another form than Kafka's, which opens the segment of that name",
        expected=write_segment_name(offset, ".log"),
        found=name,
    )
