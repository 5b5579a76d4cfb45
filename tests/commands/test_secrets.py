"""Planted secrets come out of no command and no format by default, and nothing acts on a terminal.

Every secret of the fixtures holds CANARY, or is derived from one that does (SCRAM keys): passwords
in configs and server.properties, salts as raw bytes. Outputs are searched for them as text, as hex
in whatever columns, and as base64 at any alignment. The second half runs kraftool on a terminal of
its own (a pty) over data whose names hold escapes, overrides and markup.
"""

from __future__ import annotations

import base64
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

import pytest

from kraftool.decoders.batch import HEADER_SIZE, RecordBatch
from kraftool.decoders.framing import decode_record
from kraftool.decoders.kinds import FileKind
from kraftool.decoders.segment import scan
from kraftool.reports.explain.annotation import explain
from kraftool.reports.explain.rows import ExplainRequest, Row
from kraftool.reports.logs.render import RenderPlan, render
from tests.commands.secret_nodes import LOG, NODE, Run
from tests.support.places import FIXTURES

pytestmark = pytest.mark.slow
SCENARIOS = (
    "kafka-3.7.2/static-single",
    "kafka-3.9.1/upgrade",
    "kafka-4.3.0/dynamic-quorum",
    "kafka-4.3.0/static-single",
    "kafka-4.4.0/dynamic-quorum",
    "built/aborted-transaction",
)
NO_DIGITS = bytes(set(range(256)) - set(b"0123456789abcdef"))
SHORTEST = 6
"""So much of a secret in a row is a leak, where damage moved the fields around it."""


# --- what to look for -----------------------------------------------------------------------------


