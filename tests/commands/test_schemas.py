"""What -o json and -o jsonl write is what their schemas in docs/ say."""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from jsonschema import Draft202012Validator

Run = Callable[..., Any]
ROOT = Path(__file__).resolve().parents[2]
LOG = f"{0:020}.log"


@pytest.fixture(scope="module")
def line_schema() -> Draft202012Validator:
    schema = json.loads((ROOT / "docs/schemas/dump-log.json").read_text())
    Draft202012Validator.check_schema(schema)
    return Draft202012Validator(schema)


def test_lines_of_healthy_and_damaged_logs_fit_the_schema(
    fixtures_dir: Path, kraftool: Run, line_schema: Draft202012Validator
):
    paths = [
        *fixtures_dir.glob("kafka-*/static-single/node-1/data"),
        *fixtures_dir.glob("damaged/*/*.log"),
    ]
    kinds = set()
    for path in paths:
        for line in kraftool("dump-log", "-o", "jsonl", "--tail", "60", path).out.splitlines():
            value = json.loads(line)
            line_schema.validate(value)
            kinds.add((value["kind"], "raw" in value))
    assert kinds == {("batch", False), ("record", False), ("record", True), ("error", False)}


def test_a_marked_transaction_fits_the_schema(
    fixtures_dir: Path, kraftool: Run, line_schema: Draft202012Validator
):
    path = fixtures_dir / "kafka-4.3.0/static-single/node-1/data"
    ran = kraftool("dump-log", "-o", "jsonl", "--transactions", "mark", "--head", "20", path)
    values = [json.loads(line) for line in ran.out.splitlines()]
    for value in values:
        line_schema.validate(value)
    assert {value.get("transaction") for value in values} == {None, "committed"}


def test_the_document_fits_the_schema(
    fixtures_dir: Path, kraftool: Run, line_schema: Draft202012Validator
):
    schema = {**line_schema.schema, "$ref": "#/$defs/document"}
    del schema["oneOf"]
    path = fixtures_dir / "kafka-4.3.0/static-single/node-1/data"
    document = json.loads(kraftool("dump-log", "-o", "json", "--head", "5", path).out)
    assert document["schemaVersion"] == 1
    for entry in document["entries"]:
        line_schema.validate(entry)
    assert set(document) == set(line_schema.schema["$defs"]["document"]["properties"])
    assert schema["$defs"]["document"]["additionalProperties"] is False


def test_a_line_that_is_no_entry_is_refused(line_schema: Draft202012Validator):
    assert not line_schema.is_valid({"kind": "record"})
    assert not line_schema.is_valid({"kind": "surprise"})
