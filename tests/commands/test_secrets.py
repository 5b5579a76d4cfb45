"""Planted secrets come out of no command and no format by default, and nothing acts on a terminal.

Every secret of the fixtures holds CANARY, or is derived from one that does (SCRAM keys): passwords
in configs and server.properties, salts as raw bytes. Outputs are searched for them as text, as hex
in whatever columns, and as base64 at any alignment. The second half runs kraftool on a terminal of
its own (a pty) over data whose names hold escapes, overrides and markup.
"""

from __future__ import annotations

import base64
import os
import pty
import re
import shutil
import subprocess
import sys
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

import pytest

from kraftool.decoders.batch import HEADER_SIZE, RecordBatch
from kraftool.decoders.errors import DecodeError
from kraftool.decoders.framing import decode_record
from kraftool.decoders.kinds import FileKind
from kraftool.decoders.segment import scan
from kraftool.reports.annotation import explain
from kraftool.reports.annotation_rows import Request, Row
from kraftool.reports.log_render import RenderPlan, render

Run = Callable[..., Any]

ROOT = Path(__file__).resolve().parents[2]
FIXTURES = ROOT / "fixtures"
SCENARIOS = (
    "kafka-3.7.2/static-single",
    "kafka-3.9.1/upgrade",
    "kafka-4.3.0/aborted-transaction",
    "kafka-4.3.0/dynamic-quorum",
    "kafka-4.3.0/log-cleaning",
    "kafka-4.3.0/static-single",
    "kafka-4.4.0/dynamic-quorum",
    "built/aborted-transaction",
)
NODE = FIXTURES / "kafka-4.3.0/static-single/node-1"
LOG = NODE / "data/__cluster_metadata-0" / f"{0:020}.log"
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
            for each in pieces:
                plain |= {each, *base64_of(each), repr(each)[2:-1].encode()}
                hexadecimal.add(each.hex().encode())
        return cls(frozenset(plain), frozenset(hexadecimal))

    def found(self, output: bytes) -> bytes | None:
        """The first form that is in an output."""
        digits = re.sub(rb"[^0-9a-f]", b"", output.lower())
        for needle in self.plain:
            if needle in output:
                return needle
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
    return Needles.of(keys, 8)


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
    found = sorted(path.parent for path in FIXTURES.joinpath(scenario).rglob("meta.properties"))
    return [path for path in found if (path / "__cluster_metadata-0").is_dir()]


@pytest.mark.parametrize("scenario", SCENARIOS)
def test_dump_log_shows_no_secret(scenario: str, kraftool: Run) -> None:
    for folder in data_directories(scenario):
        for arguments in DUMP_LOG:
            ran = kraftool("dump-log", *arguments, folder)
            assert ran.code == 0, ran.err
            assert_no_secret(scenario, ran, (arguments, folder))


@pytest.mark.parametrize("scenario", SCENARIOS)
def test_dump_shows_no_secret(scenario: str, kraftool: Run) -> None:
    for folder in data_directories(scenario):
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
        paths = [folder.parent / "server.properties", folder / "bootstrap.checkpoint"]
        paths += [path for path in logs(scenario) if folder in path.parents]
        paths += sorted(folder.glob("__cluster_metadata-0/*.checkpoint"))[-1:]
        for path in paths:
            for form in ("table", "json"):
                ran = kraftool("explain", "-o", form, "--batches", 0, path)
                assert ran.code == 0, ran.err
                assert_no_secret(scenario, ran, ("explain", form, path))


def test_other_commands_are_searched_too(kraftool: Run) -> None:
    """Who adds a command adds it above."""
    listed = re.findall(r"^\W*([a-z][a-z-]*)  ", kraftool("--help").text, flags=re.MULTILINE)
    assert {name for name in listed if not name.startswith("-")} == {"dump", "dump-log", "explain"}


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
        ("dump", "--records", "--show-secrets", NODE / "data"),
        ("dump", "--as", "properties", "--show-secrets", NODE / "server.properties"),
    ],
    ids=lambda arguments: " ".join(str(each) for each in arguments[:-1]),
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
        commands = [("dump", "-o", form) for form in ("table", "json")]
        commands += [("explain", "-o", form) for form in ("table", "json")]
        if path.suffix in (".log", ".checkpoint"):
            commands += [("dump-log", "-o", form) for form in ("table", "json", "jsonl", "csv")]
        for command in commands:
            more = ("--batches", 0) if command[0] == "explain" else ()
            ran = kraftool(*command, *more, path)
            assert ran.code in (0, 1, 2, 3), (command, path, ran.err)
            assert_no_secret("kafka-4.3.0/static-single", ran, (command, path))


def secret_records() -> Iterator[tuple[bytes, Needles]]:
    """A log of three batches, the one in the middle with a secret, and the secret's pieces."""
    around = list(batches(LOG))
    seen: set[str] = set()
    for before, batch, after in zip(around, around[1:], around[2:], strict=False):
        if b"CANARY" not in batch.data or len(batch.data) > 600:
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
        pieces = Needles.of(secrets, SHORTEST)
        yield before.data + batch.data + after.data, pieces


def flips(data: bytes) -> Iterator[tuple[int, bytes]]:
    """Each bit of the second batch flipped by itself."""
    middle = list(scan(lambda at, size: data[at : at + size]))[1]
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
            for form in ("jsonl", "csv"):
                plan = RenderPlan(format=form)
                shown = render(plan, "x.log", lambda at, size, d=damaged: d[at : at + size])
                output = b"".join(piece.data for piece in shown)
                found = next((needle for needle in pieces.plain if needle in output), None)
                if found is not None:
                    leaks.append((position, form, found))
    assert tried > 5000
    assert not leaks, f"{len(leaks)} of {tried}, the first: {leaks[:3]}"


def test_no_single_flipped_bit_makes_a_secret_visible_in_explain() -> None:
    leaks = []
    for data, pieces in secret_records():
        for number, (position, damaged) in enumerate(flips(data)):
            if number % 5:
                continue
            rows = explain(
                "x.log",
                FileKind.LOG,
                lambda at, size, d=damaged: d[at : at + size],
                len(damaged),
                Request(units=0),
            )
            shown = b"\n".join(
                row.data + f"|{row.value}|{row.note}|{row.problem}".encode()
                for row in rows
                if isinstance(row, Row)
            )
            found = next((needle for needle in pieces.plain if needle in shown), None)
            if found is not None:
                leaks.append((position, found))
    assert not leaks, f"{len(leaks)}, the first: {leaks[:3]}"
