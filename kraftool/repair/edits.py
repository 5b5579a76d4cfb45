"""The result of edits: their order, the bytes of each new file, and whether those are sound.

Owns the order in which files change, so that a directory is at no moment one that Kafka would make
worse if something started it there; and the last look at new bytes, which are believed by their
content and not because a plan says so. It gives bytes and refuses to write them.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from kraftool.decoders import checkpoint_files, meta_properties, quorum_state
from kraftool.decoders.errors import KraftoolError
from kraftool.decoders.fault import FaultKind
from kraftool.decoders.names import METADATA_FOLDER, parse_checkpoint_name, parse_segment_name
from kraftool.decoders.walk import Faulty, Walk
from kraftool.repair.disk import DataDirectory, RepairRefused
from kraftool.repair.fingerprints import fingerprint_of
from kraftool.repair.plan import Edit, Fingerprint, HostPlan, Piece, Plan
from kraftool.repair.plan_file import PlanFile, PlanFileKind, is_acted_on
from kraftool.repair.restored_file import Openers, ReadableFile, openers_of
from kraftool.repair.state_records import snapshot_of
from kraftool.reports.findings.finding import Severity
from kraftool.reports.verify.snapshot import verify_snapshots
from kraftool.storage.files import OpenFile
from kraftool.storage.paths import open_path
from kraftool.storage.source import chunks_of

_SMALL = 1 << 20
_TURN = {
    PlanFileKind.SNAPSHOT: 0,
    PlanFileKind.QUORUM_STATE: 1,
    PlanFileKind.SEGMENT: 2,
    PlanFileKind.INDEX: 4,
    PlanFileKind.TIME_INDEX: 4,
    PlanFileKind.TRANSACTION_INDEX: 4,
    PlanFileKind.PRODUCER_STATE: 4,
    PlanFileKind.OTHER: 4,
    PlanFileKind.LEADER_EPOCHS: 6,
    PlanFileKind.PARTITION_METADATA: 6,
    PlanFileKind.BOOTSTRAP: 6,
    PlanFileKind.META_PROPERTIES: 7,
}
_NEW_SEGMENT, _OLD_SNAPSHOT = 3, 5
_OF_THE_LOG = frozenset({PlanFileKind.SEGMENT, PlanFileKind.SNAPSHOT})
_INDEXES = frozenset({PlanFileKind.INDEX, PlanFileKind.TIME_INDEX})
_TORN = (FaultKind.TORN_TAIL, FaultKind.ZERO_TAIL)
"""Kafka cuts these at its start, and no record is lost by it."""


def in_turn(edits: tuple[Edit, ...]) -> list[Edit]:
    """The edits in the order in which files change.

    First new checkpoints: Kafka takes a log below a whole one for what the snapshot replaces. Then
    the epoch. Segments are replaced and removed from the end of the log on, since one that is cut
    must not be followed by what was behind the cut, and new ones come in their order. Old snapshots
    go when nothing needs them. meta.properties is last: until then the directory is known by it.
    """
    return sorted(edits, key=_turn)


def _turn(edit: Edit) -> tuple[int, int, str]:
    kind, name = edit.target.kind, edit.target.name
    turn, offset = _TURN[kind], 0
    if kind is PlanFileKind.SEGMENT:
        segment = parse_segment_name(name)
        offset = 0 if segment is None else segment.base_offset
        if edit.before is None:
            turn = _NEW_SEGMENT
        else:
            offset = -offset
    elif kind is PlanFileKind.SNAPSHOT and edit.is_removal:
        snapshot = parse_checkpoint_name(name)
        turn, offset = _OLD_SNAPSHOT, 0 if snapshot is None else snapshot.offset
    return turn, offset, name


def sources_needed(plan: Plan, host: HostPlan) -> set[str]:
    """The hosts whose directories are read for this one's new files."""
    named = {edit.snapshot.source for edit in host.edits if edit.snapshot is not None}
    return {*named, *(name for name, _ in files_read(plan, host))} - {"", host.name}


