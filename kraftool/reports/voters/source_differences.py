"""The differences between sources: clusters, newest voter sets, records at the same offset.

Owns the comparison of several sources with each other. It refuses to call a source that merely
ends earlier a contradiction: its set then is an earlier one of the same history. Whether it is the
same history, the epochs of the records at the shorter one's end tell.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from kraftool.directory.node_directory import NodeDirectory
from kraftool.directory.voter_history import Commitment, HistoryEntry, Origin
from kraftool.directory.voter_set import same_set, set_differences
from kraftool.reports.files.home_cluster import home_of
from kraftool.reports.findings.finding import Finding, Severity
from kraftool.reports.findings.kinds import directory as kinds

Sources = Sequence[NodeDirectory]


def newest_source(sources: Sources) -> NodeDirectory | None:
    """The source with the newest voter set by epoch and offset, unless a better log overrules it.

    One that its own log contradicts is a wrong snapshot's: its node would go by it, nobody else.
    Without any record, the first that tells voters at all.
    """
    recorded = [(source_report, source_report.newest) for source_report in sources]
    candidates = [
        (source_report, newest) for source_report, newest in recorded if newest is not None
    ]
    if not candidates:
        return next(
            (source_report for source_report in sources if source_report.in_force is not None), None
        )
    candidates.sort(
        key=lambda candidate: (
            not candidate[1].contradicted,
            candidate[1].epoch,
            candidate[1].offset,
        ),
        reverse=True,
    )
    for source, newest in candidates:
        if not any(_overrules(other, newest, source) for other in sources):
            return source
    return candidates[0][0]


def _overrules(other: NodeDirectory, entry: HistoryEntry, source: NodeDirectory) -> bool:
    """True if another log parted before it and would win an election against this one."""
    if entry.commitment is Commitment.COMMITTED:
        return False
    if entry.commitment is Commitment.REPLACED:
        return True
    log = other.log
    if log is None or source.log is None or log.rank <= source.log.rank:
        return False
    if entry.offset >= other.end:
        return source.parts_from(other) is not None
    return log.covers(entry.offset, entry.offset) and log.epoch_at(entry.offset) != entry.epoch


def clusters(sources: Sources) -> Iterator[Finding]:
    """Sources of another cluster than most of them."""
    home = home_cluster(sources)
    first = next((source for source in sources if source.node.cluster_id == home), None)
    for source in sources:
        if first is not None and is_foreign(source, home):
            yield kinds.CLUSTER_ID.at(
                source.name,
                f"it belongs to another cluster than {first.name}, so its voters are not compared",
                field="cluster.id",
                expected=str(home),
                found=str(source.node.cluster_id),
            )


def home_cluster(sources: Sources) -> str | None:
    """The cluster of most sources."""
    return home_of(source.node.cluster_id for source in sources)


def is_foreign(source: NodeDirectory, home: str | None) -> bool:
    """True if a source says that it is of another cluster than that."""
    return (source.node.cluster_id or home) != home


def differs(source: NodeDirectory, reference: NodeDirectory) -> tuple[str, ...]:
    """Return what would have to change for a source to have the newest voters, in words."""
    known, newest = source.in_force, reference.in_force
    if newest is None or source is reference:
        return ()
    if known is not None and known.source is not newest.source and not source.has_metadata:
        return ()  # settings beside records: what that means is told by the rules for settings
    differences: tuple[str, ...] = ()
    if known is not None:
        differences = set_differences(
            known.voters,
            newest.voters,
            came="missing here",
            gone="only here",
            recorded=known.is_recorded and newest.is_recorded,
        )
    levels = source.kraft_version, reference.kraft_version
    if None not in levels and levels[0] != levels[1]:
        differences += (f"kraft.version {levels[0]} → {levels[1]}",)
    return differences


def is_behind(source: NodeDirectory, sources: Sources) -> bool:
    """True if a source has an earlier set of the same history and ends before the next one."""
    if not source.has_metadata:
        return False
    newest = source.newest
    for other in sources:
        sets = other.voter_sets
        following = [entry for entry in sets if entry.offset >= source.end]
        if not following or other is source or source.parts_from(other) is not None:
            continue
        earlier = [entry for entry in sets if entry.offset < source.end]
        if newest is None:
            # Static voters are in no record: any history that only begins later goes on from them.
            if not earlier:
                return True
        elif any(
            entry.voters is not None and newest.voters is not None
            and same_set(entry.voters, newest.voters)
            for entry in earlier
        ):  # fmt: skip
            return True
    return False


def newest_sets(sources: Sources) -> Iterator[Finding]:
    """Each source's voters against the newest ones."""
    reference = newest_source(sources)
    if reference is None:
        return
    conflicting = {
        source_report.name for _, *both, _ in _conflicting(sources) for source_report in both
    }
    for source in sources:
        differences = differs(source, reference)
        if not differences:
            continue
        words = "; ".join(differences)
        if is_behind(source, sources):
            yield kinds.VOTERS_BEHIND.at(
                source.name,
                f"it ends at offset {source.end}, before the newest change of"
                f" {reference.name}: {words}",
                offset=source.end,
            )
        elif source.name not in conflicting:
            yield kinds.VOTERS_DIFFER.at(
                source.name,
                f"its voters differ from those of {reference.name}: {words}",
                offset=source.newest.offset if source.newest is not None else None,
            )


