"""The problems of a directory that show once all its files were read: files against each other.

Owns the judgement of one reading. It refuses to replay the log or to compare records with
indexes; that is verification. Each rule is a function from the directory to findings.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import replace
from itertools import chain

from kraftool.decoders.checkpoint_files import LeaderEpochCheckpoint
from kraftool.decoders.kinds import FileKind
from kraftool.decoders.meta_properties import MetaProperties
from kraftool.decoders.names import METADATA_TOPIC, FileState, parse_folder_name
from kraftool.decoders.quorum_state import QuorumStateFile
from kraftool.decoders.walk import BEGINNING, seam_faults
from kraftool.directory.directory_summary import base_offset
from kraftool.directory.file_report import FileReport
from kraftool.directory.node_directory import NodeDirectory
from kraftool.directory.voter_set import edited_node_id
from kraftool.image.uuids import is_reserved_directory
from kraftool.raft.names import NO_VOTERS
from kraftool.reports.directory.epoch_file import covers_start, epoch_findings
from kraftool.reports.directory.index_files import index_findings
from kraftool.reports.directory.named_ends import named_ends, trace_of_log
from kraftool.reports.files.false_upgrade import false_upgrade
from kraftool.reports.files.finding_limits import bounded
from kraftool.reports.files.log_cut import lost_by
from kraftool.reports.files.log_findings import log_finding
from kraftool.reports.files.severity_in_context import weighed
from kraftool.reports.files.snapshot_advice import (
    DAMAGES,
    bootstrap_advice,
    is_sound,
    snapshot_advice,
    with_exit,
)
from kraftool.reports.findings.finding import Finding, Severity
from kraftool.reports.findings.kinds import directory as dir_kinds
from kraftool.reports.findings.kinds import log as log_kinds
from kraftool.reports.findings.kinds import snapshot as snap_kinds
from kraftool.reports.voters import node_rules
from kraftool.reports.voters.commit import with_verdicts
from kraftool.reports.voters.judged_directory import history_findings
from kraftool.reports.voters.kafka_epochs import kafka_epochs


def is_topic(path: str, names: Iterable[str]) -> bool:
    """True if a partition's folder, with files of these names, is that of a topic, of which other
    things are to be said. A copy of the metadata's may have any name."""
    folder = parse_folder_name(os.path.basename(os.path.abspath(path)))
    if folder is None or folder.topic == METADATA_TOPIC:
        return False
    return not any(name == "quorum-state" or name.endswith(".checkpoint") for name in names)


def judge(
    case: NodeDirectory,
    of_file: Callable[[FileReport], Sequence[Finding]],
    *,
    is_compared: bool = False,
) -> tuple[Finding, ...]:
    """All findings of a directory: those of its files, then those of the files together.

    `of_file` gives the findings of one file by itself.
    `is_compared`: the caller asks the rules about voters of several directories together.
    """
    segments = sorted(case.all_of(FileKind.LOG), key=base_offset)
    between = list(_between_segments(segments))
    own = [(file, of_file(file)) for file in case.files]
    of_segments = (found for file, found in own if file in segments)
    sound = is_sound((*between, *chain.from_iterable(of_segments)))
    findings = [
        finding for file, found in own for finding in _settled(case, file, found, segments, sound)
    ]
    if not case.is_whole and is_topic(case.path, (report.basename for report in case.files)):
        return tuple(findings)
    for rule in _RULES:
        if not (is_compared and rule is voter_findings):
            findings += rule(case)
    return (*findings, *between)


def _settled(
    case: NodeDirectory,
    file: FileReport,
    findings: Iterable[Finding],
    segments: Sequence[FileReport],
    sound: bool,
) -> Iterator[Finding]:
    """A file's own findings, weighed by what lies beside it."""
    lost = lost_by(file, segments, case.files, case.summary) if file in segments else None
    is_last = file not in segments or file is segments[-1]
    for finding in findings:
        if file.file in case.cut and not _is_before_the_cut(finding):
            continue
        if finding.code in DAMAGES:
            known = with_exit(finding, file, case.summary)
            if file.kind is FileKind.BOOTSTRAP_CHECKPOINT:
                advice = bootstrap_advice(known, has_metadata=case.was_used)
            else:
                advice = snapshot_advice(case.summary, known, sound=sound)
            yield replace(known, advice=advice)
        else:
            yield weighed(finding, is_last=is_last, is_live=case.is_running, lost=lost)


