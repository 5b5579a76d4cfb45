"""Measures that a change costs by what changed, and not by all there is.

    make bench-changes
    python tests/bench/changes.py --fetches 1000 --partitions 1000000

An append of a leader for which fetches wait. Commits of one record each to images with few topics
and many, with many ACLs, and with many partitions, which are loaded from records first, as those of
a snapshot are. Seconds are the process's own. It refuses to judge: nothing here passes or fails.
"""

from __future__ import annotations

import argparse
import itertools
import resource
import statistics
import sys
import time
from collections.abc import Callable, Iterable, Iterator
from functools import partial
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[2]))

from kraftool.decoders.framing import decode_record
from kraftool.image.loader import ImageLoader
from kraftool.image.replay import RecordValue
from tests.bench import inspect_state
from tests.raft.parked_fetches import append, leader, park

ROUNDS = 9
COMMITS = 2_000

NamedRecord = tuple[str, RecordValue]


def measured(work: Callable[[], object]) -> float:
    """CPU milliseconds of this process."""
    began = time.process_time()
    work()
    return (time.process_time() - began) * 1_000


def append_ms(fetches: int) -> float:
    """An append that answers that many fetches."""
    times = []
    for _ in range(ROUNDS):
        raft = leader()
        park(raft, fetches)
        times.append(measured(partial(append, raft)))
    return statistics.median(times)


def topic(number: int) -> NamedRecord:
    return "TopicRecord", {"name": f"topic-{number}", "topicId": f"{number:022}"}


def acl(number: int) -> NamedRecord:
    return "AccessControlEntryRecord", {
        "id": f"{number:022}",
        "resourceType": 2,
        "resourceName": f"topic-{number}",
        "patternType": 3,
        "principal": f"User:user-{number % 1_000}",
        "host": "*",
        "operation": 3,
        "permissionType": 3,
    }


def partition(number: int) -> NamedRecord:
    """A change of a partition of the snapshot that `inspect_state` writes."""
    return "PartitionChangeRecord", {
        "partitionId": number % inspect_state.PER_TOPIC,
        "topicId": _topic_ids[number // inspect_state.PER_TOPIC],
        "replicas": None,
        "isr": [1, 2, 3],
        "leader": 1,
        "leaderRecoveryState": -1,
    }


_topic_ids: list[str] = []


def snapshot(partitions: int) -> Iterator[NamedRecord]:
    """The records of a snapshot with that many partitions."""
    _topic_ids.clear()
    for encoded in inspect_state.records(partitions):
        name, _, value = decode_record(encoded)
        if name == "TopicRecord":
            _topic_ids.append(value["topicId"])
        yield name, value


def load(records: Iterable[NamedRecord]) -> tuple[ImageLoader, float]:
    """A loader with an image of these records; milliseconds without their decoding."""
    loader = ImageLoader()
    spent = 0.0
    iterator = iter(records)
    while slice_ := list(itertools.islice(iterator, 100_000)):
        spent += measured(partial(replay, loader, slice_))
    return loader, spent + measured(loader.image)


def replay(loader: ImageLoader, records: Iterable[NamedRecord]) -> None:
    for offset, (name, value) in enumerate(records):
        loader.replay(offset, name, value)


def commits_ms(loader: ImageLoader, records: Iterable[NamedRecord]) -> list[float]:
    """Commits of one record each, sorted."""

    def commit(record: NamedRecord) -> None:
        replay(loader, [record])
        loader.image()

    return sorted(measured(partial(commit, record)) for record in records)


def show(title: str, loaded: tuple[ImageLoader, float], records: Iterable[NamedRecord]) -> None:
    loader, load_ms = loaded
    times = commits_ms(loader, records)
    print(
        f"{title:<20} load {load_ms:8,.0f} ms   commit: median {statistics.median(times):7.3f} ms"
        f"   mean {statistics.mean(times):7.3f} ms   most {times[-1]:7.2f} ms",
        flush=True,
    )


def main(arguments: list[str] | None = None) -> int:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--fetches", type=int, default=1_000, help="the most that wait")
    parser.add_argument("--topics", type=int, default=100_000, help="the most topics")
    parser.add_argument("--acls", type=int, default=142_000, help="the most ACLs")
    parser.add_argument("--partitions", type=int, default=1_000_000, help="the most partitions")
    parser.add_argument("--commits", type=int, default=COMMITS, help="commits to each image")
    chosen = parser.parse_args(arguments)
    for fetches in (chosen.fetches // 10, chosen.fetches):
        took = append_ms(fetches)
        print(f"append for {fetches:>7,} fetches {took:10.2f} ms {took / fetches:8.4f} ms a fetch")
    for what, record, most in (("topics", topic, chosen.topics), ("ACLs", acl, chosen.acls)):
        for count in (most // 100, most):
            more = map(record, range(count, count + chosen.commits))
            show(f"{count:,} {what}", load(map(record, range(count))), more)
    for count in (chosen.partitions // 100, chosen.partitions):
        loaded = load(snapshot(count))
        changes = (partition(number * 7919 % count) for number in range(chosen.commits))
        show(f"{count:,} partitions", loaded, changes)
    print(f"peak memory {resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024:,.0f} MB")
    return 0


if __name__ == "__main__":
    sys.exit(main())