def conflicts(sources: Sources) -> Iterator[Finding]:
    """Logs that have another record where one has a change."""
    for entry, _, other, words in _conflicting(sources):
        yield _conflict(entry, other, words)


def _conflicting(
    sources: Sources,
) -> Iterator[tuple[HistoryEntry, NodeDirectory, NodeDirectory, str]]:
    """Each pair of records once: the entry, its source, the other source and what that has."""
    seen: set[tuple[object, object]] = set()
    logged = [
        {
            history_entry.offset: history_entry
            for history_entry in other.history.entries
            if history_entry.origin is Origin.LOG
        }
        for other in sources
    ]
    for source in sources:
        for entry in source.history.entries:
            if entry.origin is not Origin.LOG:
                continue
            for other, entries in zip(sources, logged, strict=True):
                if other is source:
                    continue
                counterpart = _other_record(entry, other, entries.get(entry.offset))
                if counterpart is None:
                    counterpart = _no_such_record(entry, source, other)
                if counterpart is None:
                    continue
                words, key = counterpart
                mine = (entry.offset, entry.epoch, entry.digest)
                if (mine, key) in seen or (key, mine) in seen:
                    continue
                seen.add((mine, key))
                yield entry, source, other, words


def _other_record(
    entry: HistoryEntry, other: NodeDirectory, there: HistoryEntry | None
) -> tuple[str, object] | None:
    """Return what another log has at an entry's offset, in words and as a key; None where the
    same.
    """
    log = other.log
    if log is None or not log.covers(entry.offset, entry.offset):
        return None
    epoch = log.epoch_at(entry.offset)
    if there is not None:
        key = (there.offset, there.epoch, there.digest)
        if key == (entry.offset, entry.epoch, entry.digest):
            return None
        if (there.differences, there.epoch) == (entry.differences, entry.epoch):
            return f"the same in a batch of other bytes, epoch {there.epoch}", key
        return f"{'; '.join(there.differences)}, epoch {there.epoch}", key
    return f"a record of epoch {epoch} that is not such a change", (entry.offset, epoch, other.name)


def _no_such_record(
    entry: HistoryEntry, source: NodeDirectory, other: NodeDirectory
) -> tuple[str, object] | None:
    """The same for an entry beyond the end of another log that parted before."""
    if entry.offset < other.end:
        return None
    offset = source.parts_from(other)
    if offset is None:
        return None
    epoch = other.epoch_at(offset)
    return (
        f"a log that diverged before: its record at offset {offset} has epoch {epoch}",
        (entry.offset, epoch, other.name),
    )


def _conflict(entry: HistoryEntry, other: NodeDirectory, words: str) -> Finding:
    epoch = other.log.epoch_at(entry.offset) if other.log is not None else None
    same_epoch = epoch == entry.epoch
    beyond = entry.offset >= other.end
    text = (
        f"{other.name}"
        f" {'does not have this record' if beyond else 'has another record at this offset'}"
    )
    if same_epoch:
        text += (
            " in the same epoch. Two leaders in one epoch, an edited log or another cluster's"
            " log can cause that"
        )
    return kinds.VOTERS_CONFLICT.at(
        entry.file,
        f"{text}{_commitment_words(entry)}",
        position=entry.position,
        offset=entry.offset,
        expected=f"{'; '.join(entry.differences)}, epoch {entry.epoch}",
        found=words,
        severity=Severity.ERROR if same_epoch else None,
    )


def _commitment_words(entry: HistoryEntry) -> str:
    if entry.commitment is Commitment.COMMITTED:
        return f". This one is committed ({entry.reason})"
    if entry.commitment is Commitment.REPLACED:
        return ". The other one is committed"
    return ""
