"""What is odd about a directory once all its files were read: files against each other.

Owns the judgement of one reading. It refuses to replay the log or to compare records with
indexes; that is verification. Each rule is a function from the directory to findings.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace

from kraftool.decoders.checkpoint_files import LeaderEpochCheckpoint
from kraftool.decoders.indexes import OffsetPosition
from kraftool.decoders.kinds import FileKind
from kraftool.decoders.meta_properties import MetaProperties
from kraftool.decoders.names import METADATA_TOPIC, FileState, parse_folder_name, parse_segment_name
from kraftool.decoders.quorum_state import QuorumStateFile
from kraftool.reports.directory_summary import base_offset
from kraftool.reports.file_report import Entries, FileReport
from kraftool.reports.findings import Finding, Severity
from kraftool.reports.kinds import directory as dir_kinds
from kraftool.reports.kinds import log as log_kinds
from kraftool.reports.kinds import snapshot as snap_kinds
from kraftool.reports.log_loss import loss
from kraftool.reports.metadata_summary import MetadataSummary, VoterSource
from kraftool.storage.entry import Place


@dataclass(frozen=True, slots=True, kw_only=True)
class Case:
    """A directory to judge."""

    path: str
    files: tuple[FileReport, ...]
    summary: MetadataSummary
    is_live: bool = False
    """Whether another process holds the lock: the files then differ by when each was read."""
    is_whole: bool = True
    """Whether the data directory itself was read, and not only its partition."""
    roles: tuple[str, ...] = ()
    """process.roles, where the PATH was a properties file."""
    configured_node_id: int | None = None

    def live(self, kind: FileKind) -> Iterator[FileReport]:
        return (each for each in self.files if each.kind is kind and each.is_live)

    def one(self, kind: FileKind) -> FileReport | None:
        return next(self.live(kind), None)

    @property
    def has_metadata(self) -> bool:
        """Whether a metadata partition lies here that was used, not only formatted."""
        return self.summary.log is not None or any(
            each.offset > 0 for each in self.summary.snapshots
        )

    @property
    def has_partition(self) -> bool:
        return any(each.place is Place.PARTITION for each in self.files)


def is_topic(path: str) -> bool:
    """Whether a PATH is the folder of a topic's partition, of which other things are to be said."""
    folder = parse_folder_name(os.path.basename(os.path.normpath(path)))
    return folder is not None and folder.topic != METADATA_TOPIC


def judge(case: Case) -> tuple[Finding, ...]:
    """All findings of a directory: those of its files, then those of the files together."""
    segments = sorted(case.live(FileKind.LOG), key=base_offset)
    findings = [each for file in case.files for each in _settled(case, file, segments)]
    if not case.is_whole and is_topic(case.path):
        return tuple(findings)
    for rule in _RULES:
        findings += rule(case)
    findings += _between_segments(segments)
    return tuple(findings)


def _settled(case: Case, file: FileReport, segments: Sequence[FileReport]) -> Iterator[Finding]:
    """A file's own findings, weighed by what lies beside it."""
    tails = (log_kinds.TORN_TAIL.code, log_kinds.ZERO_TAIL.code)
    newest = case.summary.newest_snapshot
    lost = loss(case.summary) if file in segments else None
    for each in file.findings:
        if each.code in tails and file in segments and file is not segments[-1]:
            text = f"{each.text}, and another segment follows"
            yield replace(
                each,
                code=log_kinds.DAMAGE.code,
                severity=Severity.ERROR,
                text=text,
                advice=lost or log_kinds.DAMAGE.advice,
            )
        elif each.code == log_kinds.TORN_TAIL.code and case.is_live:
            text = "a batch is being written by the running node"
            yield replace(each, severity=Severity.INFO, undecoded=False, text=text, advice="")
        elif lost is not None and each.code in _CUTTING:
            yield replace(each, advice=lost)
        elif each.code in (snap_kinds.DAMAGE.code, snap_kinds.FORM.code):
            is_newest = newest is not None and newest.file == file.name
            yield replace(each, advice=_snapshot_advice(case, is_newest=is_newest))
        else:
            yield each


