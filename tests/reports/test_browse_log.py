"""A log that is read from anywhere gives the rows that reading it from its start gives.

The reference is `log_dump`, which goes through a file once, from its beginning.
"""

import random
import shutil
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

import pytest

from kraftool.decoders.batch import RecordBatch
from kraftool.decoders.segment import scan
from kraftool.reports.browse import blocks as block_module
from kraftool.reports.browse.blocks import Block, RowPlace
from kraftool.reports.browse.detail import detail
from kraftool.reports.browse.rows import LogRow, RowKind
from kraftool.reports.browse.session import LogSession
from kraftool.reports.browse.window import LogWindow
from kraftool.reports.logs.dump import BatchEntry, LogDump, Selection, TopicNames
from kraftool.reports.logs.query import GoTo, read_goto, read_query
from kraftool.reports.logs.source import log_files
from kraftool.reports.logs.transactions import Transactions, find_transactions
from kraftool.storage.source import FileSource
from tests.support.places import FIXTURES, fixture_name

pytestmark = pytest.mark.slow

LOGS = sorted(
    set(FIXTURES.glob("*/*/*/data/__cluster_metadata-0"))
    | set((FIXTURES / "damaged").glob("*/*.log"))
)
ABORTED = FIXTURES / "built/aborted-transaction/node-1/data"
DYNAMIC = FIXTURES / "kafka-4.3.0/dynamic-quorum/node-2/data"
SCRAM = FIXTURES / "kafka-4.3.0/static-single/node-1/data"


