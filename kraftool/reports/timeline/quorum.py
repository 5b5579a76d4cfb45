"""Events of the quorum itself: elections, voters, kraft.version, features, transactions.

Owns their wording. It says only what the log shows: an epoch without a record may be a failed
election, a leader that resigned before it wrote, or one whose records were cut off later.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from kraftool.image.features import zk_migration_name
from kraftool.image.metadata_version import METADATA_VERSION, release_name
from kraftool.reports.findings.finding import Severity
from kraftool.reports.text.words import many
from kraftool.reports.timeline.batches import Watched
from kraftool.reports.timeline.event_words import duration, endpoints, ids
from kraftool.reports.timeline.events import Category, Event, Rank
from kraftool.reports.timeline.knowledge import Knowledge, Leadership, TransactionInProgress
from kraftool.reports.timeline.record_event import record_event

_KRAFT_VERSION = "kraft.version"


def leader_change(record: Watched, epoch: int, known: Knowledge) -> Iterator[Event]:
    """A LeaderChange: an election was won."""
    data = record.data
    leader = data["leaderId"]
    granted = [granting_voter["voterId"] for granting_voter in data["grantingVoters"]]
    voters = [voter["voterId"] for voter in data["voters"]]
    before = known.leadership
    fields: dict[str, Any] = {
        "leader": leader,
        "epoch": epoch,
        "voters": voters,
        "grantedBy": granted,
        "previousLeader": before.leader if before is not None else None,
        "previousEpoch": known.last_epoch,
        "epochsSkipped": None,
        "gapMs": None,
        "previousLedMs": None,
    }
    details = []
    if granted:
        details.append(f"granted by {ids(sorted(granted))} of voters {ids(sorted(voters))}")
    last_epoch = known.last_epoch
    if last_epoch is None and known.from_start and record.offset == 0:
        last_epoch = 0  # nobody ever leads in epoch 0
    if known.last_timestamp is not None:
        gap = record.timestamp - known.last_timestamp
        fields["gapMs"] = gap
        words = duration(gap) if gap >= 0 else f"{duration(-gap)} before, by its own clock,"
        after = "after " if gap >= 0 else ""
        details.append(f"{words} {after}the last record of epoch {known.last_epoch}")
    if last_epoch is not None:
        skipped = max(epoch - last_epoch - 1, 0)
        fields["epochsSkipped"] = skipped
        if skipped:
            first, last = last_epoch + 1, epoch - 1
            which = f"epoch {first}" if first == last else f"epochs {first} to {last}"
            details.append(f"{which} left no record, as failed elections do")
    if before is not None and known.last_timestamp is not None:
        led = known.last_timestamp - before.timestamp
        fields["previousLedMs"] = led
        again = " and won again" if before.leader == leader else ""
        details.append(f"{before.leader} had led for {duration(led)}{again}")
    yield record_event(
        record, epoch, Category.ELECTIONS, "leader-elected",
        f"{leader} elected leader of epoch {epoch}", fields, details,
    )  # fmt: skip
    known.leadership = Leadership(leader, epoch, record.offset, record.timestamp)


def _voter(voter: dict[str, Any]) -> str:
    return f"{voter['voterId']} at {endpoints(voter['endpoints'])}"


def _described(voter: dict[str, Any]) -> dict[str, Any]:
    """A voter as the record has it."""
    supported = voter["kRaftVersionFeature"]
    return {
        "id": voter["voterId"],
        "directoryId": voter["voterDirectoryId"],
        "endpoints": [f"{one['name']}://{one['host']}:{one['port']}" for one in voter["endpoints"]],
        "minKRaftVersion": supported["minSupportedVersion"],
        "maxKRaftVersion": supported["maxSupportedVersion"],
    }


def voters(record: Watched, epoch: int, known: Knowledge) -> Iterator[Event]:
    """A KRaftVoters record, told as its difference from the one before."""
    now = {voter["voterId"]: voter for voter in record.data["voters"]}
    before = known.voters
    fields: dict[str, Any] = {
        "voters": sorted(now),
        "set": [_described(now[id]) for id in sorted(now)],
        "added": [],
        "removed": [],
        "updated": [],
    }
    details: list[str] = []
    if before is None:
        what = f"voters {ids(sorted(now))}"
        details = [_voter(now[id]) for id in sorted(now)]
    else:
        changes = []
        for id in sorted({*now, *before}):
            if id not in before:
                fields["added"].append(id)
                changes.append(f"voter {_voter(now[id])} added")
                details.append(f"directory {now[id]['voterDirectoryId']}")
            elif id not in now:
                fields["removed"].append(id)
                changes.append(f"voter {id} removed")
            elif changed := _changed(before[id], now[id]):
                fields["updated"].append(id)
                changes.append(f"voter {id} updated: {changed}")
        what = ids(changes) or "voters repeated, unchanged"
        details.append(f"voters are {ids(sorted(now))}")
    yield record_event(record, epoch, Category.VOTERS, "voters", what, fields, details)
    known.voters = now


def _changed(before: dict[str, Any], now: dict[str, Any]) -> str:
    """Return what differs of one voter, in words."""
    changes = []
    if before["voterDirectoryId"] != now["voterDirectoryId"]:
        changes.append(f"directory {before['voterDirectoryId']} → {now['voterDirectoryId']}")
    old, new = endpoints(before["endpoints"]), endpoints(now["endpoints"])
    if old != new:
        changes.append(f"endpoints {old} → {new}")
    first, second = before["kRaftVersionFeature"], now["kRaftVersionFeature"]
    if first != second:
        low, high = second["minSupportedVersion"], second["maxSupportedVersion"]
        changes.append(f"supports kraft.version {low} to {high}")
    return " and ".join(changes)


def kraft_version(record: Watched, epoch: int, known: Knowledge) -> Iterator[Event]:
    """A KRaftVersion control record."""
    level, before = record.data["kRaftVersion"], known.kraft_version
    if before is None and not known.from_start:
        what = f"kraft.version {level}"
    elif (before or 0) == level:
        what = f"kraft.version {level} repeated"
    else:
        what = f"kraft.version {before or 0} → {level}"
    data = {"name": _KRAFT_VERSION, "from": before, "to": level}
    yield record_event(record, epoch, Category.FEATURES, "kraft-version", what, data)
    known.kraft_version = level


def feature_level(record: Watched, epoch: int, known: Knowledge) -> Iterator[Event]:
    """A FeatureLevelRecord."""
    name, level = record.data["name"], record.data["featureLevel"]
    features = known.metadata.features
    before = features.get(name)
    details: tuple[str, ...] = ()
    severity = Severity.INFO
    if before is None:
        what = f"{name} {_level(name, level)}"
    elif before == level:
        what = f"{name} {_level(name, level)} written again"
    else:
        what = f"{name} {_level(name, before)} → {_level(name, level)}"
        if level < before:
            details, severity = ("a downgrade",), Severity.WARNING
    if level == 0:
        details = ("which disables it",)
    if name == _KRAFT_VERSION:
        what = f"a FeatureLevelRecord claims kraft.version {level}"
        details, severity = ("which Kafka ignores: only control records set it",), Severity.WARNING
    data = {
        "name": name,
        "from": before,
        "to": level,
        "fromRelease": release_name(name, before) or None if before is not None else None,
        "toRelease": release_name(name, level) or None,
    }
    yield record_event(
        record, epoch, Category.FEATURES, "feature-level", what, data, details, severity=severity
    )
    if level:
        features[name] = level
    else:
        features.pop(name, None)


def _level(name: str, level: int) -> str:
    if name != METADATA_VERSION:
        return str(level)
    return f"{release_name(name, level) or 'of a newer Kafka'} ({level})"


def zk_migration(record: Watched, epoch: int, known: Knowledge) -> Iterator[Event]:
    """A ZkMigrationStateRecord, which Kafka 3.4 to 3.9 wrote."""
    state = record.data["zkMigrationState"]
    what = f"ZooKeeper migration state {zk_migration_name(state)}"
    yield record_event(record, epoch, Category.FEATURES, "zk-migration", what, {"state": state})


def begin(record: Watched, epoch: int, known: Knowledge) -> Iterator[Event]:
    """A BeginTransactionRecord. Its event goes with those of the transaction."""
    name = record.data.get("name")
    details: tuple[str, ...] = (f"named {name!r}",) if name else ()
    severity = Severity.INFO
    if known.transaction is not None:
        details += (f"though one is open since offset {known.transaction.offset}",)
        severity = Severity.ERROR
    yield record_event(
        record, epoch, Category.TRANSACTIONS, "transaction-began", "metadata transaction begins",
        {"name": name}, details, severity=severity,
    )  # fmt: skip
    known.transaction = TransactionInProgress(
        record.offset, name, known.metadata.copied(), record.timestamp
    )


def end(record: Watched, epoch: int, known: Knowledge) -> Iterator[Event]:
    """An EndTransactionRecord or AbortTransactionRecord."""
    aborted = record.name == "AbortTransactionRecord"
    word = "aborted" if aborted else "committed"
    reason = record.data.get("reason") if aborted else None
    opened = known.transaction
    fields: dict[str, Any] = {
        "name": opened.name if opened is not None else None,
        "begin": opened.offset if opened is not None else None,
        "records": None,
        "reason": reason,
    }
    details = [f"reason: {reason}"] if reason else []
    severity = Severity.WARNING if aborted else Severity.INFO
    if opened is not None:
        fields["records"] = record.offset - opened.offset - 1 - opened.controls
        details.append(f"{many(fields['records'], 'record')} since offset {opened.offset}")
        lasted = record.timestamp - opened.timestamp
        if lasted >= 1000:
            details.append(f"after {duration(lasted)}")
        if aborted:
            known.metadata = opened.before
    elif known.from_start:
        details.append("though none had begun")
        severity = Severity.ERROR
    else:
        details.append("it began before this log")
    yield record_event(
        record, epoch, Category.TRANSACTIONS, f"transaction-{word}",
        f"metadata transaction {word}", fields, details, severity=severity,
    )  # fmt: skip
    known.transaction = None


def lost_election(offset: int, epoch: int, timestamp: int, known: Knowledge) -> Event:
    """An epoch that begins with something else than a LeaderChange, which damage can lead to."""
    return Event(
        category=Category.ELECTIONS,
        type="epoch-began",
        offset=offset,
        epoch=epoch,
        timestamp=timestamp,
        what=f"epoch {epoch} begins, without a LeaderChange that can be read",
        severity=Severity.WARNING,
        data={"epoch": epoch, "previousEpoch": known.last_epoch},
    )


def still_open(known: Knowledge) -> Event | None:
    """The transaction that is open where the log ends."""
    opened = known.transaction
    if opened is None:
        return None
    records = known.last_offset - opened.offset - opened.controls
    return Event(
        category=Category.TRANSACTIONS,
        type="transaction-open",
        offset=known.last_offset + 1,
        epoch=known.last_epoch,
        timestamp=known.last_timestamp,
        rank=Rank.LOG_END,
        what=f"the metadata transaction of offset {opened.offset} is open where the log ends",
        details=(f"{many(records, 'record')} not visible",),
        severity=Severity.WARNING,
        data={"name": opened.name, "begin": opened.offset, "records": records},
    )
