"""What one reading of a directory says: facts, also of what is wrong in it, and no judgement.

Directories are those that real Kafka left, copied and then changed in one respect.
"""

import shutil
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from kraftool.decoders import framing
from kraftool.decoders.batch import encode_batch
from kraftool.decoders.errors import KraftoolError
from kraftool.decoders.kinds import FileKind
from kraftool.directory.file_report import (
    EntryBounds,
    EntryList,
    FileReport,
    ReadOptions,
    Settings,
)
from kraftool.directory.log_reader import summarize
from kraftool.directory.log_summary import LogSummary
from kraftool.directory.metadata_summary import VoterSource
from kraftool.directory.node_directory import NodeDirectory
from kraftool.directory.reading import Reading
from kraftool.storage.entry import EntryProblem
from kraftool.storage.paths import Location, LocationKind, open_path
from kraftool.storage.source import ByteSource
from tests.reports.feature_cases import Log, level
from tests.reports.voter_cases import add_snapshot, copied, make_node, started, version, voters
from tests.support.places import FIXTURES, LOG, PARTITION

DYNAMIC = FIXTURES / "kafka-4.3.0/dynamic-quorum/node-2/data"


def reading_of(location: Location, unreadable: str = "", **options: Any) -> Reading:
    def refuse() -> ByteSource:
        raise KraftoolError("Permission denied", hint="ask")

    reading = Reading()
    for entry in location.entries():
        if isinstance(entry, EntryProblem):
            reading.problems.append(entry)
            continue
        if entry.basename == unreadable:
            entry = replace(entry, opener=refuse)
        reading.read(entry, ReadOptions(**options), (), lambda name, position: None)
    return reading


def files_of(location: Location, **options: Any) -> tuple[FileReport, ...]:
    return reading_of(location, **options).loose(location)


def one(path: Path, unreadable: str = "") -> NodeDirectory:
    location = open_path(str(path))
    (directory,) = reading_of(location, unreadable).directories(location)
    return directory


@pytest.fixture
def dynamic(tmp_path: Path) -> Path:
    return copied(DYNAMIC.parent, tmp_path / "node") / "data"


def test_the_summary_tells_node_cluster_leader_and_voters() -> None:
    summary = one(FIXTURES / "kafka-4.3.0/dynamic-quorum/node-2/data").summary
    assert (summary.node.node_id, summary.node.directory_id) == (2, "vuSe5hpCRzWlSfeete_vAw")
    assert summary.node.cluster_id == "xxuyFdGYSvOPfcYJRNjaMA"
    assert summary.quorum_state is not None
    assert (summary.quorum_state.leader_epoch, summary.quorum_state.leader_id) == (3, 2)
    assert summary.leader_change is not None
    assert (summary.leader_change.epoch, summary.leader_change.leader_id) == (3, 2)
    assert summary.voter_set is not None
    assert summary.voter_set.source is VoterSource.RECORD
    assert {voter.id: voter.endpoints for voter in summary.voter_set.voters} == {
        2: {"CONTROLLER": ("127.0.0.1", 41733)},
        3: {"CONTROLLER": ("127.0.0.1", 43523)},
        4: {"CONTROLLER": ("127.0.0.1", 52501)},
    }
    # The newest snapshot repeats what the log's record at 80 said.
    assert summary.voter_set.offset == 80


def test_the_summary_tells_range_snapshots_and_features() -> None:
    summary = one(FIXTURES / "kafka-4.3.0/dynamic-quorum/node-2/data").summary
    assert summary.log is not None
    assert (summary.log.start, summary.log.end) == (0, 224)
    assert (summary.log.first_epoch, summary.log.last_epoch) == (1, 3)
    assert summary.log.intact_end == 224
    assert [
        (snapshot.offset, snapshot.epoch, snapshot.intact) for snapshot in summary.snapshots
    ] == [
        (0, 0, True),
        (85, 3, True),
        (153, 3, True),
        (203, 3, True),
    ]
    assert summary.finalized_kraft_version.level == 1
    metadata = summary.feature("metadata.version")
    assert metadata is not None
    assert (metadata.level, metadata.release) == (30, "4.3-IV0")
    assert (summary.brokers, summary.controllers) == ((11,), (1, 2, 3, 4))
    assert summary.transactions.committed == 1
    assert sum(type_count.records for type_count in summary.record_types) == 224


