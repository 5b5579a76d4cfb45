"""`kraftool dump-log -o kafka` beside the real kafka-dump-log 4.3.0: the same bytes.

The tool reads every fixture, data that a live Kafka has just written, and the damaged fixtures;
that runs in a handful of JVMs, each over as many files as it takes. Hashes of what the tool wrote
when the fixtures were made serve machines without Java (tests/commands/test_dump_log.py); here it
runs.
"""

from __future__ import annotations

import json
import re
import subprocess
import sys
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import pytest

from tests.interop import kafka
from tests.interop.dumplog import DECODER, dump_each, kafka_dump_log
from tests.support.places import FIXTURES, ROOT

pytestmark = pytest.mark.interop

DAMAGED = FIXTURES / "damaged"
READABLE = (".log", ".checkpoint", ".index", ".timeindex", ".snapshot", ".txnindex")
PAYLOAD = b" payload: "


@dataclass(frozen=True)
class Ran:
    """One run of kraftool in a process of its own."""

    code: int
    out: bytes
    err: str


def kraftool(*arguments: str, cwd: Path) -> Ran:
    command = [sys.executable, "-m", "kraftool", *arguments]
    environment = {"PYTHONPATH": str(ROOT), "PATH": "/usr/bin:/bin"}
    done = subprocess.run(
        command, cwd=cwd, env=environment, capture_output=True, timeout=120, check=False
    )
    return Ran(done.returncode, done.stdout, done.stderr.decode())


def ours(files: Sequence[str], cwd: Path, *arguments: str) -> bytes:
    ran = kraftool("dump-log", "-o", "kafka", *arguments, *files, cwd=cwd)
    assert ran.code == 0, ran.err
    return ran.out


def readable(folder: Path) -> tuple[list[str], list[str]]:
    """The files that the tool can dump, by their names below `folder`: metadata, and the rest."""
    names = sorted(
        path.relative_to(folder).as_posix()
        for path in folder.rglob("*")
        if path.suffix in READABLE and path.is_file()
    )
    metadata = [n for n in names if "__cluster_metadata-0/" in n or n.endswith(".checkpoint")]
    return metadata, [n for n in names if n not in metadata]


def first_difference(dumped: bytes, expected: bytes) -> str:
    """The first line that is not the same, for a failure that one can read."""
    pairs = zip(dumped.splitlines(), expected.splitlines(), strict=False)
    for number, (left, right) in enumerate(pairs, 1):
        if left != right:
            return f"line {number}:\n  kraftool {left!r}\n  Kafka    {right!r}"
    return f"{len(dumped)} bytes, Kafka has {len(expected)}"


def assert_same(dumped: bytes, expected: bytes, what: str) -> None:
    # A plain assert would have pytest compute the diff of megabytes.
    if dumped != expected:
        pytest.fail(f"{what}: {first_difference(dumped, expected)}")


def without_unknown_payloads(dumped: bytes, expected: bytes) -> tuple[list[bytes], list[bytes]]:
    """The lines of both, without the payloads of records that Kafka 4.3.0 could not decode."""
    left, right = dumped.splitlines(), expected.splitlines()
    for number, line in enumerate(right):
        if b" payload: Error at " in line and number < len(left):
            right[number] = line.partition(PAYLOAD)[0]
            left[number] = left[number].partition(PAYLOAD)[0]
    return left, right


@pytest.fixture(scope="module")
def kafka_fixtures() -> dict[str, bytes]:
    """What the tool writes for each file of every fixture."""
    folders = [*sorted(FIXTURES.glob("kafka-*")), FIXTURES / "built"]
    metadata: list[str] = []
    others: list[str] = []
    for folder in folders:
        some, rest = readable(folder)
        metadata += [f"{folder.name}/{name}" for name in some]
        others += [f"{folder.name}/{name}" for name in rest]
    sections = kafka_dump_log(kafka.TOOLS_VERSION, metadata, FIXTURES)
    return sections | kafka_dump_log(kafka.TOOLS_VERSION, others, FIXTURES, ())


