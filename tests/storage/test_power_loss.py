"""The power fails at any moment: what was promised is there, and nothing torn is served.

A run does things to a log as a core would, over a disk that remembers them. Then the power fails
after each of the disk's operations, in every way that `power_loss.py` knows; what is left is opened
and held against what the log had promised by then.
"""

from __future__ import annotations

import os
import shutil
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from pathlib import Path
from random import Random
from typing import Any

import pytest

from kraftool.raft.names import ElectionState, OffsetAndEpoch, ReplicaKey
from kraftool.raft.records import Batch
from kraftool.raft.wire.batches import encode
from kraftool.storage.metadata_log import MetadataLog
from tests.storage.metadata_logs import DIRECTORY_ID, NoSync, batch, batches_of, opened, snapshot
from tests.storage.power_loss import Lost, Platter, RecordingFiles
from tests.support.places import PARTITION

pytestmark = pytest.mark.slow


@pytest.fixture
def tmp_path(memory_path: Path) -> Path:
    return memory_path


SETTINGS = {
    "segment_bytes": 700,
    "index_interval_bytes": 150,
    "retention_bytes": 0,
    "retention_ms": -1,
}


@dataclass(frozen=True, slots=True)
class Promised:
    """What whoever called the log may count on after a call returned."""

    at: int
    """Operations of the disk by then."""
    election: ElectionState | None
    history: tuple[Batch, ...]
    """The log, from the first batch since it last began anew."""
    start: int
    flushed: int
    snapshots: frozenset[OffsetAndEpoch]


class Run:
    """A log, what is done to it, and what it promised each time."""

    def __init__(self, directory: Path, seed: int) -> None:
        self.seed = seed
        self.random = Random(seed)
        directory.mkdir()
        opened(directory).close()
        self.root = directory
        self.files = RecordingFiles(directory)
        self.log: MetadataLog = opened(directory, self.files, **SETTINGS)
        self.epoch = 1
        self.now = 0
        self.promises = [Promised(0, None, (), 0, 0, frozenset())]

    def promise(self, **changed: Any) -> None:
        last = replace(self.promises[-1], at=len(self.files.trace))
        self.promises.append(replace(last, **changed))

    @property
    def last(self) -> Promised:
        return self.promises[-1]

    def do(self) -> None:
        """One thing that a core may want."""
        choices: list[tuple[int, Callable[[], None]]] = [
            (8, self.append),
            (5, self.flush),
            (2, self.elect),
            (2, self.truncate),
            (2, self.snapshot),
            (1, self.clean),
            (1, self.install),
        ]
        weights = [weight for weight, _ in choices]
        self.random.choices([action for _, action in choices], weights)[0]()

    def append(self) -> None:
        new: list[Batch] = []
        for _ in range(self.random.choice((1, 1, 2, 4))):
            at = new[-1].next_offset if new else self.log.end_offset
            size = self.random.choice((0, 0, 10, 300))
            new.append(batch(at, self.random.choice((1, 2)), epoch=self.epoch, size=size))
        self.log.append(new)
        self.promise(history=(*self.last.history, *new))

    def flush(self) -> None:
        self.log.flush(self.log.end_offset)
        self.promise(flushed=self.log.end_offset)

    def elect(self) -> None:
        self.epoch += 1
        voted = self.random.choice((None, ReplicaKey(2, DIRECTORY_ID)))
        state = ElectionState(epoch=self.epoch, voted=voted)
        self.log.persist_election(state, 1)
        self.promise(election=state)

    def truncate(self) -> None:
        """Not below what is committed, as a snapshot is."""
        least = max((end.offset for end in self.last.snapshots), default=0)
        borders = [
            appended.base_offset for appended in self.last.history if appended.base_offset >= least
        ]
        if not borders:
            return
        offset = self.random.choice(borders[-6:])
        self.epoch += 1
        self.log.truncate(offset)
        kept = tuple(appended for appended in self.last.history if appended.base_offset < offset)
        self.promise(history=kept, flushed=min(self.last.flushed, offset))

    def snapshot(self) -> None:
        newest = max((end.offset for end in self.last.snapshots), default=0)
        whole = [appended for appended in self.last.history if newest < appended.next_offset]
        whole = [appended for appended in whole if appended.next_offset <= self.last.flushed]
        if whole:
            of = self.random.choice(whole)
            key = snapshot(self.log, of.next_offset, of.epoch)
            self.promise(snapshots=self.last.snapshots | {key})

    def clean(self) -> None:
        self.now += 40_000
        start = self.log.clean(self.now)
        if start is not None:
            kept = frozenset(end for end in self.last.snapshots if end.offset >= start)
            self.promise(start=start, snapshots=kept)

    def install(self) -> None:
        self.epoch += 1
        key = OffsetAndEpoch(self.log.end_offset + self.random.choice((1, 50)), self.epoch)
        data = foreign_snapshot(self.root.parent / f"{self.root.name}-other", key)
        self.log.begin_download(key)
        for at in range(0, len(data), 100):
            self.log.append_to_download(key, data[at : at + 100])
        if self.random.random() < 0.3:
            self.log.drop_download(key)
            return
        self.log.install_snapshot(key)
        start = key.offset
        self.promise(history=(), start=start, flushed=start, snapshots=frozenset({key}))


