"""The input and the output of `doctor`'s rules: directories in, diagnoses out.

Owns the read model. A directory comes with the settings that led to it; all about it was read
before the first rule is asked.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace

from kraftool.decoders.json_marks import Hidden, Inline
from kraftool.decoders.properties import Properties
from kraftool.directory.file_report import FileReport
from kraftool.directory.metadata_summary import MetadataSummary, SeenVoters
from kraftool.directory.node_directory import NodeDirectory
from kraftool.reports.doctor.log_statistics import LoggedElection, LogStatistics
from kraftool.reports.files.home_cluster import by_cluster
from kraftool.reports.findings.finding import Finding
from kraftool.reports.state.load import LoadedState
from kraftool.reports.voters.diff import VoterDiff
from kraftool.reports.voters.judged_directory import JudgedDirectory
from kraftool.reports.voters.source_differences import home_cluster


@dataclass(frozen=True, slots=True, kw_only=True)
class Evidence:
    """A value that supports a diagnosis, and its place. It is not a Fault: the value itself is
    right."""

    file: str
    """The file or directory; may be empty."""
    found: str
    """The value, or what is at the place."""
    position: int | None = None
    """A byte in the file."""
    offset: int | None = None
    """An offset in the log."""

    @staticmethod
    def of_election(election: LoggedElection, *, with_votes: bool = False) -> Evidence:
        """Return who led an epoch and, if asked, who gave the leader a vote."""
        text = election.words()
        if with_votes:
            granted = ", ".join(str(voter_id) for voter_id, _ in election.granting)
            text += f", granted by {granted or 'nobody named'}"
        return Evidence(
            file=election.file,
            position=election.position,
            offset=election.offset,
            found=text,
        )

    def where(self) -> str:
        """The file and the place in it, in words."""
        place = [f"position {self.position}"] if self.position is not None else []
        place += [f"offset {self.offset}"] if self.offset is not None else []
        return ": ".join([part for part in (self.file, " ".join(place)) if part])


@dataclass(frozen=True, slots=True, kw_only=True)
class Diagnosis:
    """A finding with its evidence, and the commands to run next."""

    finding: Inline[Finding]
    directory: Hidden[str] = ""
    """The directory that it is about; empty where it is about several."""
    evidence: tuple[Evidence, ...] = ()
    commands: tuple[str, ...] = ()
    """The commands to run next, one per line. A person does lines that begin with #."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ExaminedDirectory:
    """One directory, or settings whose directory is not there."""

    path: str
    """As the user would write it."""
    judged: JudgedDirectory
    server: Properties | None = None
    settings_file: str = ""
    state: LoadedState | None = None
    """None where there is nothing to make a state of, or a stream that cannot be read again."""
    odd_folders: tuple[str, ...] = ()
    """Folders of the data directory that no partition and nothing else of Kafka's is called."""
    statistics: LogStatistics
    is_stream: bool = False
    """True if it lies in an archive, where no command reaches its files."""

    @property
    def source(self) -> NodeDirectory:
        return self.judged.directory

    @property
    def summary(self) -> MetadataSummary:
        return self.source.summary

    def with_source(self, source: NodeDirectory) -> ExaminedDirectory:
        """The same directory with another value of its directory."""
        return replace(self, judged=replace(self.judged, directory=source))

    @property
    def is_read(self) -> bool:
        """True if there was a directory to read, and not settings alone."""
        return bool(self.files)

    @property
    def files(self) -> tuple[FileReport, ...]:
        return self.source.files

    @property
    def is_live(self) -> bool:
        """True if another process holds the lock."""
        return self.source.is_running

    @property
    def node_id(self) -> int | None:
        return self.summary.node.node_id

    def setting(self, key: str) -> str:
        """A setting of its server.properties, stripped; empty where there is none."""
        value = self.server.get(key) if self.server is not None else None
        return (value or "").strip()

    def number(self, key: str, default: int) -> int:
        """A setting that is a whole number, as Kafka would read it."""
        text = self.setting(key)
        digits = text.removeprefix("-")
        return int(text) if digits.isascii() and digits.isdigit() and len(digits) < 20 else default


@dataclass(frozen=True, slots=True, kw_only=True)
class Examination:
    """All directories, and what comparing their voters showed."""

    directories: tuple[ExaminedDirectory, ...]
    voters: VoterDiff
    paths: tuple[str, ...] = ()
    """The PATHs as they were given."""
    without_data: tuple[str, ...] = ()
    """Those of them that lead to no data directory, such as settings of a disk that is gone."""
    live: tuple[str, ...] = ()
    """The options that lead to a live quorum, where one was asked too."""
    findings: tuple[Finding, ...] = ()
    """Those that belong to no directory: of single files, and of PATHs that could not be read."""
    files: tuple[FileReport, ...] = ()
    """Files that were named by themselves."""
    differing: tuple[tuple[str, str, int, int], ...] | None = None
    """Pairs of paths with the first and last offset of a range in which their logs differ, where
    the caller has compared all batches; None where the directories' statistics have them."""

    @property
    def with_data(self) -> tuple[str, ...]:
        """The PATHs that `recover plan` can read."""
        return tuple(path for path in self.paths if path not in self.without_data)

    @property
    def home_cluster(self) -> str | None:
        """The cluster id of most directories."""
        return home_cluster([directory.source for directory in self.directories])

    def share_batches_around(
        self, damaged: ExaminedDirectory, other: ExaminedDirectory, offset: int
    ) -> bool:
        """True if both logs have equal batches right before and after a damaged place.

        Offsets alone prove nothing: logs of different clusters have the same ones.
        """
        before, after = damaged.statistics.around(offset)
        log = other.source.log
        if after is None or log is None:
            return False
        # A log that begins within the damage can show only what comes after it.
        needed = [batch for batch in (before, after) if batch and batch[0] >= log.start]
        if self.differing is None:
            return after in needed and all(map(other.statistics.has, needed))
        paths = {damaged.path, other.path}
        first = before[0] if before else offset
        return log.covers(after[0], after[0]) and not any(
            paths == {one, two} and low <= after[0] and high >= first
            for one, two, low, high in self.differing
        )

    def voters_of(self, examined: ExaminedDirectory) -> SeenVoters | None:
        """The voters that a directory goes by: the newest ones of its own cluster."""
        newest = self.voters.newest_directory
        if newest is None or not self.same_cluster(examined.source, newest):
            return examined.source.in_force
        return newest.in_force

    @staticmethod
    def same_cluster(one: NodeDirectory, other: NodeDirectory) -> bool:
        """True if two sources may be of one cluster; one that does not say may be."""
        first, second = one.node.cluster_id, other.node.cluster_id
        return not first or not second or first == second

    def clusters(self) -> Iterator[tuple[ExaminedDirectory, ...]]:
        """The directories cluster by cluster; those that do not say which go with most others."""
        yield from map(
            tuple, by_cluster(self.directories, lambda directory: directory.source.node.cluster_id)
        )

    def states(self) -> Iterator[tuple[ExaminedDirectory, LoadedState]]:
        """The newest state of each cluster, so that what it shows is said once.

        One that lacks what came before its log is none, nor one of a snapshot that could not be
        read whole: what is missing there was not lost.
        """
        for directories in self.clusters():
            loaded = [(directory, directory.state) for directory in directories]
            there = [
                (directory, state)
                for directory, state in loaded
                if state is not None and state.has_its_beginning
            ]
            if there:
                yield max(there, key=lambda pair: (_epoch(pair[1]), pair[1].end_offset))


def _epoch(state: LoadedState) -> int:
    return state.image.provenance.last_epoch