def base64_of(secret: bytes) -> Iterator[bytes]:
    """How base64 shows some bytes in the middle of others: three alignments, whole characters."""
    for before in range(3):
        text = base64.b64encode(bytes(before) + secret)
        # The characters at either end hold bits of the neighbours too.
        start = -(-before * 8 // 6)
        whole = text[start : (before + len(secret)) * 8 // 6]
        yield whole
        yield whole.translate(bytes.maketrans(b"+/", b"-_"))


@dataclass(frozen=True)
class Needles:
    """The forms that some secrets may come out in."""

    plain: frozenset[bytes]
    hexadecimal: frozenset[bytes]

    @classmethod
    def of(cls, secrets: Iterable[bytes], piece: int) -> Needles:
        plain: set[bytes] = set()
        hexadecimal: set[bytes] = set()
        for secret in secrets:
            pieces = {
                secret[at : at + piece] for at in range(0, len(secret) - piece + 1, piece // 2)
            }
            for fragment in pieces:
                plain |= {fragment, *base64_of(fragment), repr(fragment)[2:-1].encode()}
                hexadecimal.add(fragment.hex().encode())
        return cls(frozenset(plain), frozenset(hexadecimal))

    def found(self, output: bytes) -> bytes | None:
        """The first form that is in an output."""
        for needle in self.plain:
            if needle in output:
                return needle
        digits = output.lower().translate(None, NO_DIGITS)
        return next((needle for needle in self.hexadecimal if needle in digits), None)


CANARY = Needles.of([b"CANARY"], SHORTEST)
# As hex, a line of `explain` may break it.
CANARY = Needles(CANARY.plain, frozenset({b"CANA".hex().encode(), b"NARY".hex().encode()}))


def batches(path: Path) -> Iterator[RecordBatch]:
    data = path.read_bytes()
    for item in scan(lambda at, size: data[at : at + size]):
        if isinstance(item, RecordBatch):
            yield item


def values(path: Path) -> Iterator[tuple[str, dict[str, Any]]]:
    for batch in batches(path):
        if not batch.is_control:
            for record in batch.records():
                name, _, value = decode_record(record.value or b"")
                yield name, value


@cache
def scram_keys(scenario: str) -> Needles:
    """The keys that Kafka derived from the planted passwords, in whatever file they lie."""
    keys: set[bytes] = set()
    for path in [*FIXTURES.joinpath(scenario).rglob("*.checkpoint"), *logs(scenario)]:
        for name, value in values(path):
            if name == "UserScramCredentialRecord":
                keys |= {value["storedKey"], value["serverKey"]}
    # Text shows a key whole, or much of it; `explain` breaks its hex into lines of eight bytes.
    return Needles(Needles.of(keys, 16).plain, Needles.of(keys, 8).hexadecimal)


def logs(scenario: str) -> list[Path]:
    return sorted(FIXTURES.joinpath(scenario).rglob("__cluster_metadata-0/*.log"))


def assert_no_secret(scenario: str, ran: Any, what: object) -> None:
    for output in (ran.out, ran.err.encode()):
        assert CANARY.found(output) is None, what
        assert scram_keys(scenario).found(output) is None, what


def test_the_search_finds_a_secret_in_any_form() -> None:
    secret = b"CANARY"
    for shown in (
        b"a CANARY b",
        b"43 41 4e 41  at 7\n 52 59",
        b"4341\n4E41 5259",
        base64.b64encode(b"xCANARYyz"),
        base64.b64encode(b"xxCANARYyz"),
        base64.urlsafe_b64encode(b"\xff\xfeCANARY"),
    ):
        assert CANARY.found(shown), shown
    assert CANARY.found(b"a bird") is None
    key = bytes(range(0x80, 0xA0))
    assert Needles.of([key], 8).found(b"x " + key.hex(" ").encode())
    assert Needles.of([key], 8).found(base64.b64encode(b"1" + key))
    assert Needles.of([key], 8).found(str(key).encode())
    assert not Needles.of([key], 8).found(secret * 10)


@pytest.mark.parametrize("scenario", SCENARIOS)
def test_each_scenario_has_secrets_to_look_for(scenario: str) -> None:
    assert any(b"CANARY" in path.read_bytes() for path in logs(scenario))
    assert scram_keys(scenario).plain


# --- every command ------------------------------------------------------------------------------


DUMP_LOG: tuple[tuple[str, ...], ...] = (
    *(("-o", form, "--snapshots") for form in ("table", "json", "jsonl", "csv")),
    ("-o", "table", "--wide", "--color", "always"),
    ("-o", "jsonl", "--transactions", "mark"),
    ("-o", "csv", "--transactions", "hide"),
    ("-o", "jsonl", "--type", "ConfigRecord"),
    ("-o", "table", "--type", "UserScramCredentialRecord", "--type", "DelegationTokenRecord"),
    ("-o", "jsonl", "--broker", "1"),
    ("-o", "jsonl", "--topic", "payments-a"),
    ("-o", "jsonl", "--grep", "alice"),
    ("-o", "jsonl", "--offsets", "10..60"),
    ("-o", "json", "--tail", "50"),
    ("-o", "csv", "--head", "80"),
    ("-o", "table", "--batches-only"),
)


def data_directories(scenario: str) -> list[Path]:
    paths = sorted(path.parent for path in FIXTURES.joinpath(scenario).rglob("meta.properties"))
    return [path for path in paths if (path / "__cluster_metadata-0").is_dir()]


@pytest.mark.parametrize("scenario", SCENARIOS)
def test_dump_log_shows_no_secret(scenario: str, kraftool: Run) -> None:
    for folder in data_directories(scenario)[:3]:
        for arguments in DUMP_LOG:
            ran = kraftool("dump-log", *arguments, folder)
            assert ran.code == 0, ran.err
            assert_no_secret(scenario, ran, (arguments, folder))


@pytest.mark.parametrize("scenario", SCENARIOS)
def test_dump_shows_no_secret(scenario: str, kraftool: Run) -> None:
    for folder in data_directories(scenario)[:3]:
        paths = [folder, *folder.glob("*.properties"), *folder.glob("*.checkpoint")]
        paths += sorted(folder.glob("__cluster_metadata-0/*"))
        paths += [folder.parent / "server.properties"]
        for path in paths:
            for form in ("table", "json"):
                ran = kraftool("dump", "-o", form, path)
                assert_no_secret(scenario, ran, ("dump", form, path))
        assert_no_secret(scenario, kraftool("dump", "--records", folder), ("dump", folder))
        properties = folder.parent / "server.properties"
        ran = kraftool("dump", "--as", "properties", properties)
        assert_no_secret(scenario, ran, ("dump --as properties", properties))
        assert "node.id" in ran.text


@pytest.mark.parametrize("scenario", SCENARIOS)
def test_explain_shows_no_secret(scenario: str, kraftool: Run) -> None:
    for folder in data_directories(scenario)[:1]:
        paths = [folder.parent / "server.properties", *folder.glob("*.checkpoint")]
        paths += [path for path in logs(scenario) if folder in path.parents]
        paths += sorted(folder.glob("__cluster_metadata-0/*.checkpoint"))[-1:]
        for path in paths:
            for form in ("table", "json"):
                ran = kraftool("explain", "-o", form, "--batches", 0, path)
                assert ran.code == 0, ran.err
                assert_no_secret(scenario, ran, ("explain", form, path))


@pytest.mark.parametrize("scenario", SCENARIOS)
def test_timeline_shows_no_secret(scenario: str, kraftool: Run) -> None:
    folders = data_directories(scenario)
    for form in ("table", "json", "jsonl", "csv"):
        ran = kraftool("timeline", "-o", form, "--topics", *folders)
        assert ran.code == 0, ran.err
        assert_no_secret(scenario, ran, ("timeline", form, folders))


@pytest.mark.parametrize("scenario", SCENARIOS)
def test_no_verification_of_a_log_shows_a_secret(scenario: str, kraftool: Run) -> None:
    for path in sorted((FIXTURES / scenario).glob("node-*/data*")):
        for form in ("table", "json"):
            ran = kraftool("verify-log", "-o", form, path)
            assert ran.code in (0, 1), ran.err
            assert_no_secret(scenario, ran, ("verify-log", form, path))


@pytest.mark.parametrize("scenario", SCENARIOS)
def test_no_verification_of_a_snapshot_shows_a_secret(scenario: str, kraftool: Run) -> None:
    for path in sorted((FIXTURES / scenario).glob("node-*/data*")):
        for form in ("table", "json"):
            ran = kraftool("verify-snapshot", "-o", form, path)
            assert ran.code in (0, 1), ran.err
            assert_no_secret(scenario, ran, ("verify-snapshot", form, path))


@pytest.mark.parametrize("scenario", SCENARIOS)
def test_diff_voters_and_simulate_election_show_no_secret(scenario: str, kraftool: Run) -> None:
    folders = data_directories(scenario)[:3]
    paths = [*folders, *(folder.parent / "server.properties" for folder in folders)]
    for form in ("table", "json"):
        for command in (("diff-voters",), ("simulate-election", "--runs", 2)):
            ran = kraftool(*command, "-o", form, *paths)
            assert_no_secret(scenario, ran, (command, form, paths))


@pytest.mark.parametrize("scenario", SCENARIOS)
def test_shell_shows_no_secret(scenario: str, kraftool: Run) -> None:
    for folder in data_directories(scenario)[:3]:
        for path in (folder, *sorted(folder.glob("__cluster_metadata-0/*.checkpoint"))[-1:]):
            ran = kraftool("shell", path, "-c", "tree /; find; ls image/configs/*", "-c", "cat */*")
            assert_no_secret(scenario, ran, ("shell", path))
            assert "\n  provenance:\n" in ran.text


@pytest.mark.parametrize("scenario", SCENARIOS)
def test_features_show_no_secret(scenario: str, kraftool: Run) -> None:
    for folder in data_directories(scenario)[:3]:
        for form in ("table", "json"):
            ran = kraftool("features", "-o", form, "--to", "3.3", folder)
            assert ran.code in (0, 1), ran.err
            assert_no_secret(scenario, ran, ("features", form, folder))


@pytest.mark.parametrize("scenario", SCENARIOS)
def test_state_and_diff_state_show_no_secret(scenario: str, kraftool: Run) -> None:
    tables = [word for table in ("configs", "scram", "acls", "tokens") for word in ("-s", table)]
    for folder in data_directories(scenario)[:3]:
        for arguments in (("-o", "tree"), ("-o", "json"), ("-o", "jsonl"), tables, ()):
            ran = kraftool("state", *arguments, folder)
            assert_no_secret(scenario, ran, ("state", arguments, folder))
            assert ran.code == 0, ran.err
    for log in [path for path in logs(scenario) if path.name == LOG.name][:3]:
        for form in ("table", "json", "jsonl"):
            ran = kraftool("diff-state", "-o", form, "--limit", 0, "--at", 0, log)
            assert_no_secret(scenario, ran, ("diff-state", form, log))
            assert ran.code == 1, ran.err


# --- on demand ----------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "arguments",
    [
        ("dump-log", "-o", "jsonl", "--show-secrets", LOG),
        ("dump-log", "-o", "json", "--show-secrets", LOG),
        ("dump-log", "-o", "csv", "--show-secrets", LOG),
        ("dump-log", "-o", "table", "--show-secrets", LOG),
        ("dump-log", "-o", "jsonl", "--show-secrets", "--grep", "CANARY", LOG),
        ("explain", "--batches", 0, "--show-secrets", LOG),
        ("explain", "-o", "json", "--batches", 0, "--show-secrets", LOG),
        ("shell", "--show-secrets", "-c", "tree image/configs", LOG),
        ("state", "--show-secrets", "-o", "json", LOG),
        ("state", "--show-secrets", "--section", "configs", LOG),
        ("dump", "--records", "--show-secrets", NODE / "data"),
        ("dump", "--as", "properties", "--show-secrets", NODE / "server.properties"),
    ],
    ids=lambda arguments: " ".join(str(argument) for argument in arguments[:-1]),
)
def test_secrets_are_shown_on_demand(arguments: tuple[object, ...], kraftool: Run) -> None:
    ran = kraftool(*arguments)
    assert ran.code == 0, ran.err
    assert CANARY.found(ran.out)


def test_the_kafka_format_is_verbatim_and_says_so(kraftool: Run) -> None:
    ran = kraftool("dump-log", "-o", "kafka", LOG)
    assert CANARY.found(ran.out)
    assert "secrets are not masked" in ran.err
    assert scram_keys("kafka-4.3.0/static-single").found(ran.out)


# --- damage -------------------------------------------------------------------------------------


def test_no_damaged_fixture_makes_a_command_show_a_secret(kraftool: Run) -> None:
    paths = [path for path in sorted(FIXTURES.glob("damaged/*/*")) if path.is_file()]
    assert any(path.parent.name == "newer-secret-version" for path in paths)
    for path in paths:
        if path.name == "SOURCE":
            continue
        commands: list[tuple[object, ...]]
        commands = [("dump", "-o", form) for form in ("table", "json")]
        commands += [("explain", "-o", form) for form in ("table", "json")]
        commands += [("verify-log", "-o", form) for form in ("table", "json")]
        commands += [("verify-snapshot", "-o", form) for form in ("table", "json")]
        if path.suffix in (".log", ".checkpoint"):
            commands += [("dump-log", "-o", form) for form in ("table", "json", "jsonl", "csv")]
            commands += [("timeline", "-o", form) for form in ("table", "json")]
            commands += [("state", "-o", form) for form in ("table", "tree", "json", "jsonl")]
            commands += [("diff-state", "-o", form, "--at", 0) for form in ("table", "json")]
        for command in commands:
            more = ("--batches", 0) if command[0] == "explain" else ()
            ran = kraftool(*command, *more, path)
            assert ran.code in (0, 1, 2, 3), (command, path, ran.err)
            assert_no_secret("kafka-4.3.0/static-single", ran, (command, path))


def secret_records() -> Iterator[tuple[bytes, frozenset[bytes]]]:
    """A log of three batches, the one in the middle with a secret, and the secret's pieces."""
    around = list(batches(LOG))
    seen: set[str] = set()
    for before, batch, after in zip(around, around[1:], around[2:], strict=False):
        if b"CANARY" not in batch.data or batch.header.record_count != 1:
            continue
        name, _, value = decode_record(next(batch.records()).value or b"")
        what = value.get("name", "") if name == "ConfigRecord" else str(value.get("mechanism"))
        if name + what in seen:
            continue
        seen.add(name + what)
        secrets = (
            [value["value"].encode()]
            if name == "ConfigRecord"
            else [value["salt"], value["storedKey"], value["serverKey"]]
        )
        data = before.data + batch.data + after.data
        # `keystore` is in the value that was planted, and in the name of its config too.
        healthy = dumped(data, "jsonl") + dumped(data, "csv") + explained(data)
        pieces = Needles.of(secrets, SHORTEST).plain
        yield data, frozenset(piece for piece in pieces if piece not in healthy)


def dumped(data: bytes, form: str) -> bytes:
    pieces = render(RenderPlan(format=form), "x.log", lambda at, size: data[at : at + size])
    return b"".join(piece.data for piece in pieces)


def explained(data: bytes) -> bytes:
    """All that a row can show."""

    def read_at(position: int, size: int) -> bytes:
        return data[position : position + size]

    return b"\n".join(
        row.data + f"|{row.value}|{row.note}|{row.problem}".encode("utf-8", "replace")
        for row in explain("x.log", FileKind.LOG, read_at, len(data), ExplainRequest(units=0))
        if isinstance(row, Row)
    )


def middle_of(data: bytes) -> RecordBatch:
    _, middle, _ = scan(lambda at, size: data[at : at + size])
    assert isinstance(middle, RecordBatch)
    return middle


def flips(data: bytes) -> Iterator[tuple[int, bytes]]:
    """Each bit of the second batch flipped by itself."""
    middle = middle_of(data)
    for position in range(middle.position + 8, middle.position + middle.size):
        for bit in range(8):
            damaged = bytearray(data)
            damaged[position] ^= 1 << bit
            yield position, bytes(damaged)


def test_no_single_flipped_bit_makes_a_secret_visible_in_a_dump() -> None:
    tried = 0
    leaks = []
    for data, pieces in secret_records():
        for position, damaged in flips(data):
            tried += 1
            output = dumped(damaged, "jsonl") + dumped(damaged, "csv")
            leaks += [(position, piece) for piece in pieces if piece in output][:1]
    assert tried > 5000
    assert not leaks, f"{len(leaks)} of {tried}, the first: {leaks[:3]}"


def test_no_single_flipped_bit_makes_a_secret_visible_in_explain() -> None:
    leaks = []
    for data, pieces in secret_records():
        # Each bit of the header, which says how to read the rest, and every fifth of the rest.
        every = list(flips(data))
        in_header = 8 * (HEADER_SIZE - 8)
        for position, damaged in [*every[:in_header], *every[in_header::5]]:
            output = explained(damaged)
            leaks += [(position, piece) for piece in pieces if piece in output][:1]
    assert not leaks, f"{len(leaks)}, the first: {leaks[:3]}"


def test_a_log_that_begins_inside_a_secret_shows_none_of_it() -> None:
    """As `tail -c` leaves it, or a copy of some blocks."""
    leaks = []
    for data, pieces in secret_records():
        middle = middle_of(data)
        for start in range(middle.position + 1, middle.position + middle.size, 3):
            rest = data[start:]
            for name, output in (
                ("dump-log", dumped(rest, "jsonl") + dumped(rest, "csv")),
                ("explain", explained(rest)),
            ):
                leaks += [(name, start, piece) for piece in pieces if piece in output][:1]
    assert not leaks, f"{len(leaks)}, the first: {leaks[:3]}"