def files_read(plan: Plan, host: HostPlan) -> set[tuple[str, PlanFile]]:
    """The files that this host's new files are made of, and those that restore them, by the names
    of their hosts. Of a host whose state is used, only those that are restored."""
    files: set[tuple[str, PlanFile]] = set()
    for edit in host.edits:
        files |= {(one.source or host.name, one.file) for one in edit.pieces if one.file}
        if edit.snapshot is not None:
            source = plan.host(edit.snapshot.source or host.name)
            files |= {(source.name, one.target) for one in source.restored} if source else set()
    for name, target in tuple(files):
        of = plan.host(name)
        restored = of.restoration(target) if of is not None else None
        for piece in restored.pieces if restored is not None else ():
            if piece.file is not None:
                files.add((piece.source or name, piece.file))
    return files


def check_sources(plan: Plan, host: HostPlan, sources: Mapping[str, DataDirectory]) -> None:
    """Refuse directories that are not given, or are not what the plan read there."""
    needed = sources_needed(plan, host)
    for name in sorted(needed - sources.keys()):
        raise RepairRefused(
            f"{host.name} is made from {name}'s directory, which is not given",
            hint=f"give --source {name}=PATH, a copy of that directory",
        )
    for name in sorted(needed):
        there = plan.host(name)
        if there is None:
            raise RepairRefused(f"the plan has no host {name}")
        check_as_planned(
            there,
            sources[name],
            may_grow=not there.edits,
            hint=f"give --source {name}=PATH, a copy of {name}'s directory from before {name} was"
            " started again. Without one, run recover collect and recover plan again",
        )


def is_index(target: PlanFile) -> bool:
    """True for a file that only a running node changes, and that no record is in."""
    return target.kind in _INDEXES


def check_as_planned(
    host: HostPlan,
    directory: DataDirectory,
    hint: str = "nothing was changed. Run recover collect and recover plan again",
    *,
    may_grow: bool = False,
) -> None:
    """Refuse a directory whose files are not what they were when the plan was made.

    A segment that `may_grow` needs only what it had: a plan uses nothing behind that.
    """
    relied_on = [(file.target, file.fingerprint) for file in host.expected]
    changed = [(edit.target, edit.before) for edit in host.edits]
    for target, wanted in sorted((*relied_on, *changed), key=lambda pair: is_index(pair[0])):
        fingerprint = directory.fingerprint(target)
        if fingerprint == wanted:
            continue
        is_segment = target.kind is PlanFileKind.SEGMENT
        if may_grow and is_segment and _begins_with(directory, target, wanted):
            continue
        path = directory.at(target)
        if is_index(target) and fingerprint is not None:
            raise RepairRefused(
                f"a node has run on {directory.name} since the plan was made: it wrote its index"
                " files again",
                hint=hint,
            )
        if not directory.inventory():
            hint = f"nothing was changed. Is it the right directory? {host.name}'s was {host.path}"
        if fingerprint is None:
            reason = f"{path} does not exist, but it did when the plan was made"
        elif wanted is None:
            reason = f"{path} exists, but it did not when the plan was made"
        else:
            reason = (
                f"{path} is not what it was when the plan was made: it has {fingerprint.size}"
                f" bytes with SHA-256 {fingerprint.sha256[:12]}…, not {wanted.size} with"
                f" {wanted.sha256[:12]}…"
            )
        raise RepairRefused(reason, hint=hint)


def _begins_with(directory: DataDirectory, target: PlanFile, wanted: Fingerprint | None) -> bool:
    """True if a file has these bytes at its beginning."""
    file = directory.open(target)
    if file is None or wanted is None:
        return False
    try:
        return fingerprint_of(file, (0, wanted.size)) == wanted
    finally:
        file.close()


def check_no_strangers(host: HostPlan, directory: DataDirectory) -> None:
    """Refuse a directory with files that Kafka would act on and that the plan knows nothing of.

    A plan that changes or relies on a log names all of it: each checkpoint and segment, and each
    leader-epoch-checkpoint that it would leave behind a changed log.
    """
    changes_log = any(edit.target.kind in _OF_THE_LOG for edit in host.edits)
    if not changes_log and not host.expected:
        return
    known = {edit.target.path for edit in host.edits} | {file.target.path for file in host.expected}
    for name in directory.names_in_partition():
        acts = is_acted_on(name) or (
            changes_log and name == checkpoint_files.LEADER_EPOCH_CHECKPOINT
        )
        if acts and f"{METADATA_FOLDER}/{name}" not in known:
            raise RepairRefused(
                f"the plan does not know {directory.partition}/{name}: Kafka would use it when"
                " it starts",
                hint="nothing was changed. Run recover collect and recover plan again, or remove"
                " the file if it does not belong to Kafka",
            )