_CUTTING = frozenset({log_kinds.CRC.code, log_kinds.DAMAGE.code, log_kinds.GAP.code})


def _snapshot_advice(case: Case, *, is_newest: bool) -> str:
    if not is_newest:
        return "Kafka starts from the newest snapshot; this older one is not needed for that"
    log = case.summary.log
    if (
        log is not None
        and log.start_offset == 0
        and log.batches
        and (log.intact_end_offset == log.end_offset)
    ):
        return (
            "Kafka dies on it, at its start or later; the log is whole from 0, so with Kafka"
            " stopped move the snapshot away, and Kafka reads the log"
        )
    return (
        "Kafka dies on it, at its start or later; put the same .checkpoint of another node in"
        " its place, or an older one that still covers the log's start"
    )


def _meta_properties(case: Case) -> Iterator[Finding]:
    file = case.one(FileKind.META_PROPERTIES)
    if file is None:
        if case.is_whole and case.files and case.has_partition:
            yield dir_kinds.META_MISSING.at(case.path, "there is no meta.properties")
        return
    meta = file.content
    if not isinstance(meta, MetaProperties) or not meta.accepted:
        return
    if meta.version == 0:
        yield dir_kinds.META_V0.at(file.name, "version 0")
    if meta.directory_id is None and case.summary.kraft_version.level > 0:
        yield dir_kinds.NO_DIRECTORY_ID.at(file.name, "there is no directory.id")
    wanted = case.configured_node_id
    if wanted is not None and meta.node_id is not None and meta.node_id != wanted:
        yield dir_kinds.NODE_ID.at(
            file.name,
            "another node's directory",
            field="node.id",
            expected=str(wanted),
            found=str(meta.node_id),
        )


def _quorum_state(case: Case) -> Iterator[Finding]:
    file = case.one(FileKind.QUORUM_STATE)
    if file is None:
        if case.has_metadata:
            yield dir_kinds.QUORUM_STATE_MISSING.at(case.path, "there is no quorum-state")
        return
    content, log = file.content, case.summary.log
    if not isinstance(content, QuorumStateFile) or content.state is None or log is None:
        return
    epoch, last = content.state.leader_epoch, log.last_epoch
    if last is not None and epoch < last:
        yield dir_kinds.QUORUM_STATE_BEHIND.at(
            file.name,
            "the epoch is below that of the log's last batch",
            field="leaderEpoch",
            expected=f"{last} or more",
            found=str(epoch),
            severity=Severity.INFO if case.is_live else None,
        )


def _voters(case: Case) -> Iterator[Finding]:
    summary, node = case.summary, case.summary.node
    voters = summary.voters
    if voters is None or node.node_id is None:
        return
    voter = voters.of(node.node_id)
    if voter is None:
        is_controller = (
            "controller" in case.roles if case.roles else (node.node_id in summary.controllers)
        )
        # Without either, a broker and a controller of an old Kafka look the same.
        if is_controller and voters.source in (VoterSource.RECORD, VoterSource.PROPERTIES):
            ids = ", ".join(str(each.id) for each in voters.voters)
            yield dir_kinds.NOT_A_VOTER.at(
                case.path, f"controller {node.node_id} is not among the voters {ids}"
            )
    elif (
        voter.directory_id is not None
        and node.directory_id is not None
        and voter.directory_id != node.directory_id
    ):
        yield dir_kinds.STALE_VOTER.at(
            case.path,
            f"node {node.node_id} votes with another directory id than this directory's",
            offset=voters.offset,
            field="directory.id",
            expected=voter.directory_id,
            found=node.directory_id,
        )