def _is_before_the_cut(finding: Finding) -> bool:
    """Of a file that an archive cut, only what is wrong in the log's whole batches says anything
    about the file that it was made of."""
    return (
        finding.code in (log_kinds.CRC.code, log_kinds.RECORDS.code)
        or finding.severity is Severity.INFO
    )


def _meta_properties(case: NodeDirectory) -> Iterator[Finding]:
    file = case.one(FileKind.META_PROPERTIES)
    if file is None:
        if case.is_whole and case.files and case.has_partition:
            yield dir_kinds.META_MISSING.at(case.path, "there is no meta.properties")
        return
    meta = file.content
    if not isinstance(meta, MetaProperties) or not meta.accepted:
        return
    if meta.version == 0 and meta.node_id is None and case.has_partition:
        yield dir_kinds.META.at(file.file, _no_node_id(meta, file), field="broker.id")
    elif meta.version == 0:
        yield dir_kinds.META_V0.at(file.file, "it has version 0")
    if meta.node_id is not None and meta.node_id < 0:
        yield dir_kinds.META.at(
            file.file, "it has a negative node.id", field="node.id", found=str(meta.node_id)
        )
    if meta.directory_id is not None and is_reserved_directory(meta.directory_id):
        yield dir_kinds.META.at(
            file.file,
            "it has a reserved directory.id",
            field="directory.id",
            found=meta.directory_id,
        )
    if meta.cluster_id == "":
        yield dir_kinds.CLUSTER_ID_EMPTY.at(
            file.file, "there is nothing after cluster.id=", field="cluster.id"
        )
    if meta.directory_id is None and case.summary.finalized_kraft_version.level > 0:
        yield dir_kinds.NO_DIRECTORY_ID.at(file.file, "there is no directory.id")
    wanted = case.settings.node_id if case.settings is not None else None
    if wanted is not None and meta.node_id is not None and meta.node_id != wanted:
        sets = [entry.voters for entry in case.history.entries if entry.voters is not None]
        newest = sets[-1] if sets else NO_VOTERS
        is_edited = edited_node_id(meta.node_id, meta.directory_id, wanted, newest) is not None
        yield dir_kinds.NODE_ID.at(
            file.file,
            f"it was edited: the directory.id is voter {wanted}'s"
            if is_edited
            else "the directory of another node",
            advice=f"Kafka refuses to start. Write node.id={wanted} back" if is_edited else None,
            field="node.id",
            expected=str(wanted),
            found=str(meta.node_id),
        )


def _no_node_id(meta: MetaProperties, file: FileReport) -> str:
    """Version 0 knows no node.id; a version=1 may be there that Kafka does not see."""
    text = "without version=1 Kafka reads only broker.id, and there is none"
    if file.size == 0:
        return f"the file is empty: {text}"
    # Kafka reads the file as Latin-1, where the mark of UTF-8 is three letters of the first key.
    if any(key.startswith("\xef\xbb\xbf") for key in meta.unknown):
        text += ": the file begins with a byte order mark, which became part of the first key"
    return text


def _quorum_state(case: NodeDirectory) -> Iterator[Finding]:
    file = case.one(FileKind.QUORUM_STATE)
    if file is None:
        if case.was_used:
            yield dir_kinds.QUORUM_STATE_MISSING.at(case.path, "there is no quorum-state")
        return
    content, log = file.content, case.summary.log
    if not isinstance(content, QuorumStateFile) or content.quorum_state is None or log is None:
        return
    epoch, last = content.quorum_state.leader_epoch, log.last_epoch
    if last is not None and epoch < last:
        yield dir_kinds.QUORUM_STATE_BEHIND.at(
            file.file,
            "the epoch is below that of the log's last batch",
            field="leaderEpoch",
            expected=f"{last} or more",
            found=str(epoch),
            severity=Severity.INFO if case.is_running else None,
        )


