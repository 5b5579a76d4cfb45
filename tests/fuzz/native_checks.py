"""The native module and Python give the same bytes, the same findings and the same place to go on.

Owns the comparison, and counts what the native module accepted: only there can they differ.

    python tests/fuzz/native_checks.py --cases 1000000
"""

from __future__ import annotations

import re
import sys
from collections.abc import Iterator
from itertools import islice
from pathlib import Path
from random import Random
from types import SimpleNamespace
from typing import Any, cast

if __name__ == "__main__":
    sys.path.insert(0, str(Path(__file__).resolve().parents[2]))

from kraftool.commands.log_tail import LastEntries
from kraftool.decoders.errors import Fault
from kraftool.decoders.framing import decode_record
from kraftool.decoders.native_values import NativeValues
from kraftool.decoders.segment import BatchSpan
from kraftool.decoders.walk import Faulty, Item, Walk, WalkState
from kraftool.directory.log_reader import SpanObserver, summarize
from kraftool.directory.log_summary import LogSummary
from kraftool.directory.native_reader import Taken
from kraftool.repair.log_survey import SegmentFile, survey_log
from kraftool.reports.logs.dump import LogDump, Selection, TopicNames
from kraftool.reports.logs.native_renderer import NativeRenderer
from kraftool.reports.logs.native_sieve import (
    counting_sieve,
    left_of,
    sieve_of,
)
from kraftool.reports.logs.render import RenderPlan, render
from kraftool.reports.logs.source import LogFile
from kraftool.reports.state.replay import Replay
from kraftool.storage.source import BytesSource
from tests.fuzz.command_line import seed_and_cases
from tests.fuzz.native_cases import log, pure

FORMATS = ("kafka", "jsonl", "csv")
SELECTIONS = (
    Selection(),
    Selection(first_offset=6),
    Selection(last_offset=5, epoch=1),
    Selection(since=1, until=1_700_000_000_000),
    Selection(until=0),
    Selection(types=frozenset({"partition", "config"})),
    Selection(control=False),
    Selection(control=True, epoch=0),
    Selection(grep=re.compile(r"orders|[03579]$|^TOPIC")),
    Selection(grep=re.compile("a"), types=frozenset({"partition", "topic"}), since=0),
    Selection(broker=1),
    Selection(broker=0, first_offset=2),
    Selection(broker=-1),
    Selection(topic="orders"),
    Selection(topic="A" * 22, until=1_700_000_000_000),
)


TAILS = (None, 0, 1, 2, 3, 5, 8)


def plans() -> tuple[RenderPlan, ...]:
    """Every format, with secrets and without, and a few selections."""
    whole = [
        RenderPlan(format=form, show_secrets=secrets)
        for form in FORMATS
        for secrets in (False, True)
    ]
    parts = [
        RenderPlan(format=form, selection=selection)
        for form in FORMATS
        for selection in SELECTIONS[1:]
    ]
    batches = [
        RenderPlan(format=form, selection=selection, batches_only=True)
        for form in FORMATS
        for selection in (Selection(), SELECTIONS[1], SELECTIONS[5])
    ]
    return (*whole, *parts, *batches, RenderPlan(format="kafka", skip_record_metadata=True))


PLANS = plans()


def outcome(data: bytes, plan: RenderPlan) -> tuple[bytes, list[Fault], WalkState]:
    """What a log is rendered to."""
    pieces = list(render(plan, "a,b.log", lambda at, size: data[at : at + size]))
    problems = [problem for piece in pieces for problem in piece.problems]
    return b"".join(piece.data for piece in pieces), problems, pieces[-1].state


def check(data: bytes, plan: RenderPlan) -> None:
    """Raises AssertionError if both paths differ."""
    native = outcome(data, plan)
    with pure():
        expected = outcome(data, plan)
    assert native == expected, (data.hex(), plan)


def entries(data: bytes, selection: Selection, tail: int | None) -> tuple[object, ...]:
    """What a dump shows record by record, and the topics that it has learnt."""
    file = cast(LogFile, SimpleNamespace(name="a.log"))
    dump = LogDump(selection, topics=TopicNames())
    items = Walk(lambda at, size: data[at : at + size]).spans()
    if tail is None:
        listed = [
            entry for item in left_of(items, sieve_of(dump)) for entry in dump.item("a.log", item)
        ]
        return listed, dump.topics.by_id
    last, counter = (
        LastEntries(tail, folds=tail % 2 == 0),
        counting_sieve(dump, folds=tail % 2 == 0),
    )
    for item in items:
        if counter is None or not isinstance(item, BatchSpan):
            parts: Iterator[Any] = left_of(iter((item,)), sieve_of(dump))
        else:
            parts = last.take_span(file, dump, item, counter, 1 + tail % 3)
        for part in parts:
            for entry in dump.item("a.log", part):
                last.add(file, dump, entry)
    return last.shown(), dump.topics.by_id


def check_entries(data: bytes, selection: Selection, tail: int | None) -> None:
    """Raises AssertionError if the sieve passes over something, or counts it wrongly."""
    native = entries(data, selection, tail)
    with pure():
        expected = entries(data, selection, tail)
    assert repr(native) == repr(expected), (data.hex(), selection, tail)