def undecoded() -> set[str]:
    """The fixture files that hold record types which 4.3.0 does not know."""
    names = set()
    for golden in FIXTURES.glob("kafka-*/*/dump-log-4.3.0.json"):
        folder = golden.parent.relative_to(FIXTURES)
        for name, facts in json.loads(golden.read_text()).items():
            if facts.get("undecoded"):
                names.add(f"{folder}/{name}")
    return names


def is_metadata(name: str) -> bool:
    return "__cluster_metadata-0/" in name or name.endswith(".checkpoint")


# --- fixtures ---------------------------------------------------------------------------------


def test_each_metadata_file_of_every_fixture_is_dumped_as_by_kafka(
    kafka_fixtures: dict[str, bytes],
) -> None:
    newer = undecoded()
    names = [name for name in kafka_fixtures if is_metadata(name) and name not in newer]
    assert len(names) > 200
    expected = b"".join(kafka_fixtures[name] for name in names)
    assert_same(ours(names, FIXTURES), expected, "metadata files")


def test_each_file_of_topics_in_every_fixture_is_dumped_as_by_kafka(
    kafka_fixtures: dict[str, bytes],
) -> None:
    names = [name for name in kafka_fixtures if not is_metadata(name)]
    assert {name.rpartition(".")[2] for name in names} >= {"log", "index", "timeindex", "txnindex"}
    expected = b"".join(kafka_fixtures[name] for name in names)
    assert_same(ours(names, FIXTURES, "--batches-only"), expected, "topics' files")


def test_logs_of_4_4_differ_only_in_records_that_4_3_cannot_decode(
    kafka_fixtures: dict[str, bytes],
) -> None:
    names = sorted(undecoded())
    assert names
    dumped = ours(names, FIXTURES)
    expected = b"".join(kafka_fixtures[name] for name in names)
    errors = re.findall(rb"payload: Error at \d+, skipping\. (.*)", expected)
    assert {error.rpartition(b" ")[2] for error in errors} == {b"29"}
    left, right = without_unknown_payloads(dumped, expected)
    assert left == right
    assert b"UNREGISTER_CONTROLLER_RECORD" in dumped


def test_jsonl_carries_the_payloads_of_kafka(kafka_fixtures: dict[str, bytes]) -> None:
    newer = undecoded()
    names = [
        name
        for name in kafka_fixtures
        if is_metadata(name) and name.endswith((".log", ".checkpoint")) and name not in newer
    ]
    arguments = ["dump-log", "-o", "jsonl", "--show-secrets", *names]
    ran = kraftool(*arguments, cwd=FIXTURES)
    assert ran.code == 0, ran.err
    expected = b"".join(kafka_fixtures[name] for name in names)
    assert payloads_of_jsonl(ran.out) == payloads_of_kafka(expected)


def payloads_of_kafka(text: bytes) -> list[bytes]:
    """Type and JSON of each record line; of a control record Kafka's label and JSON."""
    payloads = []
    for line in text.splitlines():
        if line.startswith(b"|"):
            metadata, _, contents = line.partition(b"headerKeys: [] ")
            assert metadata, line
            payloads.append(contents.removeprefix(b"payload: "))
    return payloads


def payloads_of_jsonl(text: bytes) -> list[bytes]:
    """The same, cut out of the lines as bytes, since the JSON is to be the same text."""
    payloads = []
    for line in text.splitlines():
        if not line.startswith(b'{"kind":"record"'):
            continue
        match = re.fullmatch(rb'.*?"type":"(\w+)","version":(\d+),"data":(\{.*\})\}', line)
        assert match, line
        kind, version, data = match.groups()
        if b'"control":true' in line:
            colon = b":" if kind == b"LeaderChange" else b""
            payloads.append(b"%b%b %b" % (kind, colon, data))
        else:
            payloads.append(b'{"type":"%b","version":%b,"data":%b}' % (kind, version, data))
    return payloads


# --- live -------------------------------------------------------------------------------------


