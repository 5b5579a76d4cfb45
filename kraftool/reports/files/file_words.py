"""The content of files in a phrase; their types of records and folders in words."""

from __future__ import annotations

from collections.abc import Sequence

from kraftool.decoders.checkpoint_files import LeaderEpochCheckpoint, PartitionMetadata
from kraftool.decoders.kinds import FileKind
from kraftool.decoders.meta_properties import MetaProperties
from kraftool.decoders.names import METADATA_TOPIC_ID, FileState
from kraftool.decoders.quorum_state import QuorumStateFile
from kraftool.directory.file_report import EntryList, FileReport, Settings
from kraftool.directory.log_summary import LogSummary, TypeCount
from kraftool.reports.files.file_findings import file_findings
from kraftool.reports.text.words import many, offsets
from kraftool.storage.entry import FolderCounts
from kraftool.storage.lock import LockState

_STATES = {
    FileState.PART: "unfinished",
    FileState.DELETED: "to be deleted",
    FileState.CLEANED: "unfinished cleaning",
    FileState.SWAP: "unfinished cleaning",
    FileState.TEMPORARY: "unfinished write",
}
_ENTRY_WORDS = {
    FileKind.OFFSET_INDEX: "entry",
    FileKind.TIME_INDEX: "entry",
    FileKind.TXN_INDEX: "aborted transaction",
    FileKind.OFFSET_CHECKPOINT: "partition",
    FileKind.PRODUCER_STATE: "producer",
}


def type_label(count: TypeCount) -> str:
    """A record type as the log table shows it; one that the catalogue lacks by its number."""
    if count.type or count.is_control:
        return count.type or f"control type {count.type_id}"
    return f"record type {count.type_id}" if count.type_id is not None else "not a metadata record"


def folder_counts(folders: FolderCounts) -> str:
    """The folders that were counted and not read."""
    counts = (
        (folders.topics, "topic partition"),
        (folders.deleted, "-delete folder"),
        (folders.stray, "-stray folder"),
        (folders.future, "-future folder"),
        (folders.others, "other folder"),
    )
    return ", ".join(many(count, noun) for count, noun in counts if count)


def by_label(types: Sequence[TypeCount]) -> list[tuple[str, int]]:
    """Counts by type over all versions, the most frequent first."""
    counts: dict[str, int] = {}
    for type_count in types:
        label = type_label(type_count)
        counts[label] = counts.get(label, 0) + type_count.records
    return sorted(counts.items(), key=lambda label_count: (-label_count[1], label_count[0]))


_LOCKS = {
    LockState.HELD: "lock file, held by a running process",
    LockState.FREE: "lock file, not held",
}


def holds(file: FileReport, lock: LockState = LockState.UNKNOWN) -> str:
    """Return what a file holds, in a phrase. `lock` is the state of the directory's lock."""
    content = file.content
    if not file.is_live and content is None:
        return _STATES[file.state]
    prefix = "" if file.is_live else f"{_STATES[file.state]}: "
    match content:
        case LogSummary():
            return prefix + _log(file, content)
        case QuorumStateFile():
            return _quorum_state(content)
        case MetaProperties():
            return f"node {content.node_id}" if content.node_id is not None else "no node.id"
        case LeaderEpochCheckpoint():
            if not content.entries:
                return "no epochs"
            last = content.entries[-1]
            epochs = many(len(content.entries), "epoch")
            return f"{epochs}, {last.epoch} from {last.start_offset}"
        case PartitionMetadata():
            if content.topic_id == METADATA_TOPIC_ID:
                return "the metadata topic's id"
            return f"topic id {content.topic_id}"
        case EntryList():
            spare = ", preallocated" if content.preallocated_size else ""
            is_damaged = any(finding.undecoded for finding in file_findings(file))
            damaged = ", damaged" if is_damaged else ""
            return many(content.entries, _ENTRY_WORDS.get(file.kind, "entry")) + spare + damaged
        case Settings():
            return many(len(content.settings), "setting")
    if file.kind is FileKind.LOCK:
        return _LOCKS.get(lock, "lock file")
    if file.kind is FileKind.CLEAN_SHUTDOWN:
        return "Kafka stopped cleanly"
    if file.kind is FileKind.WITNESS:
        return "kraftool node runs on it, or was killed"
    return "not read" if file_findings(file) else "not known"


def _log(file: FileReport, log: LogSummary) -> str:
    if not log.batches:
        return "empty" if not file.size else "no batch"
    if file.kind is FileKind.LOG:
        assert log.end_offset is not None, "a batch has a last offset"
        damaged = ", damaged" if log.problems else ""
        return f"{offsets(log.start_offset or 0, log.end_offset)}{damaged}"
    records = many(log.records - log.control_records, "record")
    if log.problems:
        return f"{records}, damaged"
    return f"{records}, {'whole' if log.has_header and log.has_footer else 'incomplete'}"


def _quorum_state(content: QuorumStateFile) -> str:
    state = content.quorum_state
    if state is None:
        return "unreadable"
    leader = f"leader {state.leader_id}" if state.leader_id >= 0 else "no leader"
    return f"epoch {state.leader_epoch}, {leader}"
