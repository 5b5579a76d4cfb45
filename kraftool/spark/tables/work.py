"""The work of a run's tasks: units, each of which writes files of its own.

Owns what a unit reads and what it says of it: files that were written, logs that were lost while
they were read, what could not be read at all. It refuses to fail for what is read; what cannot be
written ends the job. Rows go to the sink, and only the names of files go back to the driver.
"""

from __future__ import annotations

import time
import uuid
from collections.abc import Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from typing import ClassVar, NamedTuple

from kraftool.arrow.file_rows import add_file, add_finding
from kraftool.arrow.fleet import FleetDirectory, FleetFile, Unread
from kraftool.arrow.rows import identity
from kraftool.arrow.splits import Split
from kraftool.decoders.errors import KraftoolError
from kraftool.decoders.names import METADATA_FOLDER
from kraftool.directory.file_report import read_file
from kraftool.reports.files.file_findings import file_findings
from kraftool.reports.findings.kinds import directory as dir_kinds
from kraftool.spark.tables.event_tables import write_events
from kraftool.spark.tables.extract import extract
from kraftool.spark.tables.memory import ClusterKey
from kraftool.spark.tables.place import TablePlace
from kraftool.spark.tables.sink import RowWriter, Sink, SinkError, StagedFile
from kraftool.spark.tables.states import write_states
from kraftool.storage.tail import LogRewrite

_BEGUN = 256 << 10
"""What it costs to begin a unit and to write its files, in bytes of a log."""


@dataclass(frozen=True, slots=True, kw_only=True)
class TablesRun:
    """The values that all tasks of a run share."""

    place: TablePlace
    run_id: str
    show_secrets: bool


