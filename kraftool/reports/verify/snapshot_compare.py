"""Snapshots' states against what a log makes of them, and against each other.

Owns what a difference is called. States are compared by their hash; only where that differs, the
snapshot is loaded again to say what does.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any

from kraftool.decoders.errors import KraftoolError
from kraftool.directory.file_report import ReadOptions, read_file
from kraftool.image.image import MetadataImage
from kraftool.image.state_hash import state_hash
from kraftool.reports.findings.finding import Finding
from kraftool.reports.findings.kinds import snapshot as kinds
from kraftool.reports.state.replay import Progress
from kraftool.reports.verify.log_states import LogStates
from kraftool.reports.verify.snapshot_check import SnapshotCheck
from kraftool.reports.verify.snapshot_diff import difference
from kraftool.reports.verify.snapshot_replay import (
    Base,
    LogState,
    SegmentsReplay,
    log_start,
    segments_of,
)
from kraftool.reports.verify.snapshot_values import VerifiedDirectory, VerifiedSnapshot
from kraftool.storage.entry import Entry


def against_log(
    of: VerifiedDirectory,
    entries: Sequence[Entry],
    directories: Sequence[VerifiedDirectory],
    progress: Progress,
    *,
    label: str = "",
    known: LogStates | None = None,
) -> list[VerifiedDirectory]:
    """Compare the snapshots of some directories with the log of one, which `entries` hold.

    `label` names that log where it is another directory's. `known` are states of that log.
    """
    segments = segments_of(entries)
    start = log_start(segments)
    snapshots = [
        snapshot
        for one in directories
        for snapshot in one.snapshots
        if snapshot.is_state and snapshot.state_hash
    ]
    if start is None or not snapshots:
        return list(directories)
    findings_by_file: dict[str, list[Finding]] = {}
    base, compared = _equal(of, start, snapshots, known)
    if base is not None:
        return _with_all(directories, snapshots, {}, compared, "", label, base)
    base = _base(of, start)
    if base is None:
        why = f"the log begins at {start} and no whole snapshot covers that"
        return _with_all(directories, snapshots, {}, {}, why, label)

    def at(offset: int, state: LogState) -> None:
        wanted = state_hash(state.image)
        for snapshot in snapshots:
            if snapshot.offset == offset:
                compared[snapshot.file] = state.scram_removals
                if snapshot.state_hash != wanted:
                    findings_by_file.setdefault(snapshot.file, []).extend(
                        differing(snapshot, state, base, label)
                    )

    replay = SegmentsReplay(base=base, wanted=[snapshot.offset for snapshot in snapshots], at=at)
    try:
        replay.run(segments, progress)
    except KraftoolError as error:
        replay.ended = error.message
    return _with_all(directories, snapshots, findings_by_file, compared, replay.ended, label, base)


def _equal(
    of: VerifiedDirectory,
    start: int,
    snapshots: Sequence[VerifiedSnapshot],
    known: LogStates | None,
) -> tuple[Base | None, dict[str, frozenset[int]]]:
    """Return the base and the removals of a replay that found each snapshot equal. There is no base
    if one of them differs, or if the known states do not have it: the log is replayed then."""
    first = next(_bases(of, start), None)
    name = first.file if first is not None else ""
    if known is None or (start and not name) or known.base_file != name:
        return None, {}
    base = Base(offset=known.base_offset, name=known.base_file)
    later = [snapshot for snapshot in snapshots if snapshot.offset > base.offset]
    for snapshot in later:
        state = known.hashes.get(snapshot.offset)
        if state is None or state.hash != snapshot.state_hash:
            return None, {}
    return base, {snapshot.file: known.hashes[snapshot.offset].scram_removals for snapshot in later}


def _base(of: VerifiedDirectory, start: int) -> Base | None:
    """Return what the log is replayed onto: nothing, or the oldest snapshot that it goes on
    from.
    """
    if start == 0:
        return Base()
    for snapshot in _bases(of, start):
        image = load(snapshot)
        if image is not None:
            return Base(offset=snapshot.offset, image=image, name=snapshot.file)
    return None


def _bases(of: VerifiedDirectory, start: int) -> Iterator[VerifiedSnapshot]:
    """The snapshots with which a replay of the log may begin; empty if the log begins at 0."""
    for snapshot in of.snapshots if start else ():
        if snapshot.is_state and snapshot.state_hash and snapshot.offset >= start:
            yield snapshot


def load(snapshot: VerifiedSnapshot) -> MetadataImage | None:
    """A snapshot's state once more; None if it has changed since."""
    check = SnapshotCheck(snapshot.file, snapshot.offset, needs_level=True)
    read_file(snapshot.entry, ReadOptions(observers=(check,)))
    image, _ = check.end()
    return image


