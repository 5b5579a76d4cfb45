"""verify-log holds the snapshots of a directory against its log."""

import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

from kraftool.decoders import framing
from kraftool.decoders.batch import RecordBatch, encode_batch
from kraftool.decoders.control import ControlRecordType, decode_value, encode_key, encode_value
from kraftool.decoders.segment import scan
from tests.reports.log_node import VOTERS, Node
from tests.support.places import PARTITION

NO_OP = framing.encode_record("NoOpRecord", 0, {})


# --- snapshots against the log ------------------------------------------------------------------


def test_a_snapshot_ends_where_a_batch_does(node: Node) -> None:
    batch = next(
        record_batch
        for record_batch in node.batches()
        if record_batch.header.record_count > 2 and record_batch.epoch == 3
    )
    node.snapshot_at(batch.base_offset + 1)
    assert node.found("KT-SNAP-LOG-BOUNDARY").offset == batch.base_offset + 1


def test_a_snapshots_epoch_is_that_of_the_log(node: Node) -> None:
    offset = int(node.snapshots()[-1].name[:20])
    node.snapshot_at(offset, epoch=2)
    finding = node.found("KT-SNAP-LOG-EPOCH")
    assert (finding.expected, finding.found) == ("3", "2")


Edit = Callable[[dict[str, Any]], dict[str, Any]]


def edit_header(path: Path, kind: ControlRecordType, edit: Edit) -> None:
    """Change a control record of a snapshot's first batch."""
    data = path.read_bytes()
    first = next(scan(lambda at, size: data[at : at + size]))
    assert isinstance(first, RecordBatch)
    records = []
    for record in first.records():
        value = record.value
        if record.key == encode_key(kind):
            value = encode_value(kind, edit(dict(decode_value(kind, value)[1])))
        records.append((record.key, value))
    again = encode_batch(
        records,
        base_offset=0,
        epoch=first.epoch,
        timestamp=first.header.max_timestamp,
        control=True,
    )
    path.write_bytes(again + data[first.size :])


TIMESTAMP = "KT-SNAP-LOG-TIMESTAMP"


def header_time(path: Path, timestamp: int) -> None:
    """Give the header another lastContainedLogTimestamp."""
    key = "lastContainedLogTimestamp"
    edit_header(path, ControlRecordType.SNAPSHOT_HEADER, lambda value: {**value, key: timestamp})


def times_from(node: Node, offset: int) -> list[int]:
    """The time of the batch that ends before the offset, then of the later ones of its epoch."""
    batches = [batch for batch in node.batches() if batch.last_offset + 1 >= offset]
    assert batches[0].last_offset + 1 == offset
    return [batch.header.max_timestamp for batch in batches if batch.epoch == batches[0].epoch]


def test_a_snapshots_header_has_the_time_of_its_last_batch_or_a_later_one(node: Node) -> None:
    """A leader may read the time from a buffer that a later batch uses, of the log or of a
    snapshot that is written then: see KT-SNAP-LOG-TIMESTAMP."""
    newest = node.snapshots()[-1]
    times = times_from(node, int(newest.name[:20]))
    assert len(times) > 2
    assert times == sorted(set(times)), "a gap between any two"
    for allowed in (*times, times[0] + 1, times[-1] - 1, times[-1] + 1):
        header_time(newest, allowed)
        assert node.codes() == [], "the batch of a later time may be lost, or of another snapshot"
    for wrong in (0, times[0] - 1):
        header_time(newest, wrong)
        finding = node.found(TIMESTAMP)
        assert (finding.expected, finding.found) == (str(times[0]), str(wrong))


def test_a_batch_of_a_later_leader_excuses_no_header(node: Node) -> None:
    newest = node.snapshots()[-1]
    times = times_from(node, int(newest.name[:20]))
    node.append(NO_OP, epoch=4)
    batch = node.batches()[-1]
    node.sealed(batch, base_timestamp=times[0] - 1, max_timestamp=times[0] - 1)
    header_time(newest, times[0] - 1)
    assert TIMESTAMP in node.codes()


def test_a_clock_that_was_set_back_excuses_an_earlier_time(node: Node) -> None:
    newest = node.snapshots()[-1]
    times = times_from(node, int(newest.name[:20]))
    node.append(NO_OP, epoch=node.batches()[-1].epoch)
    batch = node.batches()[-1]
    node.sealed(batch, base_timestamp=times[0] - 1, max_timestamp=times[0] - 1)
    header_time(newest, times[0] - 1)
    assert TIMESTAMP not in node.codes()


def test_a_snapshots_voters_are_those_of_the_log_in_any_order(node: Node) -> None:
    newest = node.snapshots()[-1]
    edit_header(newest, VOTERS, lambda value: {**value, "voters": value["voters"][::-1]})
    assert node.codes() == []
    edit_header(newest, VOTERS, lambda value: {**value, "voters": value["voters"][1:]})
    assert node.codes() == ["KT-SNAP-LOG-VOTERS"]


def test_a_snapshot_beyond_the_log_is_told_and_one_at_its_end_is_fine(node: Node) -> None:
    end, now = node.end, node.now
    path = node.snapshot_at(end)
    key = "lastContainedLogTimestamp"
    edit_header(path, ControlRecordType.SNAPSHOT_HEADER, lambda value: {**value, key: now})
    assert node.codes() == ["KT-SNAP-DIFFERS"], "its state is of another offset"
    node.snapshot_at(end + 1)
    assert node.codes() == ["KT-SNAP-AHEAD"]


def test_without_the_snapshot_that_covers_the_start_nothing_is_replayed(
    fixtures_dir: Path, tmp_path: Path
) -> None:
    target = tmp_path / "data"
    shutil.copytree(fixtures_dir / "kafka-4.3.0/log-cleaning/node-1/data", target)
    for path in (target / PARTITION).glob("*.checkpoint"):
        path.unlink()
    node = Node(target)
    assert "KT-SNAP-MISSING" in node.codes()
    assert "were not replayed" in node.found("KT-LOG-NOT-CHECKED").text