def test_a_log_ends_with_its_last_segment_whatever_an_earlier_one_claims(tmp_path: Path) -> None:
    first, last = Log().data_records(level("metadata.version", 30)), Log()
    first.end = 1000
    first.data_records(level("group.version", 1))
    last.end = 10
    last.data_records(level("share.version", 1))
    path = make_node(tmp_path, 1, first)
    (path / "__cluster_metadata-0" / f"{10:020}.log").write_bytes(last.data)
    directory = one(path)
    log = directory.log
    assert log is directory.summary.log
    assert log is not None
    assert (log.start, log.end, log.segments, log.last_epoch) == (0, 11, 2, 1)
    assert log.odd == 1
    assert not log.covers(0, 10)


def test_a_log_from_its_beginning_needs_no_damaged_snapshot(tmp_path: Path) -> None:
    data = tmp_path / "data"
    shutil.copytree(DYNAMIC, data)
    expected = one(data).summary
    for snapshot in (data / "__cluster_metadata-0").glob("*.checkpoint"):
        content = snapshot.read_bytes()
        snapshot.write_bytes(content[: 12 + int.from_bytes(content[8:12])])  # its first batch
    summary = one(data).summary
    assert not any(snapshot.intact for snapshot in summary.snapshots)
    assert summary.features == expected.features
    assert (summary.finalized_kraft_version, summary.voter_set) == (
        expected.finalized_kraft_version,
        expected.voter_set,
    )
    assert (summary.brokers, summary.controllers) == (expected.brokers, expected.controllers)
    (data / "__cluster_metadata-0" / f"{0:020}.log").unlink()
    assert one(data).summary.finalized_kraft_version.level == 1, "of the damaged snapshot"


@pytest.mark.parametrize(
    ("version", "level", "release"),
    [
        ("3.3.2", 7, "3.3-IV3"),
        ("3.7.2", 19, "3.7-IV4"),
        ("3.9.1", 21, "3.9-IV0"),
        ("4.1.1", 27, "4.1-IV1"),
        ("4.3.0", 30, "4.3-IV0"),
        ("4.4.0", 33, "4.4-IV2"),
    ],
)
def test_each_version_of_kafka_has_its_metadata_version(
    version: str, level: int, release: str
) -> None:
    summary = one(FIXTURES / f"kafka-{version}/static-single/node-1/data").summary
    metadata = summary.feature("metadata.version")
    assert metadata is not None
    assert (metadata.level, metadata.release) == (level, release)
    assert summary.finalized_kraft_version.level == 0


def test_static_voters_come_from_the_properties_file_if_there_is_one() -> None:
    node = FIXTURES / "kafka-3.3.2/static-quorum/node-1"
    without, given = one(node / "data").summary, one(node / "server.properties").summary
    assert without.voter_set is not None
    assert given.voter_set is not None
    assert without.voter_set.source is VoterSource.LEADER_CHANGE
    assert given.voter_set.source is VoterSource.PROPERTIES
    assert [voter.id for voter in given.voter_set.voters] == [1, 2, 3]
    assert all(voter.endpoints for voter in given.voter_set.voters)


def test_an_open_transaction_is_told_and_its_features_do_not_count(tmp_path: Path) -> None:
    feature = {"name": "metadata.version", "featureLevel": 30}
    begin = framing.encode_record("BeginTransactionRecord", 0, {"name": "n"})
    level = framing.encode_record("FeatureLevelRecord", 0, feature)
    end = framing.encode_record("EndTransactionRecord", 0, {})
    abort = framing.encode_record("AbortTransactionRecord", 0, {"reason": "r"})

    def log(*values: bytes) -> LogSummary:
        data = encode_batch(
            [(None, value) for value in values], base_offset=0, epoch=1, timestamp=1
        )
        return summarize(lambda position, size: data[position : position + size])

    assert log(begin, level).features == ()
    assert log(begin, level).open_transaction_offset == 0
    assert log(begin, level, abort).features == ()
    assert log(begin, level, abort).aborted_transactions == 1
    assert [feature_level.level for feature_level in log(begin, level, end).features] == [30]
    assert log(level, abort).ends_earlier_transaction == "aborted"
    assert log(level, abort).features == ()