def _with_all(
    directories: Sequence[VerifiedDirectory],
    snapshots: Sequence[VerifiedSnapshot],
    findings_by_file: dict[str, list[Finding]],
    compared: Mapping[str, frozenset[int]],
    ended: str,
    label: str,
    base: Base | None = None,
) -> list[VerifiedDirectory]:
    known = {snapshot.file for snapshot in snapshots}

    def judged(snapshot: VerifiedSnapshot) -> VerifiedSnapshot:
        if snapshot.file not in known:
            return snapshot
        if snapshot.file in compared:
            whose = (*snapshot.compared_with, label or "its own log")
            is_whole = base is not None and base.offset == 0
            removals = compared[snapshot.file] if is_whole else snapshot.scram_removals
            compared_one = replace(snapshot, compared_with=whose, scram_removals=removals)
            return compared_one.with_findings(*findings_by_file.get(snapshot.file, ()))
        return snapshot.with_findings(_not_compared(snapshot, ended, label, base))

    return [
        replace(one, snapshots=tuple(judged(snapshot) for snapshot in one.snapshots))
        for one in directories
    ]


def _not_compared(snapshot: VerifiedSnapshot, ended: str, label: str, base: Base | None) -> Finding:
    where = f" of {label}" if label else ""
    if base is not None and snapshot.offset <= base.offset:
        why = f"the log{where} does not reach back before the snapshot at {base.offset}"
    else:
        why = ended + where
    text = f"its state was not compared with the log's: {why}"
    return kinds.NOT_COMPARED.at(snapshot.file, text, offset=snapshot.offset)


def differing(
    snapshot: VerifiedSnapshot, state: LogState, base: Base, label: str = ""
) -> Iterator[Finding]:
    """Yield what is other in a snapshot than in the state that a log makes at its offset."""
    metadata_image = load(snapshot)
    if metadata_image is None:
        return
    result = difference(state.image, metadata_image)
    log = f"the log of {label}" if label else "the log"
    origin = f", replayed from the snapshot at {base.offset}" if base.offset else ""
    is_known = result.is_kafkas_loss(state.scram_removals)
    if result.lost_credentials and is_known:
        yield kinds.SCRAM_LOST.at(
            snapshot.file,
            f"{log} has credentials that the snapshot lacks{origin}",
            offset=snapshot.offset,
            field="UserScramCredentialRecord",
            expected=result.lost_words(),
            found="none of these",
        )
    words = result.words() if is_known else result.all_words()
    if words:
        yield kinds.DIFFERS.at(
            snapshot.file,
            f"it differs from what {log} produces{origin}: {words}",
            offset=snapshot.offset,
        )


def between(directories: Sequence[VerifiedDirectory]) -> list[Finding]:
    """Snapshots of one offset that hold different states, where they may be of one cluster."""
    by_offset: dict[int, list[tuple[VerifiedDirectory, VerifiedSnapshot]]] = {}
    for one in directories:
        for snapshot in one.snapshots:
            if snapshot.is_state and snapshot.state_hash:
                by_offset.setdefault(snapshot.offset, []).append((one, snapshot))
    findings: list[Finding] = []
    for _, alike in sorted(by_offset.items()):
        first_of: list[tuple[VerifiedDirectory, VerifiedSnapshot]] = []
        for pair in alike:
            first = next((one for one in first_of if _same_cluster(one[0], pair[0])), None)
            if first is None:
                first_of.append(pair)
            elif first[1].file != pair[1].file:
                findings += _diverged(first[1], pair[1])
    return findings


def _same_cluster(one: VerifiedDirectory, other: VerifiedDirectory) -> bool:
    return not one.cluster_id or not other.cluster_id or one.cluster_id == other.cluster_id


def _diverged(one: VerifiedSnapshot, other: VerifiedSnapshot) -> Iterator[Finding]:
    words = []
    if one.epoch != other.epoch:
        words.append(f"epochs {one.epoch} and {other.epoch}")
    if _voters(one) != _voters(other):
        words.append("other voters or another kraft.version")
    if one.state_hash != other.state_hash:
        first, second = load(one), load(other)
        if first is None or second is None:
            return
        result = difference(first, second)
        lacking, having = other, one
        if not result.is_lost_credentials_alone:
            result = difference(second, first)
            lacking, having = one, other
        removals = one.scram_removals if one.scram_removals is not None else other.scram_removals
        is_known = removals is None or result.is_kafkas_loss(removals)
        if not result.is_lost_credentials_alone or not is_known:
            words.append(difference(first, second).all_words())
        elif kinds.SCRAM_LOST.code not in {finding.code for finding in lacking.findings}:
            yield kinds.SCRAM_LOST.at(
                lacking.file,
                f"{having.file} has credentials that it lacks",
                offset=lacking.offset,
                field="UserScramCredentialRecord",
                expected=result.lost_words(),
                found="none of these",
            )
    words = [word for word in words if word]
    if words:
        yield kinds.DIVERGED.at(
            other.file,
            f"it differs from {one.file}: {'; '.join(words)}",
            offset=other.offset,
            expected=one.state_hash[:16],
            found=other.state_hash[:16],
        )


def _voters(snapshot: VerifiedSnapshot) -> Any:
    """Without order, which is Java's HashMap's."""
    controls = snapshot.controls
    voters = controls.voters["voters"] if controls.voters is not None else []
    return controls.kraft_version, sorted(map(repr, voters))
