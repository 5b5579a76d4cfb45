"""`kraftool dump-log -o kafka` beside kafka-dump-log of 4.3.0 and 4.4.0: the same bytes.

What the tools wrote for every fixture is recorded as hashes, and for the damaged fixtures as it is.
In the soak the tool of 4.3.0 also reads what a live Kafka has just written.
"""

from __future__ import annotations

import hashlib
import json
import re
import subprocess
import sys
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache, partial
from pathlib import Path
from typing import Any

import pytest

from tests.interop import kafka
from tests.interop.dumplog import (
    DECODER,
    DUMPING_RELEASES,
    EACH_SOURCE,
    dump_each,
    kafka_dump_log,
    split,
)
from tests.interop.recorded import Recording
from tests.support.places import FIXTURES, ROOT

pytestmark = pytest.mark.slow

DAMAGED = FIXTURES / "damaged"
READABLE = (".log", ".checkpoint", ".index", ".timeindex", ".snapshot", ".txnindex")
PAYLOAD = b" payload: "
BLOCK = 50
"""Lines whose hash is recorded together."""
SKIP = "--skip-record-metadata"
_SINGLE = f"kafka-4.3.0/static-single/node-1/data/__cluster_metadata-0/{0:020}"
WITHOUT_METADATA = (f"{_SINGLE}.log", f"{_SINGLE}.index", f"{_SINGLE}.timeindex")
"""Files that are dumped without the records' metadata, too."""


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
    return _dumped(tuple(files), cwd, arguments)


@cache
def _dumped(files: tuple[str, ...], cwd: Path, arguments: tuple[str, ...]) -> bytes:
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


def is_metadata(name: str) -> bool:
    return "__cluster_metadata-0/" in name or name.endswith(".checkpoint")


def fixture_files() -> list[str]:
    folders = [*sorted(FIXTURES.glob("kafka-*")), FIXTURES / "built"]
    return [
        f"{folder.name}/{name}"
        for folder in folders
        for names in readable(folder)
        for name in names
    ]


def _read(folder: Path, names: Sequence[str]) -> dict[str, bytes]:
    return {name: (folder / name).read_bytes() for name in names}


def _hash(text: bytes) -> str:
    """Return half of a SHA-256."""
    return hashlib.sha256(text).hexdigest()[:32]


def kept(section: bytes) -> dict[str, Any]:
    """What is recorded of a dump: hashes of all of it and of each fifty lines. Where Kafka does not
    know a type of records, also the text."""
    lines = section.splitlines(keepends=True)
    parts = [_hash(b"".join(lines[at : at + BLOCK]))[:6] for at in range(0, len(lines), BLOCK)]
    entry: dict[str, Any] = {
        "sha256": _hash(section),
        "bytes": len(section),
        "blocks": " ".join(parts),
    }
    if b" payload: Error at " in section:
        entry["text"] = section.decode()
    return entry


def _dump_fixtures(version: str) -> dict[str, Any]:
    names = fixture_files()
    metadata = [name for name in names if is_metadata(name)]
    others = [name for name in names if not is_metadata(name)]
    sections = kafka_dump_log(version, metadata, FIXTURES)
    sections |= kafka_dump_log(version, others, FIXTURES, ())
    short = kafka_dump_log(version, WITHOUT_METADATA, FIXTURES, (DECODER, SKIP))
    sections |= {f"{name} {SKIP}": section for name, section in short.items()}
    return {name: kept(section) for name, section in sections.items()}


def _dump_damaged(version: str) -> dict[str, Any]:
    dumped = dump_each(version, damaged_files(), DAMAGED)
    return {
        name: (text.decode("latin-1"), ending.replace(f"{DAMAGED}/", ""))
        for name, (text, ending) in dumped.items()
    }


def damaged_files() -> list[str]:
    return sorted(
        path.relative_to(DAMAGED).as_posix()
        for path in DAMAGED.glob("*/*")
        if path.suffix in (".log", ".checkpoint")
    )


OF_FIXTURES = [
    Recording(
        name="dump-log",
        release=version,
        command=f"kafka-dump-log [{DECODER}] [{SKIP}] --files FILE,...",
        about=lambda: _read(FIXTURES, fixture_files()),
        ask=partial(_dump_fixtures, version),
    )
    for version in DUMPING_RELEASES
]
OF_DAMAGED = [
    Recording(
        name="dump-log-damaged",
        release=version,
        command="java/DumpEach.java FILE...",
        sources=(EACH_SOURCE,),
        about=lambda: _read(DAMAGED, damaged_files()),
        ask=partial(_dump_damaged, version),
    )
    for version in DUMPING_RELEASES
]
RECORDINGS = (*OF_FIXTURES, *OF_DAMAGED)


@pytest.fixture(scope="module", params=OF_FIXTURES, ids=lambda recording: recording.release)
def recorded(request: pytest.FixtureRequest) -> dict[str, dict[str, Any]]:
    """What the tool wrote for each file of every fixture."""
    answers: dict[str, dict[str, Any]] = request.param.answers()
    return answers


