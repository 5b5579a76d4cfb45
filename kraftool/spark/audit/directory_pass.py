"""A directory read once for doctor, verify-log and verify-snapshot.

Owns the order of files that suits all three commands, and the choice of directories to read once.
Each command reads the other directories by itself, and those in which something cannot be read.
The results are the same as those of the commands.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

from kraftool.decoders.errors import KraftoolError
from kraftool.reports.directory.findings import is_topic
from kraftool.reports.directory.report import read_together
from kraftool.reports.doctor.model import Examination
from kraftool.reports.doctor.read import ExaminationPasses, examine_read
from kraftool.reports.verify.log import LogPasses, LogVerification, verify_read
from kraftool.reports.verify.log_pass import suited
from kraftool.reports.verify.log_states import LogStates
from kraftool.reports.verify.snapshot import SnapshotReading, verify_read_snapshots
from kraftool.reports.verify.snapshot_values import SnapshotVerification
from kraftool.storage.entry import Entry, EntryProblem
from kraftool.storage.paths import Location, LocationKind, open_path

_DIRECTORIES = (LocationKind.DATA_DIRECTORY, LocationKind.PARTITION)
Progress = Callable[[str, int], None]


class ReadOnce(NamedTuple):
    """The results of the three commands."""

    examination: Examination
    log: LogVerification
    snapshots: SnapshotVerification


def read_once(path: str, progress: Progress) -> ReadOnce | None:
    """Read a directory for all three commands; None if each command has to read it by itself."""
    try:
        location = open_path(path)
        return _read(location, progress) if location.kind in _DIRECTORIES else None
    except KraftoolError:
        return None


def _read(location: Location, progress: Progress) -> ReadOnce | None:
    listed = list(location.entries())
    files = [entry for entry in listed if isinstance(entry, Entry)]
    if location.kind is LocationKind.PARTITION and is_topic(
        location.path, (file.basename for file in files)
    ):
        return None
    states: dict[str, LogStates] = {}
    examination = ExaminationPasses(location, files, is_newest_first=False)
    log = LogPasses(location, files, states)
    snapshots = SnapshotReading(files, shared=log.seen)
    problems = (entry for entry in listed if isinstance(entry, EntryProblem))
    of_examination, of_log, of_snapshots = read_together(
        location,
        (examination.view, log.view, snapshots.view),
        is_compared=(True, False, False),
        progress=progress,
        entries=[*problems, *suited(files)],
    )
    return ReadOnce(
        examine_read(of_examination, examination, progress),
        verify_read(of_log, log),
        verify_read_snapshots(location, of_snapshots, snapshots, progress=progress, states=states),
    )