def voter_findings(case: NodeDirectory) -> Iterator[Finding]:
    """Yield what the voters of a directory show without any other: who the node is beside them,
    jumps, snapshots."""
    # How meta.properties fits the settings is for the rule above.
    settings = replace(case.settings, node_id=None) if case.settings is not None else None
    sources = with_verdicts([replace(case, settings=settings)])
    yield from history_findings(case.history)
    yield from bounded(node_rules.membership(sources))
    yield from bounded(node_rules.jumps(sources))


def _snapshots(case: NodeDirectory) -> Iterator[Finding]:
    summary, log = case.summary, case.summary.log
    live = [snapshot for snapshot in summary.snapshots if snapshot.state is FileState.LIVE]
    newest = live[-1] if live else None
    if log is None:
        trace = trace_of_log(case)
        if trace:
            yield log_kinds.MISSING.at(case.path, f"there is no .log file, but {trace}")
        elif newest is not None and os.path.basename(newest.file) in case.planned:
            yield log_kinds.MISSING.at(
                case.path,
                "there is no .log file. The node begins one after the snapshot that a"
                " recovery plan made",
                severity=Severity.INFO,
                advice="run kraftool recover verify to see whether all is as planned",
            )
        elif newest is not None and newest.offset > 0 and not any(case.all_of(FileKind.LOG)):
            yield log_kinds.MISSING.at(case.path, "there is no .log file")
        return
    if not covers_start(summary):
        deleted = [
            snapshot
            for snapshot in summary.snapshots
            if snapshot.state is FileState.DELETED
            and snapshot.offset >= log.start
            and snapshot.intact
        ]
        advice = (
            "copy a .checkpoint of another node here and keep its name. Its offset must be"
            f" from {log.start} to {log.end}"
        )
        if deleted:
            advice = f"{deleted[-1].path} is intact. Remove .deleted from its name, on a copy first"
        yield snap_kinds.MISSING.at(
            case.path,
            f"the log begins at offset {log.start} and no snapshot reaches that offset",
            offset=log.start,
            advice=advice,
        )
    if newest is None or case.is_running:
        return
    newest = case.summary.loaded_snapshot or newest
    last_epoch = _latest_epoch(case)
    begins_there = log.start == log.end == newest.offset
    ahead = (newest.epoch, newest.offset) > (last_epoch, log.end)
    if newest.offset > 0 and ahead and not begins_there:
        yield snap_kinds.AHEAD.at(
            newest.file,
            f"it ends at offset {newest.offset} in epoch {newest.epoch}, and the log ends at"
            f" {log.end} in epoch {last_epoch}",
            offset=newest.offset,
        )


def _latest_epoch(case: NodeDirectory) -> int:
    """The log's last epoch as Kafka knows it: by leader-epoch-checkpoint and the batches."""
    file, log = case.one(FileKind.LEADER_EPOCH_CHECKPOINT), case.summary.log
    content = file.content if file is not None else None
    checkpoint = content.entries if isinstance(content, LeaderEpochCheckpoint) else ()
    starts = [
        start
        for report in case.all_of(FileKind.LOG)
        if report.log is not None
        for start in report.log.epochs
    ]
    start, end = (log.start, log.end) if log is not None else (0, 0)
    known = kafka_epochs(checkpoint, starts, start, end)
    return known[-1].epoch if known else -1


def _false_upgrade(case: NodeDirectory) -> Iterator[Finding]:
    level = case.summary.finalized_kraft_version.level
    claimed = [
        feature.level for feature in case.summary.features if feature.name == "kraft.version"
    ]
    finding = false_upgrade(case.path, claimed[0] if claimed else None, level)
    if finding is not None:
        yield finding


