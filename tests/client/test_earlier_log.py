"""The log of a leader before its newest snapshot: read as far back as the leader has it."""

from __future__ import annotations

import asyncio
from dataclasses import replace

import pytest

from kraftool.client.asking import Access
from kraftool.client.capture import Captured, Capturing
from kraftool.decoders.names import parse_checkpoint_name
from kraftool.image.state_hash import state_hash
from kraftool.raft.messages import FetchResponse, Response
from kraftool.raft.names import OffsetAndEpoch
from kraftool.reports.logs.dump import BatchEntry, LogDump
from kraftool.reports.logs.source import log_files
from kraftool.reports.state.load import load_state
from kraftool.reports.timeline.report import TimelineOptions, build
from kraftool.reports.timeline.sources import open_nodes
from kraftool.storage.paths import open_path
from tests.client.scripted_leader import ScriptedLeader
from tests.support.places import FIXTURES

KAFKA_4_3 = FIXTURES / "kafka-4.3.0"
WHOLE = KAFKA_4_3 / "static-single/node-1/data"
"""Its log begins at 0; its snapshots are 59-1, 125-2 and 196-3."""
FOLDER = "__cluster_metadata-0"
NEWEST = OffsetAndEpoch(196, 3)


class Reading:
    """A leader's log as it was captured, as long as it is open."""

    def __init__(self, leader: ScriptedLeader, *, with_history: bool = True) -> None:
        self.capturing = Capturing()

        async def run() -> Captured:
            async with leader.running() as view:
                return await self.capturing.capture(
                    view, Access(timeout_s=10), committed=True, with_history=with_history
                )

        self.captured = asyncio.run(run())

    @property
    def offsets(self) -> list[int]:
        """The offsets of all records, in the order in which a dump shows them."""
        dump, offsets = LogDump(), []
        for file in log_files([self.captured.location], unreadable=pytest.fail):
            with file.open() as source:
                for entry in dump.entries(file.name, source.read_at):
                    assert isinstance(entry, BatchEntry), entry
                    offsets += [item.record.offset for item in entry.records]
        return offsets

    @property
    def snapshots(self) -> list[OffsetAndEpoch]:
        snapshot_ids = []
        for entry in self.captured.location.held:
            name = parse_checkpoint_name(entry.basename)
            snapshot_ids += [OffsetAndEpoch(name.offset, name.epoch)] if name is not None else []
        return snapshot_ids


def whole_leader() -> ScriptedLeader:
    leader = ScriptedLeader(WHOLE / FOLDER)
    assert leader.snapshot_id == NEWEST
    leader.log_start = 0
    return leader


def cleaned_leader() -> ScriptedLeader:
    """The same, after Kafka has deleted what its oldest snapshot replaces."""
    leader = whole_leader()
    leader.log_start = 59
    leader.batches = [batch for batch in leader.batches if batch.last_offset >= 59]
    name = OffsetAndEpoch(59, 1)
    leader.older[name] = (WHOLE / FOLDER / f"{59:020}-{1:010}.checkpoint").read_bytes()
    return leader


@pytest.mark.parametrize("chunk", [1 << 20, 300])
def test_all_of_the_log_is_read_but_the_first_leaders_record(chunk: int) -> None:
    leader = whole_leader()
    leader.chunk = chunk
    reading = Reading(leader)
    assert reading.offsets == list(range(1, leader.end))
    assert reading.captured.not_earlier == ""
    assert {request.replica_id for request in leader.asked} == {-1}, "no replica"


def test_without_history_it_begins_at_the_newest_snapshot() -> None:
    reading = Reading(whole_leader(), with_history=False)
    assert reading.offsets == list(range(196, whole_leader().end))
    assert reading.snapshots == [NEWEST]


@pytest.mark.parametrize("at", [20, 59, 100, 125, 200])
def test_a_state_of_the_past_is_that_of_the_leaders_directory(at: int) -> None:
    reading = Reading(whole_leader())
    loaded = load_state(reading.captured.location, at=at)
    expected = load_state(str(WHOLE), at=at)
    assert state_hash(loaded.image) == state_hash(expected.image)
    assert loaded.findings == ()
    assert loaded.has_its_beginning


