"""dump-log and metadata transactions: how they ended, and which records count."""

import json
from pathlib import Path

import pytest

from tests.commands.dumped_logs import Run, offsets, transaction_log

pytestmark = pytest.mark.slow


def test_transactions_are_marked_with_how_they_ended(tmp_path: Path, kraftool: Run) -> None:
    path = transaction_log(tmp_path)
    ran = kraftool("dump-log", "-o", "jsonl", "--transactions", "mark", path)
    records = [json.loads(line) for line in ran.out.splitlines() if b'"record"' in line]
    assert [record.get("transaction", "") for record in records] == [
        "",
        *["committed"] * 3,
        *["aborted"] * 3,
        "",
        *["open"] * 2,
    ]


def test_hiding_transactions_leaves_what_readers_of_the_metadata_see(
    tmp_path: Path, kraftool: Run
) -> None:
    path = transaction_log(tmp_path)
    ran = kraftool("dump-log", "-o", "jsonl", "--transactions", "hide", path)
    assert offsets(ran.out) == [0, 2, 7]