def assert_as_recorded(
    dumped: bytes, names: Sequence[str], recorded: dict[str, dict[str, Any]], mode: str = ""
) -> None:
    sections = split(dumped, names)
    for name in names:
        expected = recorded[f"{name}{mode}"]
        if _hash(sections[name]) == expected["sha256"]:
            continue
        ours, theirs = kept(sections[name])["blocks"].split(), expected["blocks"].split()
        at = next(
            (at for at, pair in enumerate(zip(ours, theirs, strict=False)) if len({*pair}) > 1), -1
        )
        shown = b"".join(sections[name].splitlines(keepends=True)[at * BLOCK : (at + 1) * BLOCK])
        pytest.fail(
            f"{name}{mode}: {len(sections[name])} bytes, Kafka has {expected['bytes']}; one of "
            f"these lines differs first:\n{shown.decode(errors='replace')}"
        )


def undecoded(recorded: dict[str, dict[str, Any]]) -> set[str]:
    """The fixture files that hold record types which the release does not know."""
    return {name for name, facts in recorded.items() if "text" in facts}


# --- fixtures ---------------------------------------------------------------------------------


def test_each_metadata_file_of_every_fixture_is_dumped_as_by_kafka(
    recorded: dict[str, dict[str, Any]],
) -> None:
    newer = undecoded(recorded)
    names = [name for name in fixture_files() if is_metadata(name) and name not in newer]
    assert len(names) > 200
    assert_as_recorded(ours(names, FIXTURES), names, recorded)


def test_each_file_of_topics_in_every_fixture_is_dumped_as_by_kafka(
    recorded: dict[str, dict[str, Any]],
) -> None:
    names = [name for name in fixture_files() if not is_metadata(name)]
    assert {name.rpartition(".")[2] for name in names} >= {"log", "index", "timeindex", "txnindex"}
    assert_as_recorded(ours(names, FIXTURES, "--batches-only"), names, recorded)


def test_logs_without_the_lines_metadata_are_dumped_as_by_kafka(
    recorded: dict[str, dict[str, Any]],
) -> None:
    dumped = ours(WITHOUT_METADATA, FIXTURES, SKIP)
    assert_as_recorded(dumped, WITHOUT_METADATA, recorded, f" {SKIP}")


def test_kafkas_own_flags_give_kafkas_output(recorded: dict[str, dict[str, Any]]) -> None:
    [log] = (name for name in WITHOUT_METADATA if name.endswith(".log"))
    ran = kraftool(
        *("dump-log", DECODER, "--print-data-log", "--files", log, "-o", "kafka"), cwd=FIXTURES
    )
    assert_as_recorded(ran.out, [log], recorded)


def test_logs_of_4_4_differ_only_in_records_that_4_3_cannot_decode() -> None:
    older, newest = (recording.answers() for recording in OF_FIXTURES)
    assert not undecoded(newest)
    names = sorted(undecoded(older))
    assert names
    dumped = ours(names, FIXTURES)
    expected = "".join(older[name]["text"] for name in names).encode()
    errors = re.findall(rb"payload: Error at \d+, skipping\. (.*)", expected)
    assert {error.rpartition(b" ")[2] for error in errors} == {b"29"}
    left, right = without_unknown_payloads(dumped, expected)
    assert left == right
    assert b"UNREGISTER_CONTROLLER_RECORD" in dumped


def test_jsonl_carries_the_payloads_of_kafka() -> None:
    """Of Kafka's format, which is Kafka's output in the tests above."""
    names = [
        name
        for name in fixture_files()
        if is_metadata(name) and name.endswith((".log", ".checkpoint"))
    ]
    ran = kraftool("dump-log", "-o", "jsonl", "--show-secrets", *names, cwd=FIXTURES)
    assert ran.code == 0, ran.err
    assert payloads_of_jsonl(ran.out) == payloads_of_kafka(ours(names, FIXTURES))


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


@pytest.mark.interop
@pytest.mark.soak
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


@pytest.mark.interop
@pytest.mark.soak
def test_live_jsonl_carries_the_payloads_of_kafka(live_metadata_dir: Path) -> None:
    names = [n for n in readable(live_metadata_dir)[0] if n.endswith((".log", ".checkpoint"))]
    sections = kafka_dump_log(kafka.TOOLS_VERSION, names, live_metadata_dir)
    ran = kraftool("dump-log", "-o", "jsonl", "--show-secrets", *names, cwd=live_metadata_dir)
    expected = payloads_of_kafka(b"".join(sections.values()))
    assert (ran.code, payloads_of_jsonl(ran.out)) == (0, expected)
    assert len(expected) > 100


# --- damage -----------------------------------------------------------------------------------


@pytest.fixture(scope="module", params=OF_DAMAGED, ids=lambda recording: recording.release)
def kafka_damaged(request: pytest.FixtureRequest) -> dict[str, tuple[bytes, str]]:
    answers = request.param.answers()
    return {name: (text.encode("latin-1"), ending) for name, (text, ending) in answers.items()}


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
