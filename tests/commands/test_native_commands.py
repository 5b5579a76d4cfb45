"""Every command that reads logs says the same with the native module and without it."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from kraftool.decoders import fast_path
from tests.fuzz.native_cases import pure
from tests.support.places import FIXTURES

pytestmark = [
    pytest.mark.slow,
    pytest.mark.skipif(
        not fast_path.is_native(), reason="needs the native module: Rust, and make native"
    ),
]

Run = Callable[..., Any]
DAMAGED = sorted(path.parent for path in (FIXTURES / "damaged").glob("*/SOURCE"))
NODE = FIXTURES / "kafka-4.3.0/dynamic-quorum/node-2/data"
HEALTHY = [
    NODE,
    FIXTURES / "kafka-4.3.0/many-partitions/node-1/data",
    FIXTURES / "kafka-3.3.2/static-single/node-1/data",
]
COMMANDS = (
    ("dump", "-o", "json"),
    ("dump-log", "-o", "kafka"),
    ("dump-log", "-o", "jsonl", "--show-secrets"),
    ("dump-log", "-o", "json", "--type", "PartitionRecord"),
    ("dump-log", "-o", "csv", "--offsets", "3..40"),
    ("dump-log", "-o", "jsonl", "--grep", "[oO]rders", "--transactions", "hide"),
    ("dump-log", "-o", "csv", "--broker", "1", "--tail", "3"),
    ("dump-log", "--tail", "7"),
    ("dump-log", "--topic", "orders", "--head", "4"),
    ("verify-log", "-o", "json"),
    ("doctor", "-o", "json"),
    ("state", "-o", "json"),
    ("timeline", "-o", "json"),
    ("timeline", "-o", "json", "--gaps", "1", "--topics"),
    ("features", "-o", "json"),
)


@pytest.mark.parametrize("command", COMMANDS, ids=" ".join)
def test_a_command_says_the_same_on_both_paths(command: tuple[str, ...], kraftool: Run) -> None:
    paths = [path for path in HEALTHY if path.exists()]
    assert NODE in paths
    for path in [*paths, *DAMAGED]:
        native = kraftool(*command, path)
        with pure():
            expected = kraftool(*command, path)
        assert native == expected, path


@pytest.mark.parametrize("place", [("--offset", "9"), ("--position", "1400"), ("--batches", "0")])
def test_explain_says_the_same_on_both_paths(place: tuple[str, ...], kraftool: Run) -> None:
    for path in [*HEALTHY, *DAMAGED]:
        for log in sorted(path.rglob("0*.log")):
            native = kraftool("explain", log, *place)
            with pure():
                expected = kraftool("explain", log, *place)
            assert native == expected, log


def test_a_plan_is_the_same_on_both_paths(kraftool: Run) -> None:
    def plan(path: Path) -> tuple[int, list[bytes]]:
        """Exit code and lines, but for those that say when it was made."""
        made = kraftool("recover", "plan", path)
        changing = b"id: ", b"createdMs: "
        return made.code, [it for it in made.out.splitlines() if not it.startswith(changing)]

    for path in [*HEALTHY, *DAMAGED]:
        native = plan(path)
        with pure():
            expected = plan(path)
        assert native == expected, path