def _transactions(case: NodeDirectory) -> Iterator[Finding]:
    since = case.summary.transactions.open_offset
    if since is not None and not case.is_running:
        yield log_kinds.TXN_OPEN.at(
            case.path, "the metadata transaction that begins here does not end", offset=since
        )


def _swaps(case: NodeDirectory) -> Iterator[Finding]:
    for file in case.files:
        if file.state is FileState.SWAP and file.basename.endswith(".log.swap"):
            yield log_kinds.SWAP.at(file.file, f"{file.size} bytes of a segment")


def _leftovers(case: NodeDirectory) -> Iterator[Finding]:
    for state, words in _LEFTOVER_WORDS.items():
        files = [file for file in case.files if file.state is state]
        if files:
            total = sum(file.size for file in files)
            several = f"{len(files)} files are" if len(files) > 1 else "1 file is"
            where = files[0].file if len(files) == 1 else case.path
            yield dir_kinds.LEFTOVER.at(where, f"{several} {words}, {total} bytes")


_LEFTOVER_WORDS = {
    FileState.PART: "left over from a snapshot that was being written or fetched",
    FileState.DELETED: "waiting for deletion",
    FileState.CLEANED: "left over from an unfinished cleaning",
    FileState.TEMPORARY: "left over from an unfinished write",
}


def _emptiness(case: NodeDirectory) -> Iterator[Finding]:
    known = [file for file in case.files if file.kind is not FileKind.UNKNOWN]
    if not known:
        yield dir_kinds.NOTHING.at(case.path, "no Kafka file was found here")
    elif not case.was_used and not case.is_unlisted and not trace_of_log(case):
        yield log_kinds.NONE.at(
            case.path,
            "there is no metadata log here",
            advice=None if _may_have_voted(case) else "",
        )


def _may_have_voted(case: NodeDirectory) -> bool:
    """True if a vote can have gone with a log: a broker gives none, and a vote that was given may
    still be there."""
    if case.plays("controller") is False:
        return False
    file = case.one(FileKind.QUORUM_STATE)
    content = file.content if file is not None else None
    return not isinstance(content, QuorumStateFile) or content.quorum_state is None


_RULES: tuple[Callable[[NodeDirectory], Iterator[Finding]], ...] = (
    _emptiness,
    _meta_properties,
    _quorum_state,
    voter_findings,
    _snapshots,
    epoch_findings,
    _false_upgrade,
    _transactions,
    index_findings,
    named_ends,
    _swaps,
    _leftovers,
)


def _between_segments(segments: Sequence[FileReport]) -> Iterator[Finding]:
    """Yield a finding for each segment that does not continue where the one before it ends."""
    before = BEGINNING
    for file in segments:
        log = file.log
        if log is None or not log.is_metadata:
            continue
        for fault in seam_faults(before, log.walked):
            yield log_finding(file.file, fault)
        before = before.joined(log.walked)


def between_directories(cases: Sequence[NodeDirectory]) -> Iterator[Finding]:
    """Yield what is odd about several directories of one PATH."""
    clusters: dict[str, list[str]] = {}
    directory_ids: dict[str, str] = {}
    for case in cases:
        node = case.summary.node
        if node.cluster_id:
            clusters.setdefault(node.cluster_id, []).append(case.path)
        if node.directory_id is None:
            continue
        other = directory_ids.setdefault(node.directory_id, case.path)
        if other != case.path:
            yield dir_kinds.SAME_DIRECTORY_ID.at(
                case.path, f"{other} has the same directory.id {node.directory_id}"
            )
    if len(clusters) > 1:
        home = max(clusters, key=lambda cluster_id: len(clusters[cluster_id]))
        for other, paths in clusters.items():
            if other != home:
                yield dir_kinds.CLUSTER_ID.at(
                    paths[0],
                    f"it belongs to another cluster than {clusters[home][0]}",
                    field="cluster.id",
                    expected=home,
                    found=other,
                )
