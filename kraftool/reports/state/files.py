"""The files that a state is made of: one directory's checkpoints and segments, or one file.

Owns the choice, so that a state can be loaded from them more than once, a stream's included. It
refuses what would mix two logs: several directories in one archive, or a topic's folder.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

from kraftool.decoders.errors import KraftoolError
from kraftool.decoders.names import parse_checkpoint_name, segment_offset
from kraftool.raft.names import BOOTSTRAP_SNAPSHOT, OffsetAndEpoch
from kraftool.reports.findings.finding import Finding
from kraftool.reports.findings.kinds import directory as directory_kinds
from kraftool.reports.logs.source import LogFile, log_files
from kraftool.storage.paths import Location
from kraftool.storage.source import BytesSource

MOST_STREAMED = 1 << 30
"""A tar stream cannot be read back to its snapshot, so its files are kept in memory up to here."""


@dataclass(frozen=True, slots=True, kw_only=True)
class StateFiles:
    """The files of a PATH from which a state is made. Snapshots and segments are in the order of
    their offsets."""

    path: str
    snapshots: tuple[LogFile, ...]
    segments: tuple[LogFile, ...]
    findings: tuple[Finding, ...] = ()

    @property
    def single(self) -> LogFile | None:
        """The file, where the PATH named one; it counts whatever its name says."""
        files = (*self.snapshots, *self.segments)
        return files[0] if len(files) == 1 and files[0].is_named else None

    @property
    def is_snapshot(self) -> bool:
        """True if there is one state in it and no other: that of a checkpoint by itself."""
        return self.single is not None and not self.segments


def open_state(where: str | Location) -> StateFiles:
    """Find the files of a PATH. Raises KraftoolError where there is nothing to make a state of."""
    path = where if isinstance(where, str) else where.path
    findings: list[Finding] = []

    def unreadable(text: str) -> None:
        findings.append(directory_kinds.UNREADABLE.at(path, text))

    files: list[LogFile] = []
    kept = 0
    for log_file in log_files([where], unreadable, snapshots=True, stray=findings.append):
        if log_file.is_topic:
            raise KraftoolError(
                f"{log_file.name} is the log of a topic, which has no metadata",
                hint="name __cluster_metadata-0, or the data directory around it",
            )
        if log_file.is_stream:
            kept += log_file.size
            if kept > MOST_STREAMED:
                raise KraftoolError(
                    f"{path}: more than {MOST_STREAMED >> 30} GiB of logs and snapshots",
                    hint="unpack the archive and name the directory",
                )
            files.append(_kept(log_file))
        else:
            files.append(log_file)
    if not files:
        text = findings[0].text if findings else f"{path}: no log and no snapshot in it"
        raise KraftoolError(text, hint="name a data directory, a checkpoint or a segment")
    _refuse_several(path, files)
    return replace(files_of(path, files), findings=tuple(findings))


def files_of(path: str, files: list[LogFile]) -> StateFiles:
    """The files of one log, in order."""
    return StateFiles(
        path=path,
        snapshots=tuple(sorted((file for file in files if not file.is_log), key=snapshot_id)),
        segments=tuple(sorted((file for file in files if file.is_log), key=base_offset)),
    )


def _kept(file: LogFile) -> LogFile:
    with file.open() as source:
        data = source.read_at(0, file.size)
    name = file.name
    entry = replace(file.entry, opener=lambda: BytesSource(name, data), size=len(data))
    return replace(file, entry=entry)


def _refuse_several(path: str, files: list[LogFile]) -> None:
    directories = list(dict.fromkeys(file.entry.directory for file in files))
    if len(directories) > 1:
        shown = ", ".join(directories[:3]) + (", …" if len(directories) > 3 else "")
        raise KraftoolError(
            f"{path}: {len(directories)} data directories in it ({shown})",
            hint="name an archive with one directory: this command requires a single one",
        )


def base_offset(file: LogFile) -> int:
    """The offset in a segment's name. A file that was named itself may have any name; then 0."""
    return segment_offset(file.entry.basename) or 0


def snapshot_id(file: LogFile) -> OffsetAndEpoch:
    """Offset and epoch in a checkpoint's name; 0-0 where the name says none."""
    named = parse_checkpoint_name(file.entry.basename)
    return OffsetAndEpoch(named.offset, named.epoch) if named is not None else BOOTSTRAP_SNAPSHOT