def foreign_snapshot(directory: Path, key: OffsetAndEpoch) -> bytes:
    other = opened(directory)
    other.append([batch(0, key.offset, epoch=key.epoch)])
    data = Path(other.snapshot_path(snapshot(other, *key))).read_bytes()
    other.close()
    shutil.rmtree(directory)
    return data


def judge(directory: Path, before: Promised, after: Promised, *, goes_on: bool = True) -> None:
    """Open what is left, and hold it against what was promised before the call that the power
    failed in, and what that call would have made of it."""
    log = opened(directory, NoSync(), **SETTINGS)
    try:
        assert log.election in (before.election, after.election)
        encoded = [record_batch.data for record_batch in batches_of(log)]
        assert any(
            _is_head(encoded, log.start_offset, log.end_offset, promised)
            for promised in (before, after)
        ), "a batch is served that was not written there"
        surely = min(before.flushed, after.flushed)
        assert log.end_offset >= surely, "what was flushed is there, or in a snapshot"
        assert set(log.snapshots) >= before.snapshots & after.snapshots
        if log.start_offset:
            assert log.snapshots, "what was before the log's start is in a snapshot"
            assert log.snapshots[-1].offset >= log.start_offset
        if not goes_on:
            return
        at = log.end_offset
        log.append([batch(at, epoch=99)])
        log.flush(at + 1)
        log.close()
        again = opened(directory, NoSync(), **SETTINGS)
        assert list(again.recovery.sentences()) == []
        assert again.end_offset == at + 1
        again.close()
    finally:
        log.close(clean=False)


def _is_head(encoded: list[bytes], start: int, end: int, promised: Promised) -> bool:
    history = [appended for appended in promised.history if appended.base_offset >= start]
    if encoded != [encode(appended) for appended in history[: len(encoded)]]:
        return False
    return not encoded or history[len(encoded) - 1].next_offset == end


def failures(
    run: Run, random: Random, *, reordered: int, since: int
) -> Iterator[tuple[Platter, int]]:
    """What is left when the power fails after each operation, and how many those were."""
    lost = Lost(run.files)
    for at in range(1, len(run.files.trace) + 1):
        lost.advance()
        if at <= since:
            continue
        yield from ((prefix, at) for prefix in lost.prefixes())
        yield from ((lost.reordered(random), at) for _ in range(reordered))


def around(run: Run, at: int) -> tuple[Promised, Promised]:
    """What was promised when an operation of the disk was done, and by the call that it is of."""
    before = [promise for promise in run.promises if promise.at <= at][-1]
    after = next((promise for promise in run.promises if promise.at > at), before)
    return before, after


def survive(tmp_path: Path, seed: int, *, steps: int, reordered: int) -> int:
    """Do things at random, and open whatever may be left; how many states that were."""
    run = Run(tmp_path / f"run-{seed}", seed)
    for _ in range(steps):
        run.do()
    return opened_whenever(tmp_path, run, reordered=reordered)


