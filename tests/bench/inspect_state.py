"""Measures what reads a whole state: replay, the shell beside kafka-metadata-shell, verify-log.

    make bench-inspect
    python tests/bench/inspect_state.py --rounds 3 --partitions 1000000 --megabytes 1074

The snapshot is written by kraftool's encoder: topics of 1,000 partitions with three replicas and a
directory for each. Both shells open it and print one partition, in turns. The logs change the
partitions of one topic again and again; verify-log reads them in two sizes, so that its memory can
be seen to stay flat. Owns the files; it refuses to judge: nothing here passes or fails.
"""

from __future__ import annotations

import argparse
import itertools
import os
import shlex
import statistics
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path
from random import Random

sys.path.insert(0, str(Path(__file__).resolve().parents[2]))

from kraftool.decoders.batch import encode_batch
from kraftool.decoders.framing import decode_record, encode_record
from kraftool.decoders.names import write_checkpoint_name
from kraftool.decoders.snapshot import SnapshotFrame, encode_snapshot
from tests.bench import dump, results
from tests.interop import kafka
from tests.support.places import LOG
from tests.support.uuids import uuid

PER_TOPIC = 1_000
BROKERS = 60
REPLAYED_BYTES = 5_400_000
WHEN_MS = 1_700_000_000_000
FRAME = SnapshotFrame(epoch=5, last_contained_log_timestamp=WHEN_MS, timestamp=WHEN_MS)
SNAPSHOT = write_checkpoint_name(2_000_000, 5)
ONE_PARTITION = "/image/topics/byName/topic-0/3"


def records(partitions: int) -> Iterator[bytes]:
    """The records of a cluster with that many partitions, the same at every call."""
    random = Random(1)
    yield encode_record("FeatureLevelRecord", 0, {"name": "metadata.version", "featureLevel": 30})
    directories = [uuid(random) for _ in range(BROKERS)]
    for number in range(partitions):
        if number % PER_TOPIC == 0:
            topic_id = uuid(random)
            topic = {"name": f"topic-{number // PER_TOPIC}", "topicId": topic_id}
            yield encode_record("TopicRecord", 0, topic)
        replicas = random.sample(range(BROKERS), 3)
        value = {
            "partitionId": number % PER_TOPIC,
            "topicId": topic_id,
            "replicas": replicas,
            "isr": replicas,
            "removingReplicas": [],
            "addingReplicas": [],
            "leader": replicas[0],
            "leaderEpoch": 1,
            "partitionEpoch": 1,
            "directories": [directories[replica] for replica in replicas],
        }
        yield encode_record("PartitionRecord", 2, value)


def build_snapshot(path: Path, partitions: int) -> None:
    with path.open("wb") as out:
        out.writelines(encode_snapshot(records(partitions), FRAME))


def batch(values: list[bytes]) -> bytes:
    return encode_batch(
        ((None, value) for value in values), base_offset=0, epoch=1, timestamp=WHEN_MS
    )


def build_log(path: Path, size: int) -> int:
    """Write a healthy log of about `size` bytes; return how many records it has."""
    first = list(itertools.islice(records(PER_TOPIC), PER_TOPIC + 2))
    topic_id = decode_record(first[1])[2]["topicId"]
    change = {"topicId": topic_id, "isr": [1, 2, 3], "leader": 1}
    changes = [
        encode_record("PartitionChangeRecord", 2, {**change, "partitionId": number})
        for number in range(PER_TOPIC)
    ]
    repeated = batch(changes)
    with path.open("wb") as out:
        out.write(batch(first))
        offset = len(first)
        while out.tell() < size:
            # The base offset lies outside the CRC.
            out.write(offset.to_bytes(8, "big") + repeated[8:])
            offset += len(changes)
    return offset


def kraftool_command(*arguments: str) -> list[str]:
    return [sys.executable, "-m", "kraftool", *arguments]