def _snapshots(case: Case) -> Iterator[Finding]:
    summary, log = case.summary, case.summary.log
    live = [each for each in summary.snapshots if each.state is FileState.LIVE]
    newest = live[-1] if live else None
    if log is None:
        if newest is not None and newest.offset > 0:
            yield log_kinds.MISSING.at(case.path, "there is no .log file")
        return
    if log.start_offset > 0 and not any(each.offset >= log.start_offset for each in live):
        deleted = [
            each
            for each in summary.snapshots
            if each.state is FileState.DELETED and each.offset >= log.start_offset and each.intact
        ]
        advice = None
        if deleted:
            advice = f"{deleted[-1].path} is intact: take .deleted off its name, on a copy first"
        yield snap_kinds.MISSING.at(
            case.path,
            f"the log begins at offset {log.start_offset} and no snapshot reaches that far",
            offset=log.start_offset,
            advice=advice,
        )
    if newest is None or case.is_live:
        return
    last_epoch = log.last_epoch if log.last_epoch is not None else -1
    begins_there = log.start_offset == log.end_offset == newest.offset
    ahead = newest.epoch > last_epoch or newest.offset > log.end_offset
    if newest.offset > 0 and ahead and not begins_there:
        yield snap_kinds.AHEAD.at(
            newest.file,
            f"it ends at offset {newest.offset} in epoch {newest.epoch}, the log at"
            f" {log.end_offset} in epoch {last_epoch}",
            offset=newest.offset,
        )


def _epochs(case: Case) -> Iterator[Finding]:
    file = case.one(FileKind.LEADER_EPOCH_CHECKPOINT)
    content = file.content if file is not None else None
    log = case.summary.log
    if file is None or not isinstance(content, LeaderEpochCheckpoint) or log is None:
        return
    if not content.accepted or case.is_live:
        return
    starts = [
        start
        for each in case.live(FileKind.LOG)
        if each.log is not None
        for start in each.log.epochs
    ]
    starts.sort(key=lambda each: each.start_offset)
    expected: dict[int, int] = {}
    for start in starts:
        expected.setdefault(start.epoch, start.start_offset)
    told = {each.epoch: each.start_offset for each in content.entries}
    # Kafka cuts the file at its log start, a snapshot's offset that no segment need begin at.
    cut = min(told.values(), default=-1)
    is_cut = any(each.offset == cut for each in case.summary.snapshots)
    begins = max(cut, log.start_offset) if is_cut else log.start_offset
    in_log = [each for each in expected.items() if each[1] >= begins]
    for epoch, offset in in_log:
        found = told.get(epoch)
        if found == offset or (offset == log.start_offset and found is not None and found < offset):
            continue
        yield dir_kinds.EPOCHS_DIFFER.at(
            file.name,
            f"epoch {epoch} begins elsewhere in the log",
            offset=offset,
            expected=f"{epoch} {offset}",
            found="no such epoch" if found is None else f"{epoch} {found}",
        )
        return
    for epoch, offset in told.items():
        inside = log.start_offset < offset < log.end_offset
        if inside and epoch not in expected:
            yield dir_kinds.EPOCHS_DIFFER.at(
                file.name,
                f"the log has no batch of epoch {epoch}",
                offset=offset,
                found=f"{epoch} {offset}",
            )
            return


def _false_upgrade(case: Case) -> Iterator[Finding]:
    """Kafka 3.9 answers an upgrade of kraft.version with success, and writes only this record."""
    claimed = [each.level for each in case.summary.features if each.name == "kraft.version"]
    if claimed and claimed[0] > case.summary.kraft_version.level:
        yield log_kinds.FALSE_UPGRADE.at(
            case.path,
            "a metadata record says kraft.version, which no KRaftVersion control record bears out",
            expected=str(case.summary.kraft_version.level),
            found=str(claimed[0]),
        )


def _transactions(case: Case) -> Iterator[Finding]:
    since = case.summary.transactions.open_since
    if since is not None and not case.is_live:
        yield log_kinds.TXN_OPEN.at(
            case.path, "the metadata transaction that begins here does not end", offset=since
        )