def opened_whenever(tmp_path: Path, run: Run, *, reordered: int, since: int = 0) -> int:
    run.log.close(clean=False)
    seen: set[int] = set()
    random = Random(run.seed)
    for number, (state, at) in enumerate(failures(run, random, reordered=reordered, since=since)):
        before, after = around(run, at)
        key = hash((
            before.at,
            *((path, bytes(state.contents[inode])) for path, inode in sorted(state.names.items())),
        ))  # fmt: skip
        if key in seen:
            continue
        seen.add(key)
        left = tmp_path / "left"
        state.write_to(run.root, left)
        left.joinpath(PARTITION).mkdir(parents=True, exist_ok=True)
        try:
            judge(left, before, after, goes_on=number % 5 == 0)
        except BaseException as error:
            what = run.files.trace[at - 1]
            error.add_note(f"seed {run.seed}, state {number}, the power fails after {at}: {what}")
            raise
        shutil.rmtree(left)
    return len(seen)


@pytest.mark.parametrize("seed", range(4))
def test_whenever_the_power_fails_promises_are_kept(seed: int, tmp_path: Path) -> None:
    assert survive(tmp_path, seed, steps=20, reordered=1) > 50


@pytest.mark.soak
@pytest.mark.parametrize("seed", range(100, 140))
def test_whenever_the_power_fails_promises_are_kept_for_long(seed: int, tmp_path: Path) -> None:
    assert survive(tmp_path, seed, steps=60, reordered=6) > 100


def several_segments(tmp_path: Path, *, flushed: bool = True) -> Run:
    run = Run(tmp_path / "run", 1)
    for _ in range(12):
        run.append()
    if flushed:
        run.flush()
    assert len(list(run.root.glob(f"{PARTITION}/*.log"))) > 4
    return run


def test_the_power_may_fail_while_many_segments_are_cleaned(tmp_path: Path) -> None:
    """Had a later one lost its name before an earlier one, the log would have a gap."""
    run = several_segments(tmp_path)
    for at in (0, -1):
        whole = run.last.history[at]
        key = snapshot(run.log, whole.next_offset, whole.epoch)
        run.promise(snapshots=run.last.snapshots | {key})
    since = len(run.files.trace)
    run.clean()
    assert run.last.start == run.log.end_offset
    opened_whenever(tmp_path, run, reordered=6, since=since)


def test_the_power_may_fail_while_many_segments_are_truncated(tmp_path: Path) -> None:
    run = several_segments(tmp_path)
    offset, since = run.last.history[1].base_offset, len(run.files.trace)
    run.log.truncate(offset)
    run.promise(history=run.last.history[:1], flushed=offset)
    run.append()
    opened_whenever(tmp_path, run, reordered=6, since=since)


def test_the_power_may_fail_while_a_snapshot_takes_the_place_of_many_segments(
    tmp_path: Path,
) -> None:
    run = several_segments(tmp_path, flushed=False)
    since = len(run.files.trace)
    run.install()
    run.append()
    opened_whenever(tmp_path, run, reordered=6, since=since)


def test_what_was_flushed_is_there_after_a_crash_and_the_rest_may_be_lost(tmp_path: Path) -> None:
    """[227]"""
    run = Run(tmp_path / "run", 1)
    run.log.append([batch(0, 2), batch(2, 2)])
    run.log.flush(4)
    run.log.append([batch(4, 2), batch(6, 2)])
    run.log.close(clean=False)
    lost = Lost(run.files)
    for _ in run.files.trace:
        lost.advance()
    ends = []
    for number, state in enumerate(lost.prefixes()):
        left = tmp_path / f"left-{number}"
        state.write_to(run.root, left)
        log = opened(left)
        ends.append(log.end_offset)
        assert [record_batch.base_offset for record_batch in batches_of(log)] == list(
            range(0, log.end_offset, 2)
        )
        log.close()
    assert min(ends) == 4
    assert max(ends) == 8


def test_the_disk_that_remembers_loses_what_was_not_synced(tmp_path: Path) -> None:
    """Else it would prove nothing."""
    run = Run(tmp_path / "run", 1)
    run.log.append([batch(0, 2)])
    run.log.persist_election(ElectionState(epoch=7), 1)
    run.log.close(clean=False)
    lost = Lost(run.files)
    for _ in run.files.trace:
        lost.advance()
    nothing_more, *_, everything = lost.prefixes()
    log = f"{os.path.join(run.root, PARTITION)}/{0:020}.log"
    assert nothing_more.contents[nothing_more.names[log]] == b""
    assert everything.contents[everything.names[log]] == encode(batch(0, 2))
    election = os.path.join(run.root, PARTITION, "quorum-state")
    assert b'"leaderEpoch":7' in nothing_more.contents[nothing_more.names[election]]
