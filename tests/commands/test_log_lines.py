"""The lines of dump-log. The fixture `kraftool` holds them to their schema in every run."""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

from tests.support import json_contract

Run = Callable[..., Any]


def test_all_kinds_of_lines_are_seen_in_healthy_and_damaged_logs(
    fixtures_dir: Path, kraftool: Run
) -> None:
    paths = [
        *fixtures_dir.glob("kafka-*/static-single/node-1/data"),
        *fixtures_dir.glob("damaged/*/*.log"),
    ]
    kinds = set()
    for path in paths:
        for line in kraftool("dump-log", "-o", "jsonl", "--tail", "60", path).out.splitlines():
            value = json.loads(line)
            kinds.add((value["kind"], "raw" in value))
    assert kinds == {("batch", False), ("record", False), ("record", True), ("error", False)}


def test_a_marked_transaction_is_seen(fixtures_dir: Path, kraftool: Run) -> None:
    path = fixtures_dir / "kafka-4.3.0/static-single/node-1/data"
    ran = kraftool("dump-log", "-o", "jsonl", "--transactions", "mark", "--head", "20", path)
    values = [json.loads(line) for line in ran.out.splitlines()]
    assert {value.get("transaction") for value in values} == {None, "committed"}


def test_what_is_no_document_and_no_line_is_refused(fixtures_dir: Path, kraftool: Run) -> None:
    path = fixtures_dir / "kafka-4.3.0/static-single/node-1/data"
    document = json.loads(kraftool("dump-log", "-o", "json", "--head", "5", path).out)
    whole, lines = json_contract.validator("dump-log"), json_contract.line_validator("dump-log")
    assert whole.is_valid(document)
    assert not whole.is_valid({**document, "schemaVersion": 1})
    assert not whole.is_valid({**document, "more": []})
    assert not whole.is_valid({**document, "entries": [{"kind": "record"}]})
    assert not lines.is_valid({"kind": "record"})
    assert not lines.is_valid({"kind": "surprise"})