@pytest.fixture(params=[1 << 18, 700], ids=["usual blocks", "blocks of 700 bytes"])
def block(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> int:
    """Small blocks put a border of blocks between nearly all batches."""
    size: int = request.param
    monkeypatch.setattr(block_module, "BLOCK", size)
    return size


def all_forward(window: LogWindow, count: int, selection: Selection | None = None) -> list[LogRow]:
    rows: list[LogRow] = []
    place: RowPlace | None = window.start
    while place is not None:
        page = window.forward(place, count, selection, at_most=3000)
        rows += page.rows
        place = page.resume
    return rows


def all_backward(window: LogWindow, count: int, selection: Selection | None = None) -> list[LogRow]:
    rows: list[LogRow] = []
    place: RowPlace | None = window.end
    while place is not None:
        page = window.backward(place, count, selection, at_most=3000)
        rows = [*page.rows, *rows]
        place = page.resume
    return rows


def entries(path: Path, dump: LogDump) -> Iterator[BatchEntry]:
    for file in log_files([str(path)], lambda text: None):
        with file.open() as source:
            for entry in dump.entries(file.name, source.read_at):
                if isinstance(entry, BatchEntry):
                    yield entry


def dumped(path: Path, selection: Selection | None = None) -> list[int]:
    """The offsets of the records that dump-log shows."""
    dump = LogDump(selection, topics=TopicNames())
    return [record.record.offset for entry in entries(path, dump) for record in entry.records]


@pytest.mark.parametrize("path", LOGS, ids=fixture_name)
def test_both_ways_give_the_records_that_dump_log_shows(path: Path, block: int) -> None:
    window = LogWindow(str(path))
    forward, backward = all_forward(window, 7), all_backward(window, 5)
    shown = [log_row.offset for log_row in forward if log_row.kind is RowKind.RECORD]
    assert shown == dumped(path)
    assert [log_row.place for log_row in backward] == [record_row.place for record_row in forward]
    # What a topic is called may be learnt later than it is met, going back.
    assert [(log_row.label, log_row.border) for log_row in backward] == [
        (log_row.label, log_row.border) for log_row in forward
    ]


@pytest.mark.parametrize("path", LOGS, ids=fixture_name)
def test_damage_is_a_row_where_dump_log_finds_it(path: Path, block: int) -> None:
    window = LogWindow(str(path))
    positions = {
        log_row.position
        for log_row in all_backward(window, 50)
        if log_row.kind is RowKind.DAMAGE
        or (log_row.kind is RowKind.RECORD and not log_row.is_decoded)
    }
    dump = LogDump()
    wanted = set()
    for file in log_files([str(path)], lambda text: None):
        with file.open() as source:
            entries = dump.entries(file.name, source.read_at)
            wanted |= {entry.position for entry in entries if not isinstance(entry, BatchEntry)}
    assert positions == wanted


def test_every_offset_is_found_and_what_is_beyond_is_the_end(block: int) -> None:
    window = LogWindow(str(DYNAMIC))
    offsets = [log_row.offset for log_row in all_forward(window, 100) if log_row.offset is not None]
    for offset in offsets:
        assert window.forward(window.seek_offset(offset), 1).rows[0].offset == offset
    assert window.seek_offset(offsets[-1] + 1) == window.end
    assert window.forward(window.end, 1).rows == ()


def test_an_epoch_and_a_time_are_found_where_reading_on_would_find_them(block: int) -> None:
    window = LogWindow(str(DYNAMIC))
    rows = [log_row for log_row in all_forward(window, 100) if log_row.kind is RowKind.RECORD]
    for epoch in {log_row.epoch for log_row in rows if log_row.epoch is not None}:
        first = next(log_row for log_row in rows if log_row.epoch == epoch)
        assert window.forward(window.seek_epoch(epoch), 1).rows[0].offset == first.offset
    for row in rows[:: len(rows) // 9]:
        assert row.timestamp is not None
        hit = window.forward(window.seek_time(row.timestamp), 1).rows[0]
        first = next(log_row for log_row in rows if (log_row.timestamp or 0) >= row.timestamp)
        assert hit.offset == first.offset


@pytest.mark.parametrize(
    "text",
    [
        "type:PartitionRecord",
        "type:topic,partitionchange",
        "type:LeaderChange",
        "topic:orders-b",
        "broker:11",
        "epoch:2",
        "offset:20..90",
        'control:no "isr":',
        "control:yes",
        '"leader"',
        "since:2020-01-01 type:NoOp",
        "until:2020-01-01",
    ],
)
def test_a_filter_selects_what_dump_log_selects(text: str, block: int) -> None:
    query = read_query(text)
    for path in (DYNAMIC, ABORTED):
        window = LogWindow(str(path))
        wanted = dumped(path, query.selection)
        rows = all_forward(window, 9, query.selection)
        assert [row.offset for row in rows if row.kind is RowKind.RECORD] == wanted
        again = all_backward(window, 9, query.selection)
        assert [log_row.offset for log_row in again if log_row.kind is RowKind.RECORD] == wanted


def test_words_are_looked_for_in_what_rows_say_as_well() -> None:
    """A topic's name is not in the records that change it, and yet it is what one reads."""
    window = LogWindow(str(DYNAMIC))
    rows = all_forward(window, 9, read_query("PartitionChange.*orders-b-[12] ").selection)
    assert {row.text.split()[0] for row in rows} == {"orders-b-1", "orders-b-2"}


def test_a_topics_changes_are_found_from_the_end_once_its_ids_were_looked_for() -> None:
    """What changes a topic has its id only; its name stands where it was created."""
    session = LogSession.open(str(DYNAMIC))
    query = read_query("topic:orders-b")
    while session.look_for_topic("orders-b") is not None:
        pass
    rows = session.before(None, 100, query.selection).rows
    assert [row.offset for row in rows] == dumped(DYNAMIC, query.selection)
    assert all("orders-b" in row.text for row in rows)


@pytest.mark.parametrize(
    "path", [ABORTED, FIXTURES / "kafka-4.3.0/aborted-transaction/node-1/data"]
)
def test_transactions_are_told_around_a_row_as_over_the_whole_log(path: Path, block: int) -> None:
    batches: list[RecordBatch] = []
    for file in log_files([str(path)], lambda text: None):
        with file.open() as source:
            batches += [part for part in scan(source.read_at) if isinstance(part, RecordBatch)]
    whole = Transactions(tuple(find_transactions(batches)))
    assert whole.transactions
    rows = all_backward(LogWindow(str(path)), 6)
    outcomes = [(row.offset, row.transaction) for row in rows if not row.is_control]
    if block == 700:  # what is further than four blocks away is not looked for
        outcomes = [(offset, word) for offset, word in outcomes if word not in ("", "inside")]
        assert all(whole.outcome(offset or 0) == word for offset, word in outcomes)
    else:
        assert outcomes == [(offset, whole.outcome(offset or 0)) for offset, _ in outcomes]


def test_the_rows_of_a_block_look_once_for_a_transaction_before_it(
    block: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Blocks of a snapshot of many partitions are as large as all that is kept of blocks."""
    looked: Counter[int] = Counter()
    window = LogWindow(str(DYNAMIC))
    before = window.blocks.before

    def counted(segment: int, position: int) -> Block | None:
        looked[position] += 1
        return before(segment, position)

    monkeypatch.setattr(window.blocks, "before", counted)
    blocks = window.blocks.forward(0, 0), window.blocks.forward(0, 8000)
    for one in blocks:
        for offset in range(100):
            window.marks.outcome(one, offset)
    assert looked
    assert set(looked.values()) == {1}


def test_offsets_that_are_missing_are_a_row(tmp_path: Path) -> None:
    source = DYNAMIC / "__cluster_metadata-0/00000000000000000000.log"
    data = source.read_bytes()
    batches = [
        part
        for part in scan(lambda at, size: data[at : at + size])
        if isinstance(part, RecordBatch)
    ]
    gone = batches[5]
    kept = data[: gone.position] + data[gone.position + gone.size :]
    (tmp_path / source.name).write_bytes(kept)
    rows = all_backward(LogWindow(str(tmp_path / source.name)), 10)
    gaps = [row for row in rows if row.kind is RowKind.GAP]
    assert [gap.offset for gap in gaps] == [batches[6].base_offset]
    assert f"expected {gone.base_offset}" in gaps[0].text


def test_several_segments_are_one_log(tmp_path: Path, block: int) -> None:
    window = LogWindow(str(_split(tmp_path)))
    assert len(window.blocks.bases) > 3
    rows = all_forward(window, 11)
    assert [row.offset for row in rows] == dumped(DYNAMIC)
    assert not [row for row in rows if row.kind is RowKind.GAP]
    assert all_backward(window, 11) == rows
    for offset in range(0, 224, 7):
        assert window.forward(window.seek_offset(offset), 1).rows[0].offset == offset
    assert window.fraction(window.start) == 0
    assert window.fraction(window.end) == 1


def _split(folder: Path) -> Path:
    """The log of a real node, in a segment for every tenth batch."""
    data = (DYNAMIC / "__cluster_metadata-0/00000000000000000000.log").read_bytes()
    batches = [
        part
        for part in scan(lambda at, size: data[at : at + size])
        if isinstance(part, RecordBatch)
    ]
    partition = folder / "__cluster_metadata-0"
    partition.mkdir()
    for start in range(0, len(batches), 10):
        some = batches[start : start + 10]
        name = f"{some[0].base_offset:020}.log"
        (partition / name).write_bytes(b"".join(batch.data for batch in some))
    return folder


class _Counted:
    """A file that counts what is read of it."""

    def __init__(self, source: FileSource) -> None:
        self.source, self.read = source, 0

    def read_at(self, position: int, size: int) -> bytes:
        data = self.source.read_at(position, size)
        self.read += len(data)
        return data

    def size(self) -> int:
        return self.source.size()


def test_the_end_of_a_large_log_and_any_offset_in_it_are_read_without_the_rest(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    source = FIXTURES / "kafka-4.3.0/many-partitions/node-1/data/__cluster_metadata-0"
    data = (source / f"{0:020}.log").read_bytes()
    parts = scan(lambda at, size: data[at : at + size])
    wide = max(
        (part for part in parts if isinstance(part, RecordBatch)),
        key=lambda batch: batch.header.record_count,
    )
    step = wide.header.last_offset_delta + 1
    log = tmp_path / f"{0:020}.log"
    with log.open("wb") as out:
        for number in range((128 << 20) // wide.size):
            # The base offset lies outside the CRC.
            out.write((number * step).to_bytes(8, "big") + wide.data[8:])
    window = LogWindow(str(log))
    counted = _Counted(FileSource(str(log)))
    monkeypatch.setattr(window.blocks, "source", lambda segment: counted)
    end = window.end_offset()
    window.backward(window.end, 100)
    assert counted.read < 4 << 20
    for offset in random.Random(8).sample(range(end), 5):
        counted.read = 0
        assert window.forward(window.seek_offset(offset), 1).rows[0].offset == offset
        assert counted.read < 24 << 20


def test_a_log_of_zeros_at_its_end_is_damage_and_then_rows(tmp_path: Path) -> None:
    source = DYNAMIC / "__cluster_metadata-0/00000000000000000000.log"
    log = tmp_path / source.name
    log.write_bytes(source.read_bytes() + bytes(9 << 20))
    rows = LogWindow(str(log)).backward(RowPlace(0, log.stat().st_size), 3, at_most=32 << 20).rows
    assert [row.kind for row in rows] == [RowKind.RECORD, RowKind.RECORD, RowKind.DAMAGE]
    assert rows[-1].label == "zero-filled tail"
    assert rows[-1].size == 9 << 20


def test_neither_rows_nor_details_show_a_secret() -> None:
    window = LogWindow(str(SCRAM))
    query = read_query("type:UserScramCredential")
    rows = all_forward(window, 10, query.selection)
    secrets = {
        record.record.offset: record
        for entry in entries(SCRAM, LogDump(show_secrets=True))
        for record in entry.records
    }
    assert rows
    for row in rows:
        masked = detail(window, row)
        text = "\n".join([row.text, *masked.json_lines(), *(str(span) for span in masked.bytes)])
        for name in ("salt", "storedKey", "serverKey"):
            assert row.offset is not None
            data = secrets[row.offset].data
            assert data is not None
            assert data[name] not in text
        assert any(span.secret and not span.data for span in masked.bytes)


def test_a_detail_has_the_bytes_of_its_record_and_no_others() -> None:
    window = LogWindow(str(DYNAMIC))
    log = (DYNAMIC / "__cluster_metadata-0/00000000000000000000.log").read_bytes()
    for row in all_forward(window, 100)[::9]:
        details = detail(window, row)
        plain = [span for span in details.bytes if not span.group]
        assert plain[0].position == row.position
        assert sum(span.size for span in plain) == row.size
        for span in plain:
            assert span.data == (b"" if span.secret else log[span.position : span.end])


@pytest.mark.parametrize(
    ("text", "wanted"),
    [
        ("1234", GoTo("offset", 1234)),
        ("offset 7", GoTo("offset", 7)),
        ("epoch 5", GoTo("epoch", 5)),
        ("epoch:5", GoTo("epoch", 5)),
        ("2026-11-21T06:00:00Z", GoTo("time", 1795240800000)),
        ("time:1795240800000", GoTo("time", 1795240800000)),
    ],
)
def test_where_to_go_is_an_offset_an_epoch_or_a_time(text: str, wanted: GoTo) -> None:
    assert read_goto(text) == wanted


def test_a_tar_and_a_checkpoint_by_itself_are_read_as_logs_are(tmp_path: Path) -> None:
    archive = shutil.make_archive(str(tmp_path / "node"), "tar", DYNAMIC)
    assert [log_row.offset for log_row in all_backward(LogWindow(archive), 9)] == dumped(DYNAMIC)
    source = next((DYNAMIC / "__cluster_metadata-0").glob("*.checkpoint"))
    snapshot = tmp_path / source.name
    shutil.copy(source, snapshot)
    window = LogWindow(str(snapshot))
    assert window.is_checkpoint
    assert [log_row.offset for log_row in all_backward(window, 9)] == dumped(snapshot)
    session = LogSession.open(str(snapshot))
    with snapshot.open("ab") as file:
        file.write((DYNAMIC / "__cluster_metadata-0" / f"{0:020}.log").read_bytes())
    assert not session.poll().is_news, "a checkpoint is whole when it has its name"