@dataclass(slots=True, kw_only=True)
class Done:
    """The report of a unit."""

    number: int
    files: list[StagedFile] = field(default_factory=list)
    lost: tuple[str, ...] = ()
    """Folders of logs that are no longer as they were when they were looked at."""
    notes: list[StagedFile] = field(default_factory=list)
    """Findings that say so."""
    unreadable: list[str] = field(default_factory=list)
    """Files that could not be read; "" for what is more than one file."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Unit:
    """A unit of work of one cluster. `cost` is in bytes of a log, about."""

    key: ClusterKey
    cost: int
    number: int = 0

    @property
    def size(self) -> int:
        """The cost with that of a beginning."""
        return self.cost + _BEGUN

    only_reads: ClassVar[bool] = True
    """True if the rows may be left out where what they are from cannot be read."""

    def write(self, sink: Sink, run: TablesRun, done: Done) -> None:
        """Give the sink all rows."""
        raise NotImplementedError


@dataclass(frozen=True, slots=True, kw_only=True)
class Ranges(Unit):
    """New ranges of logs, up to their last whole batches."""

    splits: tuple[Split, ...]

    @property
    def folders(self) -> frozenset[str]:
        """The folders of the logs."""
        return frozenset(_folder(split) for split in self.splits)

    def write(self, sink: Sink, run: TablesRun, done: Done) -> None:
        splits: Sequence[Split] = self.splits
        lost = _lost(splits)
        while True:
            splits = [split for split in splits if _folder(split) not in lost]
            if not splits:
                break
            try:
                extract(splits, sink, show_secrets=run.show_secrets)
                more = _lost(splits)
            except SinkError:
                raise
            except KraftoolError:
                # Half of a log must not count as all of it.
                more = set(map(_folder, splits))
            if not more:
                break
            lost |= more
            sink.discard()
        done.lost = tuple(sorted(lost))


def _folder(split: Split) -> str:
    return split.file.name.rpartition("/")[0]


def _lost(splits: Sequence[Split]) -> set[str]:
    """The folders of logs of which a range is no longer there."""
    lost = set()
    for split in splits:
        try:
            with split.file.open() as source:
                if (source.size() or 0) < (split.stop or 0):
                    lost.add(_folder(split))
        except KraftoolError:
            lost.add(_folder(split))
    return lost


@dataclass(frozen=True, slots=True, kw_only=True)
class Tail(Ranges):
    """The bytes behind the last whole batch of a log."""

    def write(self, sink: Sink, run: TablesRun, done: Done) -> None:
        extract(self.splits, sink, show_secrets=run.show_secrets)


@dataclass(frozen=True, slots=True, kw_only=True)
class Whole(Unit):
    """A file that is read as a whole: a checkpoint."""

    split: Split

    def write(self, sink: Sink, run: TablesRun, done: Done) -> None:
        extract([self.split], sink, show_secrets=run.show_secrets)
        with suppress(KraftoolError), self.split.file.open() as source:
            source.read_at(0, 1)
            return
        done.unreadable.append(self.split.file.name)


@dataclass(frozen=True, slots=True, kw_only=True)
class ClusterEvents(Unit):
    """The events of a cluster, from all its directories."""

    directories: tuple[tuple[FleetFile, ...], ...]

    def write(self, sink: Sink, run: TablesRun, done: Done) -> None:
        write_events(self.directories, sink)


@dataclass(frozen=True, slots=True, kw_only=True)
class States(Unit):
    """The states of directories with their histories."""

    directories: tuple[tuple[FleetFile, ...], ...]
    newest: str
    """The directory with the newest state of the cluster."""

    def write(self, sink: Sink, run: TablesRun, done: Done) -> None:
        left = list(self.directories)
        while left:
            for files in left:
                newest = files[0].directory.name == self.newest
                try:
                    write_states(files, sink, newest=newest, show_secrets=run.show_secrets)
                except SinkError:
                    raise
                except KraftoolError:
                    # Half of a state must not count as a whole one. The others are written again.
                    sink.discard()
                    done.unreadable.append("")
                    left.remove(files)
                    break
            else:
                return


@dataclass(frozen=True, slots=True, kw_only=True)
class FindingsUnit(Unit):
    """Files, and the findings of each; and what could not be listed."""

    files: tuple[FleetFile, ...] = ()
    unread: tuple[Unread, ...] = ()

    def write(self, sink: Sink, run: TablesRun, done: Done) -> None:
        files = RowWriter(sink, "files", self.key.cluster_id)
        findings = RowWriter(sink, "findings", self.key.cluster_id)
        for unread in self.unread:
            finding = dir_kinds.UNREADABLE.at(unread.name, unread.reason, advice=unread.hint)
            add_finding(findings, FleetDirectory(name=unread.name), finding)
        for file in self.files:
            report = read_file(file.entry())
            add_file(files, file, report)
            for finding in file_findings(report):
                add_finding(findings, file.directory, finding)
                if finding.code == dir_kinds.UNREADABLE.code:
                    done.unreadable.append(file.name)
        files.finish()
        findings.finish()


class OwnedChange(NamedTuple):
    """A change, and whose log it is about."""

    owner: FleetDirectory
    folder: str
    change: LogRewrite


@dataclass(frozen=True, slots=True, kw_only=True)
class Changes(Unit):
    """The changes of logs since the latest run other than growth."""

    changes: tuple[OwnedChange, ...]

    only_reads: ClassVar[bool] = False

    def write(self, sink: Sink, run: TablesRun, done: Done) -> None:
        writer = RowWriter(sink, "changes", self.key.cluster_id)
        for owner, folder, change in self.changes:
            writer.add(
                {
                    **identity(owner, f"{folder}/{change.segment}"),
                    **change.values(),
                    "text": change.sentence(),
                    "noticed": time.time_ns() // 1_000_000,
                }
            )
        writer.finish()


def work(run: TablesRun, units: Sequence[Unit]) -> Iterator[Done]:
    """Do the units of one task, in files of this attempt alone."""
    attempt = uuid.uuid4().hex[:12]
    for unit in units:
        sink = Sink(run.place, run.run_id, f"{attempt}-{unit.number:06d}")
        done = Done(number=unit.number)
        try:
            unit.write(sink, run, done)
        except SinkError:
            raise
        except KraftoolError:
            if not unit.only_reads:
                raise
            # Why it cannot be read is a finding of the file's own.
            sink.discard()
            done.unreadable.append("")
        done.files = sink.close()
        if done.lost:
            notes = Sink(run.place, run.run_id, f"{attempt}-{unit.number:06d}-lost")
            _note(unit.key, done.lost, notes)
            done.notes = notes.close()
        yield done


def _note(key: ClusterKey, lost: Sequence[str], sink: Sink) -> None:
    findings = RowWriter(sink, "findings", key.cluster_id)
    for folder in lost:
        name = key.name if key.cluster_id is None else folder.removesuffix(f"/{METADATA_FOLDER}")
        text = (
            "the log changed or vanished while it was read; none of what was new is in the tables"
        )
        finding = dir_kinds.UNREADABLE.at(folder, text, advice="the next run reads it")
        add_finding(findings, FleetDirectory(name=name), finding)
    findings.finish()