def shell_commands(snapshot: str) -> dict[str, list[str]]:
    """Both shells printing one partition of a snapshot; Kafka has all the heap it asks for.

    Kafka's is asked on stdin until it answers: it takes commands before there is a state.
    """
    java = [
        *("java", "-Xmx4g", "-Dfile.encoding=UTF-8", "-Dklevel=OFF"),
        *("-cp", kafka.classpath(kafka.TOOLS_VERSION), "org.apache.kafka.shell.MetadataShell"),
        *("--snapshot", snapshot),
    ]
    asking = f"until grep -q leader= said; do echo cat {ONE_PARTITION}; sleep 0.1; done; echo exit"
    script = f": >said; ({asking}) | {shlex.join(java)} | tee said"
    return {
        f"kafka-metadata-shell {kafka.TOOLS_VERSION}": ["sh", "-c", script],
        "kraftool shell": kraftool_command("shell", snapshot, "-c", f"cat {ONE_PARTITION}"),
    }


STATES = {
    "state": kraftool_command("state", SNAPSHOT),
    "state in Python": ["env", "KRAFTOOL_PURE=1", *kraftool_command("state", SNAPSHOT)],
    "state -s topics": kraftool_command("state", "-s", "topics", SNAPSHOT),
    "diff-state": kraftool_command("diff-state", SNAPSHOT, SNAPSHOT),
}
"""What reads every partition of a snapshot, or its bytes."""


def show(title: str, commands: dict[str, list[str]], folder: Path, rounds: int) -> None:
    """Run the commands in turns and print a line for each, against the first of them."""
    runs: dict[str, list[dump.Run]] = {name: [] for name in commands}
    for _ in range(rounds):
        for name, command in commands.items():
            runs[name].append(dump.measure(command, folder))
    print(f"\n{title}, median of {rounds} rounds:")
    print(f"{'':32} {'wall s':>8} {'CPU s':>8} {'peak MB':>8} {'of the first':>13}")
    reference = statistics.median(run.wall_s for run in next(iter(runs.values())))
    for name, measured in runs.items():
        wall = statistics.median(run.wall_s for run in measured)
        cpu = statistics.median(run.cpu_s for run in measured)
        peak = statistics.median(run.peak_mb for run in measured)
        print(f"{name:32} {wall:8.2f} {cpu:8.2f} {peak:8.0f} {wall / reference:12.2f}x", flush=True)


def main(arguments: list[str] | None = None) -> int:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--rounds", type=int, default=3, help="how often each program runs")
    parser.add_argument("--partitions", type=int, default=1_000_000, help="of the large snapshot")
    parser.add_argument("--megabytes", type=int, default=1_074, help="size of the large log")
    chosen = parser.parse_args(arguments)
    if problem := kafka.available(kafka.TOOLS_VERSION):
        print(problem, file=sys.stderr)
        return 2
    kafka.home(kafka.TOOLS_VERSION)  # brought before anything is timed
    print(f"Python {sys.version.split()[0]}, {os.cpu_count()} cores")
    with tempfile.TemporaryDirectory(prefix="kraftool-bench-") as temporary:
        folder = Path(temporary)
        for partitions in (99_899, chosen.partitions):
            build_snapshot(folder / SNAPSHOT, partitions)
            commands = shell_commands(SNAPSHOT)
            show(f"shell, {partitions} partitions", commands, folder, chosen.rounds)
            show(f"a state of {partitions} partitions", STATES, folder, chosen.rounds)
        log = folder / LOG
        count = build_log(log, REPLAYED_BYTES)
        show(f"replay of {count} records", {"state": kraftool_command("state", LOG)}, folder, 3)
        verified = {}
        for megabytes in (chosen.megabytes // 8, chosen.megabytes):
            name = f"{megabytes}-{LOG}"
            count = build_log(folder / name, megabytes * 1_000_000)
            title = f"verify-log, {megabytes} MB, {count} records"
            verified[title] = kraftool_command("verify-log", name)
        show("verify-log", verified, folder, 1)
    return 0


if __name__ == "__main__":
    sys.exit(results.run("inspection of a state", main))