def test_entries_are_kept_from_both_ends() -> None:
    data = FIXTURES / "kafka-4.3.0/static-single/node-1/data"
    path = data / "replication-offset-checkpoint"
    (file,) = files_of(open_path(str(path)), bounds=EntryBounds(head=2, tail=3))
    assert isinstance(file.content, EntryList)
    assert (len(file.content.head), len(file.content.tail)) == (2, 3)
    assert file.content.entries == 5 + file.content.omitted
    (whole,) = files_of(open_path(str(path)), bounds=EntryBounds(head=1000, tail=3))
    assert isinstance(whole.content, EntryList)
    assert whole.content.omitted == 0
    assert len(set(whole.content.head)) == whole.content.entries


def test_settings_are_masked_unless_asked_for() -> None:
    path = str(FIXTURES / "kafka-4.3.0/static-single/node-1/server.properties")
    location = replace(open_path(path), kind=LocationKind.FILE)
    (masked,) = files_of(location)
    (shown,) = files_of(location, show_secrets=True)
    assert isinstance(masked.content, Settings)
    assert isinstance(shown.content, Settings)
    assert "CANARY" not in repr(masked)
    assert "CANARY" in repr(shown)
    assert masked.content.settings["node.id"] == "1"


def test_the_kind_is_found_by_content_and_overridden(tmp_path: Path) -> None:
    partition = FIXTURES / "kafka-4.3.0/dynamic-quorum/node-2/data" / PARTITION
    renamed = tmp_path / "what-is-this"
    shutil.copy(partition / LOG, renamed)
    (file,) = files_of(open_path(str(renamed)))
    assert (file.kind, file.known_by_name) == (FileKind.LOG, False)
    (forced,) = files_of(open_path(str(renamed)), kind=FileKind.OFFSET_INDEX)
    assert isinstance(forced.content, EntryList)


# What is wrong is part of the value.


def test_a_file_that_kafka_refuses_has_the_errors_of_its_decoder(dynamic: Path) -> None:
    (dynamic / PARTITION / "quorum-state").write_bytes(b"garbage")
    file = one(dynamic).one(FileKind.QUORUM_STATE)
    assert file is not None
    assert file.is_refused
    assert file.errors[0].reason
    whole = one(DYNAMIC).one(FileKind.QUORUM_STATE)
    assert whole is not None
    assert (whole.is_refused, whole.errors) == (False, ())


def test_a_snapshot_that_is_cut_is_not_intact(dynamic: Path) -> None:
    newest = max((dynamic / PARTITION).glob("*.checkpoint"))
    newest.write_bytes(newest.read_bytes()[:-10])
    *older, cut = one(dynamic).summary.snapshots
    assert all(snapshot.intact for snapshot in older)
    assert not cut.intact
    (file,) = (file for file in one(dynamic).files if file.file == cut.file)
    assert file.log is not None
    assert file.log.problems


def test_a_segment_that_cannot_be_read_is_an_unread_log(dynamic: Path) -> None:
    directory = one(dynamic, unreadable=LOG)
    (unread,) = (file.unread for file in directory.files if file.unread is not None)
    assert (unread.reason, unread.hint) == ("Permission denied", "ask")
    assert directory.is_log_unread
    assert not one(dynamic).is_log_unread


def test_a_file_whose_name_kafka_cannot_use_is_no_segment(dynamic: Path) -> None:
    shutil.copy(dynamic / PARTITION / LOG, dynamic / PARTITION / "notes.log")
    directory = one(dynamic)
    (file,) = (file for file in directory.files if file.is_misplaced)
    assert (file.basename, file.kind, file.content) == ("notes.log", FileKind.UNKNOWN, None)
    assert [segment.basename for segment in directory.all_of(FileKind.LOG)] == [LOG]


def test_a_snapshot_with_other_voters_than_the_log_is_a_contradiction(tmp_path: Path) -> None:
    path = make_node(tmp_path / "n", 1, started())
    snapshot = add_snapshot(path, 7, 1, version(), voters(1, 2))
    (contradiction,) = one(path).history.contradictions
    assert contradiction.entry is not None
    assert (contradiction.snapshot, contradiction.offset) == (str(snapshot), 6)
    assert contradiction.before.words == "voters 1, 2, 3"
    assert contradiction.entry.words == "voters 1, 2"
    assert contradiction.changes == ("voter 3 removed",)
