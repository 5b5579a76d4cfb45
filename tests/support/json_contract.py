"""What every run with -o json or -o jsonl promises: it is what its schema in docs says.

Owns which schema a command line has. The fixtures that run kraftool ask here for each run, so that
no test of a command has to.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from functools import cache
from typing import Any

from jsonschema import Draft202012Validator

from tests.support.places import ROOT
from tests.support.quick_schema import Check, quick_check

LARGEST = 1 << 20
"""Bytes of a document, and of lines, that are held to the schema: larger runs are about memory and
speed."""
SCHEMAS = ROOT / "docs/schemas"


@cache
def schema(name: str) -> dict[str, Any]:
    """Of a command's documents. tests/test_json_rule.py shows that it is a schema."""
    loaded: dict[str, Any] = json.loads((SCHEMAS / f"{name}.json").read_text())
    return loaded


@cache
def validator(name: str) -> Draft202012Validator:
    """Of a command's documents."""
    return Draft202012Validator(schema(name))


@cache
def line_validator(name: str) -> Draft202012Validator:
    """Of the lines of -o jsonl."""
    return Draft202012Validator(line_schema(name))


def line_schema(name: str) -> dict[str, Any]:
    return {"$defs": schema(name)["$defs"], "$ref": "#/$defs/line"}


@cache
def _quick(name: str, *, is_line: bool = False) -> Check:
    return quick_check(line_schema(name) if is_line else schema(name))


def hold_document(name: str, document: Any) -> None:
    """Assert that a document keeps the schema; jsonschema says where one does not."""
    if not _quick(name)(document):
        validator(name).validate(document)


def _hold_line(name: str, line: Any) -> None:
    if not _quick(name, is_line=True)(line):
        line_validator(name).validate(line)


def schema_name(words: Sequence[str]) -> str:
    """The schema for a command line; empty if it has none."""
    names = [word for word in words if not word.startswith("-")]
    if not names:
        return ""
    name = names[0]
    if name == "pipeline" and len(names) > 1:
        name = f"pipeline-{names[1]}"
    if name == "storage" and len(names) > 1:
        name = names[1]
    return name if (SCHEMAS / f"{name}.json").exists() else ""


def form(words: Sequence[str]) -> str:
    """What -o or --output names, the last one of several."""
    chosen = ""
    for before, word in zip(["", *words], words, strict=False):
        if before in ("-o", "--output"):
            chosen = word
        elif word.startswith("--output="):
            chosen = word.partition("=")[2]
        elif word.startswith("-o") and len(word) > 2:
            chosen = word[2:]
    return chosen


def hold(words: Sequence[str], out: bytes) -> None:
    """Assert that what a run wrote is what its schema says."""
    name, chosen = schema_name(words), form(words)
    if not name or not out or chosen not in ("json", "jsonl") or "--out" in words:
        return
    if chosen == "json" and len(out) <= LARGEST:
        hold_document(name, json.loads(out))
    elif chosen == "jsonl" and "line" in schema(name).get("$defs", {}):
        for line in out[:LARGEST].splitlines()[: -1 if len(out) > LARGEST else None]:
            _hold_line(name, json.loads(line))