def test_a_cleaned_log_begins_with_the_snapshot_at_its_start() -> None:
    leader = cleaned_leader()
    reading = Reading(leader)
    assert reading.offsets == list(range(59, leader.end))
    assert reading.snapshots == [OffsetAndEpoch(59, 1), NEWEST]
    loaded = load_state(reading.captured.location, at=80)
    assert state_hash(loaded.image) == state_hash(load_state(str(WHOLE), at=80).image)


def test_without_that_snapshot_it_begins_after_the_logs_first_record() -> None:
    leader = cleaned_leader()
    data = leader.older.popitem()[1]
    leader.older[OffsetAndEpoch(58, 1)] = data  # no snapshot of this name is asked for
    reading = Reading(leader)
    assert reading.offsets[0] in (59, 60)
    assert reading.offsets == list(range(reading.offsets[0], leader.end))
    assert reading.snapshots == [NEWEST]


def test_what_it_does_not_send_any_more_costs_only_that() -> None:
    leader = whole_leader()

    def cleaned_meanwhile(response: Response) -> Response:
        sent = response.batches if isinstance(response, FetchResponse) else ()
        if isinstance(response, FetchResponse) and sent and sent[0].base_offset < 196:
            return replace(response, batches=(), snapshot_id=NEWEST)
        return response

    leader.spoil = cleaned_meanwhile
    reading = Reading(leader)
    assert reading.captured.not_earlier == "it no longer has offset 1 in its log"
    assert reading.offsets == list(range(196, leader.end))


def test_an_older_log_that_takes_too_long_costs_only_that() -> None:
    """The request for the older log takes an hour; no other request is late."""
    leader = whole_leader()

    async def run() -> Captured:
        loop, passed = asyncio.get_running_loop(), 0.0
        clock = loop.time

        def slow(response: Response) -> Response:
            nonlocal passed
            sent = response.batches if isinstance(response, FetchResponse) else ()
            passed += 3600 if sent and sent[0].base_offset < 196 else 0
            return response

        leader.spoil = slow
        with pytest.MonkeyPatch.context() as patch, Capturing() as capturing:
            patch.setattr(loop, "time", lambda: clock() + passed)
            async with leader.running() as view:
                return await capturing.capture(
                    view, Access(timeout_s=1e6), committed=True, with_history=True
                )

    captured = asyncio.run(run())
    assert captured.not_earlier == "not read within 600 s"
    segments = [entry.basename for entry in captured.location.held if ".log" in entry.basename]
    assert segments == [f"{196:020}.log"]


@pytest.mark.parametrize("is_cleaned", [False, True])
def test_a_timeline_of_it_has_what_happened_before_the_snapshot(is_cleaned: bool) -> None:
    leader = cleaned_leader() if is_cleaned else whole_leader()
    options = TimelineOptions(list_topics=True, first_offset=62)
    reading = Reading(leader)
    nodes, _ = open_nodes([reading.captured.location], lambda name, position: None)
    timeline = build(nodes, (), options)
    expected_nodes, _ = open_nodes([open_path(str(WHOLE))], lambda name, position: None)
    expected = build(expected_nodes, (), options)
    kept = [event.what for event in expected.events if event.category != "snapshots"]
    assert [event.what for event in timeline.events if event.category != "snapshots"] == kept
    assert not timeline.findings


def test_what_was_asked_before_the_log_is_reported_as_not_looked_at() -> None:
    leader = cleaned_leader()
    reading = Reading(leader)
    nodes, _ = open_nodes([reading.captured.location], lambda name, position: None)
    timeline = build(nodes, (), TimelineOptions(first_offset=10))
    (finding,) = timeline.findings
    assert finding.code == "KT-LOG-BEGINS-LATER"
    assert finding.undecoded, "so that the command exits 3"
    assert "begins at offset 59, at 20" in finding.text
    assert "kraftool timeline DIR" in finding.advice


@pytest.mark.parametrize(
    "asked",
    [TimelineOptions(since=1), TimelineOptions(first_offset=0), TimelineOptions(until=5)],
    ids=["since", "offsets", "until"],
)
def test_a_log_from_its_beginning_lacks_nothing(asked: TimelineOptions) -> None:
    reading = Reading(whole_leader())
    nodes, _ = open_nodes([reading.captured.location], lambda name, position: None)
    assert not build(nodes, (), asked).findings