@dataclass(frozen=True, slots=True)
class RestoredDirectories:
    """The directories that a host's new files are made of, as their restorations leave them. They
    are read before anything is changed."""

    plan: Plan
    host: HostPlan
    directory: DataDirectory
    sources: Mapping[str, DataDirectory]
    """Of other hosts."""

    def content(self, edit: Edit) -> Iterator[bytes]:
        """The bytes of a new file."""
        if edit.snapshot is not None:
            name = edit.snapshot.source or self.host.name
            yield from snapshot_of(edit.snapshot, self._of(name).path, self._restored(name))
            return
        for piece in edit.pieces:
            if piece.file is None:
                yield piece.data
            else:
                yield from self._slice(piece.source or self.host.name, piece.file, piece)

    def _of(self, name: str) -> DataDirectory:
        return self.directory if name == self.host.name else self.sources[name]

    def _restored(self, name: str) -> Openers:
        of = self.plan.host(name)
        return openers_of(
            of.restored if of is not None else (),
            lambda piece: self._open(piece.source or name, piece.file),
        )

    def _open(self, name: str, target: PlanFile | None) -> OpenFile:
        assert target is not None, "a piece that is opened is of a file"
        directory = self._of(name)
        file = directory.open(target)
        if file is None:
            raise RepairRefused(f"{directory.at(target)} does not exist")
        return file

    def _slice(self, name: str, target: PlanFile, piece: Piece) -> Iterator[bytes]:
        restored = self._restored(name).get(target.name)
        file: ReadableFile = restored() if restored is not None else self._open(name, target)
        try:
            at = piece.start
            for data in chunks_of(file, piece.start, piece.end):
                yield data
                at += len(data)
            if at < piece.end:
                path = self._of(name).at(target)
                raise RepairRefused(f"{path} ends at {at}, before {piece.end}")
        finally:
            file.close()


def expected_size(
    edit: Edit, directory: DataDirectory, sources: Mapping[str, DataDirectory]
) -> int:
    """Return how large a new file may become. A state is about as large as what it is made of."""
    if edit.after is not None:
        return edit.after.size
    if edit.snapshot is None:
        return 0
    of = sources[edit.snapshot.source] if edit.snapshot.source else directory
    return sum(fingerprint.size for fingerprint in of.inventory().values())


def check_content(target: PlanFile, file: OpenFile) -> None:
    """Refuse a new file that Kafka could not read; its name on the disk is its name."""
    path = file.path
    match target.kind:
        case PlanFileKind.SNAPSHOT | PlanFileKind.BOOTSTRAP:
            _check_snapshot(path)
        case PlanFileKind.SEGMENT:
            for run in Walk(file.read_at).runs():
                if isinstance(run, Faulty) and run.fault.cuts and run.fault.kind not in _TORN:
                    raise _unsound(path, run.fault.describe())
        case PlanFileKind.QUORUM_STATE:
            state, problems = quorum_state.decode(file.read_at(0, _SMALL))
            if state.quorum_state is None or problems:
                raise _unsound(path, problems[0].describe() if problems else "it says nothing")
        case PlanFileKind.META_PROPERTIES:
            _check_text(path, meta_properties.decode(file.read_at(0, _SMALL))[1])
        case PlanFileKind.LEADER_EPOCHS:
            _check_text(path, checkpoint_files.decode_leader_epochs(file.read_at(0, _SMALL))[1])
        case PlanFileKind.PARTITION_METADATA:
            data = file.read_at(0, _SMALL)
            _check_text(path, checkpoint_files.decode_partition_metadata(data)[1])
        case _:
            """Indexes, which Kafka makes anew where they do not fit."""


def _check_snapshot(path: str) -> None:
    verified = verify_snapshots([open_path(path)], replay_logs=False)
    for finding in verified.all_findings:
        if finding.severity is Severity.ERROR:
            raise _unsound(path, f"{finding.code} {finding.sentence()}")


def _check_text(path: str, problems: tuple[KraftoolError, ...]) -> None:
    if problems:
        raise _unsound(path, str(problems[0]))


def _unsound(path: str, reason: str) -> RepairRefused:
    return RepairRefused(
        f"the plan's result is not sound, and nothing was changed: {path}: {reason}"
    )
