"""Every damaged fixture: the finding names the place, the exit code is right, the rest is shown."""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from tests.support.places import FIXTURES

Run = Callable[..., Any]
DAMAGED = FIXTURES / "damaged"
CASES = sorted(path.parent for path in DAMAGED.glob("*/SOURCE"))
WITH_BATCHES = [case for case in CASES if any(case.glob("*.log")) or any(case.glob("*.checkpoint"))]


def source(case: Path) -> dict[str, Any]:
    document: dict[str, Any] = json.loads((case / "SOURCE").read_text())
    return document


def entries(out: bytes) -> list[dict[str, Any]]:
    return [json.loads(line) for line in out.splitlines()]


def test_there_is_a_case_for_each_kind_of_damage() -> None:
    assert len(CASES) >= 20


CUT_BY_KAFKA = {"torn-header", "torn-tail", "zero-filled-tail"}
"""Logs of which Kafka cuts a tail that is no batch; all else is decoded."""


def exit_code(case: Path) -> int:
    """Of dump-log, as verify-log and dump exit on the same bytes."""
    if not source(case)["positions"]:
        return 0
    return 1 if case.name in CUT_BY_KAFKA else 3


@pytest.mark.parametrize("case", WITH_BATCHES, ids=lambda case: case.name)
def test_dump_log_names_the_positions_of_the_damage(case: Path, kraftool: Run) -> None:
    expected = source(case)
    for path in sorted([*case.glob("*.log"), *case.glob("*.checkpoint")]):
        ran = kraftool("dump-log", "-o", "jsonl", path)
        positions = [entry["position"] for entry in entries(ran.out) if entry["kind"] == "error"]
        assert positions == expected["positions"], ran.out
        # A missing footer and a wrong name are not this command's business; bytes are.
        assert ran.code == exit_code(case), ran.err
        if path.suffix == ".log":
            assert ran.code == kraftool("verify-log", path).code


@pytest.mark.parametrize("case", WITH_BATCHES, ids=lambda case: case.name)
@pytest.mark.parametrize("form", ["table", "json", "jsonl", "csv", "kafka"])
def test_every_format_ends_in_the_same_way_without_a_traceback(
    case: Path, form: str, kraftool: Run
) -> None:
    for path in sorted([*case.glob("*.log"), *case.glob("*.checkpoint")]):
        ran = kraftool("dump-log", "-o", form, path)
        assert ran.code == exit_code(case)
        assert "Traceback" not in ran.err
        assert "internal error" not in ran.err


def test_what_is_whole_around_the_damage_is_shown(kraftool: Run, fixtures_dir: Path) -> None:
    healthy = fixtures_dir / "kafka-4.3.0/static-single/node-1/data/__cluster_metadata-0"
    whole = kraftool("dump-log", "-o", "jsonl", "--offsets", "..31", healthy)
    offsets = {entry["offset"] for entry in entries(whole.out) if entry["kind"] == "record"}
    for name, lost in (("absurd-batch-length", 1), ("zero-filled-middle", 1)):
        ran = kraftool("dump-log", "-o", "jsonl", DAMAGED / name / f"{0:020}.log")
        batches = [entry for entry in entries(ran.out) if entry["kind"] == "batch"]
        shown = {entry["offset"] for entry in entries(ran.out) if entry["kind"] == "record"}
        assert len(batches) == 12 - lost
        assert shown < offsets


def test_unknown_types_are_shown_with_their_bytes(kraftool: Run) -> None:
    path = DAMAGED / "unknown-record-type" / f"{0:020}.log"
    last = entries(kraftool("dump-log", "-o", "jsonl", path).out)[-2]
    assert last["type"] == "UNKNOWN(2126)"
    assert last["raw"] == "Ac4QAGZyb20gdGhlIGZ1dHVyZQ=="


def test_bytes_that_may_hold_secrets_are_not_shown(kraftool: Run) -> None:
    path = DAMAGED / "newer-secret-version" / f"{0:020}.log"
    last = entries(kraftool("dump-log", "-o", "jsonl", path).out)[-2]
    assert (last["type"], last["version"], last["raw"]) == (
        "USER_SCRAM_CREDENTIAL_RECORD",
        9,
        None,
    )
    shown = entries(kraftool("dump-log", "-o", "jsonl", "--show-secrets", path).out)[-2]
    assert shown["raw"] is not None


def test_a_flipped_bit_leaves_the_batch_visible_and_marks_it(kraftool: Run) -> None:
    path = DAMAGED / "flipped-bit-in-record" / f"{0:020}.log"
    dumped = entries(kraftool("dump-log", "-o", "jsonl", path).out)
    assert [entry["valid"] for entry in dumped if entry["kind"] == "batch"].count(False) == 1
    text = kraftool("dump-log", "-o", "kafka", path).text
    assert text.count("isvalid: false") == 1


def test_garbage_beside_a_segment_is_told(kraftool: Run) -> None:
    for suffix in (".index", ".timeindex"):
        ran = kraftool("dump-log", "-o", "kafka", DAMAGED / "garbage-index" / f"{0:020}{suffix}")
        assert ran.code == 3
        assert "position" in ran.err


def test_the_damaged_fixtures_are_what_their_script_writes() -> None:
    import subprocess
    import sys

    script = DAMAGED.parents[1] / "tools" / "damage.py"
    ran = subprocess.run([sys.executable, script, "--check"], capture_output=True, check=False)
    assert ran.returncode == 0, ran.stdout.decode() + ran.stderr.decode()