def _indexes(case: Case) -> Iterator[Finding]:
    sizes = {base_offset(each): each.size for each in case.live(FileKind.LOG)}
    for file in case.live(FileKind.OFFSET_INDEX):
        name = parse_segment_name(file.basename)
        last = file.content.last if isinstance(file.content, Entries) else None
        if name is None or case.is_live or not isinstance(last, OffsetPosition):
            continue
        size = sizes.get(name.base_offset)
        if size is not None and last.position >= size and not file.findings:
            yield log_kinds.INDEX.at(
                file.name,
                "the last entry points beyond the end of the segment",
                offset=last.offset,
                expected=f"a position below {size}",
                found=str(last.position),
            )


def _leftovers(case: Case) -> Iterator[Finding]:
    for state, words in _LEFTOVER_WORDS.items():
        found = [each for each in case.files if each.state is state]
        if found:
            total = sum(each.size for each in found)
            several = f"{len(found)} files are" if len(found) > 1 else "1 file is"
            where = found[0].name if len(found) == 1 else case.path
            yield dir_kinds.LEFTOVER.at(where, f"{several} {words}, {total} bytes")


_LEFTOVER_WORDS = {
    FileState.PART: "left of a snapshot that was being written or fetched",
    FileState.DELETED: "waiting for deletion",
    FileState.CLEANED: "left of an unfinished cleaning",
    FileState.SWAP: "left of an unfinished swap of segments",
    FileState.TEMPORARY: "left of an unfinished write",
}


def _emptiness(case: Case) -> Iterator[Finding]:
    known = [each for each in case.files if each.kind is not FileKind.UNKNOWN]
    if not known:
        yield dir_kinds.NOTHING.at(case.path, "there is nothing of Kafka's here")


_RULES: tuple[Callable[[Case], Iterator[Finding]], ...] = (
    _emptiness,
    _meta_properties,
    _quorum_state,
    _voters,
    _snapshots,
    _epochs,
    _false_upgrade,
    _transactions,
    _indexes,
    _leftovers,
)


def _between_segments(segments: Sequence[FileReport]) -> Iterator[Finding]:
    """Whether each segment goes on where the one before it ends."""
    end: int | None = None
    highest = -1
    for file in segments:
        log = file.log
        if log is None or not log.is_metadata:
            continue
        begins = log.start_offset if log.start_offset is not None else base_offset(file)
        damaged_start = bool(log.problems) and log.problems[0].position == 0
        if end is not None and begins != end and not damaged_start:
            yield log_kinds.GAP.at(
                file.name,
                "the segment does not go on where the one before it ends",
                position=0,
                offset=begins,
                expected=str(end),
                found=str(begins),
            )
        if log.epochs and log.epochs[0].epoch < highest:
            yield log_kinds.EPOCH_BACK.at(
                file.name,
                "the segment begins in an earlier epoch than the one before it ends in",
                position=12,
                offset=begins,
                expected=f"{highest} or more",
                found=str(log.epochs[0].epoch),
            )
        highest = max(highest, *(each.epoch for each in log.epochs), -1)
        end = log.end_offset if log.end_offset is not None else begins


def between_directories(cases: Sequence[Case]) -> Iterator[Finding]:
    """What is odd about several directories of one PATH."""
    clusters: dict[str, str] = {}
    directory_ids: dict[str, str] = {}
    for case in cases:
        node = case.summary.node
        if node.cluster_id is not None:
            clusters.setdefault(node.cluster_id, case.path)
        if node.directory_id is None:
            continue
        other = directory_ids.setdefault(node.directory_id, case.path)
        if other != case.path:
            yield dir_kinds.SAME_DIRECTORY_ID.at(
                case.path, f"{other} has the same directory.id {node.directory_id}"
            )
    if len(clusters) > 1:
        first, *rest = clusters
        for other in rest:
            yield dir_kinds.CLUSTER_ID.at(
                clusters[other],
                f"another cluster than that of {clusters[first]}",
                field="cluster.id",
                expected=first,
                found=other,
            )
