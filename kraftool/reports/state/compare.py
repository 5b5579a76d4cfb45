"""Two states to compare: of two PATHs, or of one PATH at two offsets.

Owns at which offsets. Two healthy nodes end at different offsets whenever they are copied, so that
what two directories are compared at is the highest offset that both reach, unless asked otherwise.
"""

from __future__ import annotations

import os
from dataclasses import dataclass, replace

from kraftool.decoders.errors import KraftoolError
from kraftool.decoders.names import META_PROPERTIES
from kraftool.reports.files.state_files import cluster_in
from kraftool.reports.findings.finding import Finding, Severity
from kraftool.reports.findings.kinds import directory as dir_kinds
from kraftool.reports.findings.kinds import log as log_kinds
from kraftool.reports.state.change_times import Key, LastRecord, batches_from, last_records
from kraftool.reports.state.files import StateFiles, base_offset, open_state, snapshot_id
from kraftool.reports.state.load import LoadedState, load_from
from kraftool.reports.state.replay import Progress
from kraftool.storage.directory import file_entry
from kraftool.storage.paths import Location


@dataclass(frozen=True, slots=True, kw_only=True)
class Offsets:
    """The offsets to compare: none, an offset for each, or each at its own end."""

    old: int | None = None
    new: int | None = None
    at_end: bool = False
    old_time: int | None = None
    """A time in place of the first offset."""


@dataclass(frozen=True, slots=True, kw_only=True)
class TwoStates:
    """The states that are compared, and what has to be said about the offsets."""

    old: LoadedState
    new: LoadedState
    note: str = ""
    newer: StateFiles | None = None
    """The files of the second state."""
    rest: int = 0
    """Offsets that one of two logs has after the other's end, and that are not compared."""

    @property
    def findings(self) -> tuple[Finding, ...]:
        """Of both, each once: they may have read the same files."""
        return tuple(dict.fromkeys((*self.old.findings, *self.new.findings)))


def last_changes(both: TwoStates) -> dict[Key, LastRecord]:
    """The last record of each entity between both states; empty if they are not of one log."""
    old, new = both.old.image.provenance, both.new.image.provenance
    is_one_log = both.newer is not None and not any(
        finding.code in (log_kinds.DIVERGED.code, dir_kinds.CLUSTER_ID.code)
        for finding in both.findings
    )
    if both.newer is None or not is_one_log or old.offset >= new.offset:
        return {}
    if not _has_record(both.newer, old.last_offset, old.last_epoch):
        return {}
    return last_records(both.newer, old.offset, new.offset, both.old.image.topics.by_id)


def _has_record(files: StateFiles, offset: int, epoch: int) -> bool:
    """True if the log has the last record of a state: two logs with a record of one epoch at an
    offset have the same records before it. A snapshot that ends there shows it as well."""
    if offset < 0:
        return True
    for snapshot in files.snapshots:
        if snapshot_id(snapshot) == (offset + 1, epoch):
            return True
    for segment in reversed(files.segments):
        if base_offset(segment) > offset:
            continue
        batch = next(batches_from(segment, offset), None)
        return batch is not None and batch.base_offset <= offset and batch.epoch == epoch
    return False


def load_two(
    old: str | Location, new: str | Location | None, offsets: Offsets, progress: Progress
) -> TwoStates:
    """Load both. Raises KraftoolError where they have no offset in common."""
    files = open_state(old)
    if new is None:
        return _told(
            TwoStates(
                old=_load_old(files, offsets, progress),
                new=load_from(files, at=offsets.new, progress=progress),
                newer=files,
            )
        )
    others = open_state(new)
    both = _load_both(files, others, offsets, progress)
    return _of_one_cluster(replace(both, newer=others), files, others)


def _load_both(
    files: StateFiles, others: StateFiles, offsets: Offsets, progress: Progress
) -> TwoStates:
    if (offsets.old, offsets.new, offsets.old_time) != (None, None, None):
        return _told(
            TwoStates(
                old=_load_old(files, offsets, progress),
                new=load_from(others, at=offsets.new, progress=progress),
            )
        )
    first, second = load_from(files, progress=progress), load_from(others, progress=progress)
    both = TwoStates(old=first, new=second)
    if first.end_offset == second.end_offset:
        return _told(both)
    if offsets.at_end or (files.is_snapshot and others.is_snapshot):
        return replace(both, note=f"each at its end: {_end(first)}, {_end(second)}")
    return _told(_at_common(both, files, others, progress))


def _load_old(files: StateFiles, offsets: Offsets, progress: Progress) -> LoadedState:
    return load_from(files, at=offsets.old, at_time=offsets.old_time, progress=progress)


def _end(state: LoadedState) -> str:
    return f"{state.path} at {state.end_offset}"


def _at_common(
    both: TwoStates, files: StateFiles, others: StateFiles, progress: Progress
) -> TwoStates:
    """Both where the shorter one ends."""
    old_is_longer = both.old.end_offset > both.new.end_offset
    longer, shorter = (both.old, both.new) if old_is_longer else (both.new, both.old)
    common = shorter.end_offset
    try:
        again = load_from(files if old_is_longer else others, at=common, progress=progress)
    except KraftoolError as error:
        raise KraftoolError(
            f"no offset in common: {shorter.path} ends at {common}; {error.message}",
            hint="--at-end compares each at its own end",
        ) from error
    note = (
        f"compared at offset {common}, where {shorter.path} ends; {longer.path} continues to"
        f" {longer.end_offset}: --at-end shows what changed from then on"
    )
    rest = longer.end_offset - common
    if old_is_longer:
        return TwoStates(old=again, new=both.new, note=note, rest=rest)
    return TwoStates(old=both.old, new=again, note=note, rest=rest)


def _of_one_cluster(both: TwoStates, files: StateFiles, others: StateFiles) -> TwoStates:
    """Two clusters may be compared, and differ in all that they are."""
    old, new = cluster_of(files), cluster_of(others)
    if not old or not new or old == new:
        return both
    finding = dir_kinds.CLUSTER_ID.at(
        both.new.path,
        f"it belongs to another cluster than {both.old.path}",
        severity=Severity.WARNING,
        field="cluster.id",
        expected=old,
        found=new,
        advice="name two directories of one cluster, unless that is what you want to see",
    )
    return replace(both, new=replace(both.new, findings=(*both.new.findings, finding)))


def cluster_of(files: StateFiles) -> str | None:
    """Return what meta.properties says; None where it cannot be looked at: in a stream, beside a
    file.
    """
    file = next(iter((*files.segments, *files.snapshots)), None)
    if file is None or file.is_named:
        return None
    if not file.path:
        return cluster_in(file.location.held)
    directory = os.path.dirname(os.path.dirname(os.path.abspath(file.path)))
    try:
        return cluster_in([file_entry(os.path.join(directory, META_PROPERTIES))])
    except KraftoolError:
        return None


def _told(both: TwoStates) -> TwoStates:
    """Two logs that have records of different leaders at one offset are not one log."""
    old, new = both.old.image.provenance, both.new.image.provenance
    if old.last_offset != new.last_offset or old.last_epoch == new.last_epoch:
        return both
    finding = log_kinds.DIVERGED.at(
        both.new.path,
        f"its record there has another epoch than that of {both.old.path}",
        offset=new.last_offset,
        expected=f"epoch {old.last_epoch}",
        found=f"epoch {new.last_epoch}",
    )
    return replace(both, new=replace(both.new, findings=(*both.new.findings, finding)))