def test_what_kafka_has_just_written_is_dumped_as_by_kafka(live_metadata_dir: Path) -> None:
    metadata, others = readable(live_metadata_dir)
    assert {name.rpartition(".")[2] for name in metadata} >= {"log", "checkpoint", "index"}
    # The index of a topic under deletion is still preallocated, and its log empty: the tool dies.
    others = [name for name in others if "-delete/" not in name]
    for names, flags, mode in (
        (metadata, [DECODER], []),
        (others, [], ["--batches-only"]),
        (metadata, [DECODER, "--skip-record-metadata"], ["--skip-record-metadata"]),
    ):
        sections = kafka_dump_log(kafka.TOOLS_VERSION, names, live_metadata_dir, flags)
        dumped = ours(names, live_metadata_dir, *mode)
        assert_same(dumped, b"".join(sections.values()), " ".join(flags) or "no decoder")


def test_live_jsonl_carries_the_payloads_of_kafka(live_metadata_dir: Path) -> None:
    names = [n for n in readable(live_metadata_dir)[0] if n.endswith((".log", ".checkpoint"))]
    sections = kafka_dump_log(kafka.TOOLS_VERSION, names, live_metadata_dir)
    ran = kraftool("dump-log", "-o", "jsonl", "--show-secrets", *names, cwd=live_metadata_dir)
    expected = payloads_of_kafka(b"".join(sections.values()))
    assert (ran.code, payloads_of_jsonl(ran.out)) == (0, expected)
    assert len(expected) > 100


def test_kafkas_own_flags_give_kafkas_output(live_metadata_dir: Path) -> None:
    log = f"__cluster_metadata-0/{0:020}.log"
    section = kafka_dump_log(kafka.TOOLS_VERSION, [log], live_metadata_dir)[log]
    arguments = ["dump-log", DECODER, "--print-data-log", "--files", log, "-o", "kafka"]
    assert_same(kraftool(*arguments, cwd=live_metadata_dir).out, section, log)


# --- damage -----------------------------------------------------------------------------------


def damaged_files() -> list[str]:
    return sorted(
        path.relative_to(DAMAGED).as_posix()
        for path in DAMAGED.glob("*/*")
        if path.suffix in (".log", ".checkpoint")
    )


@pytest.fixture(scope="module")
def kafka_damaged() -> dict[str, tuple[bytes, str]]:
    return dump_each(damaged_files(), DAMAGED)


@pytest.mark.parametrize("name", damaged_files(), ids=lambda name: name.partition("/")[0])
def test_a_damaged_file_is_dumped_as_by_kafka_up_to_the_damage(
    name: str, kafka_damaged: dict[str, tuple[bytes, str]]
) -> None:
    text, ending = kafka_damaged[name]
    expected = text[: text.rfind(b"\n") + 1] if ending else text
    source = json.loads((DAMAGED / name).with_name("SOURCE").read_text())
    ran = kraftool("dump-log", "-o", "kafka", name, cwd=DAMAGED)
    # Kafka cuts the tail of a log that is no batch: nothing there is undecoded.
    is_cut = re.fullmatch(r"(torn|zero-filled)-(header|tail)/.*\.log", name)
    assert ran.code == ((1 if is_cut else 3) if source["positions"] else 0), ran.err
    if ran.out.startswith(expected):
        return
    # Kafka may take all that follows for trailing bytes, where kraftool finds the next batch; and
    # each has its own words for a record that it cannot decode.
    lines = expected.splitlines()
    tail = re.fullmatch(rb"Found \d+ invalid bytes at the end of .*", lines[-1])
    theirs = lines[:-1] if tail else lines
    dumped = ran.out.splitlines()[: len(theirs)]
    if not tail:
        dumped[-1], theirs[-1] = (x.partition(PAYLOAD)[0] for x in (dumped[-1], theirs[-1]))
    assert dumped == theirs


def test_kafkas_tool_dies_where_kraftool_goes_on(
    kafka_damaged: dict[str, tuple[bytes, str]],
) -> None:
    died = {name.partition("/")[0] for name, (_, ending) in kafka_damaged.items() if ending}
    assert died >= {"zero-filled-middle", "negative-batch-length", "absurd-record-length"}
    for folder in ("zero-filled-middle", "negative-batch-length", "absurd-record-length"):
        name = f"{folder}/{0:020}.log"
        ran = kraftool("dump-log", "-o", "kafka", name, cwd=DAMAGED)
        assert b" offset: 31 " in ran.out, folder
        assert b" offset: 31 " not in kafka_damaged[name][0], folder
