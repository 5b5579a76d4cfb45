"""Every command that reads logs says the same with the native module and without it."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from kraftool.decoders import fast_path
from tests.fuzz.native_cases import pure

pytestmark = [
    pytest.mark.slow,
    pytest.mark.skipif(
        not fast_path.is_native(), reason="needs the native module: Rust, and make native"
    ),
]

Run = Callable[..., Any]
FIXTURES = Path(__file__).resolve().parents[2] / "fixtures"
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