class _Observer:
    """FileFindings the places of what it sees."""

    def __init__(self) -> None:
        self.seen: list[tuple[int, int, bool]] = []

    def __call__(self, item: Item) -> None:
        is_sound = not isinstance(item, Faulty)
        self.seen.append((item.position, item.size, is_sound))


class _PlainObserver(_Observer, SpanObserver):
    """The same of one that takes plain batches by themselves."""

    def plain(self, span: BatchSpan, taken: Taken) -> None:
        for batch in span.read_batches(taken.at, taken.end):
            self(batch)


def summary(data: bytes) -> tuple[LogSummary, list[tuple[int, int, bool]]]:
    """What a log is summed up to, and what its observers see, which is the same for all."""
    read_at = BytesSource("a.log", data).read_at
    observers = _Observer(), _PlainObserver()
    summed_up = summarize(read_at, observers=observers, read_again=read_at)
    assert observers[0].seen == observers[1].seen
    return summed_up, observers[0].seen


def check_summary(data: bytes) -> None:
    """Raises AssertionError if both paths sum a log up to something else."""
    native = summary(data)
    with pure():
        expected = summary(data)
    assert native == expected, data.hex()


def check_values(data: bytes) -> None:
    """Raises AssertionError if a batch has native values, and others by the codec."""
    native = NativeValues()
    for item in Walk(BytesSource("a.log", data).read_at):
        if isinstance(item, Faulty) or item.is_control:
            continue
        values = [value for part in native.read(item) for value in part]
        records = list(islice(item.records(), len(values)))
        # Text, in which -0.0 is not 0.0 and the order of keys shows.
        expected = [decode_record(record.value or b"") for record in records]
        assert repr(values) == repr([(name, value) for name, _, value in expected]), data.hex()
        offsets = [record.offset for record in records]
        assert offsets == [item.base_offset + index for index in range(len(values))]


def replayed(data: bytes, *, snapshot: bool) -> tuple[object, ...]:
    """What replaying a log comes to."""
    replay = Replay()
    for item in Walk(BytesSource("a.log", data).read_at):
        if not isinstance(item, Faulty):
            replay.batch("a.log", item, snapshot=snapshot)
    state = repr(replay.loader.image())
    return replay.findings, replay.more_findings, replay.records, replay.controls, state


def check_replay(data: bytes, *, snapshot: bool) -> None:
    """Raises AssertionError if both paths replay a log to something else."""
    native = replayed(data, snapshot=snapshot)
    with pure():
        expected = replayed(data, snapshot=snapshot)
    assert native == expected, data.hex()


def _first_offset(data: bytes) -> int:
    items = Walk(BytesSource("a.log", data).read_at)
    return next((item.base_offset for item in items if not isinstance(item, Faulty)), 0)


def surveyed(data: bytes) -> tuple[object, ...]:
    """What `recover` keeps of a log."""
    first = _first_offset(data)
    files = [SegmentFile(base_offset=first, open=lambda: BytesSource("a.log", data))]
    survey = survey_log(files)
    assert survey is not None
    end = range(first, min(survey.log.intact_end, first + 3))
    places = [place and (place[0], place[1].position) for place in map(survey.batch_at, end)]
    return survey.log, survey.fingerprints, places


def check_survey(data: bytes) -> None:
    """Raises AssertionError if both paths survey a log to something else."""
    native = surveyed(data)
    with pure():
        expected = surveyed(data)
    assert native == expected, data.hex()


def accepted(data: bytes) -> Iterator[int]:
    """The offsets of the batches that the native module takes."""
    plan = RenderPlan(format="jsonl", show_secrets=True)
    renderer = NativeRenderer(plan, "a.log")
    for item in Walk(lambda at, size: data[at : at + size]).spans():
        at = item.at if isinstance(item, BatchSpan) else 0
        while isinstance(item, BatchSpan) and at < item.end:
            before = at
            _, at, is_stuck = renderer.render(item, at)
            while before < at:
                batch = item.batch(before)
                yield batch.base_offset
                before += batch.size
            if is_stuck:
                at += item.batch(at).size


def run(seed: int, cases: int) -> tuple[int, int]:
    """Check so many logs; returns how many batches there were, and how many native ones."""
    random = Random(seed)
    batches = taken = 0
    for number in range(cases):
        data = log(random)
        check(data, PLANS[number % len(PLANS)])
        check_entries(data, SELECTIONS[number % len(SELECTIONS)], TAILS[number % len(TAILS)])
        check_summary(data)
        check_values(data)
        check_replay(data, snapshot=number % 3 == 0)
        check_survey(data)
        batches += len(list(Walk(BytesSource("a.log", data).read_at)))
        taken += sum(1 for _ in accepted(data))
    return batches, taken


def main() -> int:
    seed, cases = seed_and_cases(__doc__, 10_000)
    batches, taken = run(seed, cases)
    print(f"{cases} logs, {batches} items, {taken} batches taken by the native module")
    return 0


if __name__ == "__main__":
    sys.exit(main())
