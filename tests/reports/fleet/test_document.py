"""The document of an audit: one JSON value that fits its schema, an element of a list on a line."""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import fields, replace
from pathlib import Path
from typing import Any

import pytest
from jsonschema import Draft202012Validator

from kraftool.reports.findings import Finding, Severity
from kraftool.reports.fleet.document import Lists, document, finding_line, lists_of
from kraftool.reports.fleet.model import (
    ClusterSummary,
    DirectorySummary,
    FleetAudit,
    FleetCounts,
    FleetFinding,
    RunSettings,
)
from kraftool.reports.plain_json import camel
from tests.reports.fleet.page_fleets import sick, sound

ROOT = Path(__file__).resolve().parents[3]


@pytest.fixture(scope="module")
def schema() -> dict[str, Any]:
    told: dict[str, Any] = json.loads((ROOT / "docs/schemas/pipeline-audit.json").read_text())
    Draft202012Validator.check_schema(told)
    return told


def _document(audit: FleetAudit) -> Any:
    return json.loads(b"".join(document(audit, lists_of(audit))))


@pytest.mark.parametrize("audit", [sound(3), sick(5)], ids=["sound", "sick"])
def test_the_document_fits_the_schema(audit: FleetAudit, schema: dict[str, Any]) -> None:
    told = _document(audit)
    Draft202012Validator(schema).validate(told)
    assert len(told["clusters"]) == len(audit.clusters)
    assert len(told["findings"]) == len(audit.findings)


def test_a_fleet_of_nothing_has_empty_lists(schema: dict[str, Any]) -> None:
    told = _document(FleetAudit(run=RunSettings(), counts=FleetCounts()))
    Draft202012Validator(schema).validate(told)
    assert (told["clusters"], told["findings"]) == ([], [])


@pytest.mark.parametrize(
    ("definition", "kind"),
    [
        ("directorySummary", DirectorySummary),
        ("clusterSummary", ClusterSummary),
        ("fleetCounts", FleetCounts),
        ("runSettings", RunSettings),
    ],
)
def test_the_schema_has_every_member(
    schema: dict[str, Any], definition: str, kind: type[Any]
) -> None:
    members = {camel(each.name) for each in fields(kind)}
    assert set(schema["$defs"][definition]["properties"]) == members
    assert set(schema["$defs"][definition]["required"]) == members


def test_an_element_is_one_line_and_comes_as_it_is_asked_for() -> None:
    audit = sick(5)
    asked: list[int] = []

    def findings() -> Iterator[bytes]:
        for number, each in enumerate(audit.findings):
            asked.append(number)
            yield finding_line(each)

    lists = lists_of(audit)
    pieces = document(
        audit,
        Lists(
            clusters=lists.clusters,
            directories=lists.directories,
            divergences=lists.divergences,
            findings=findings(),
        ),
    )
    lines = 0
    for piece in pieces:
        if piece.startswith(b'  {"code"'):
            lines += 1
            assert len(asked) == lines, "nothing is read ahead"
        assert piece.count(b"\n") <= 2
    assert len(asked) == len(audit.findings) > 0


def test_names_that_are_no_utf8_are_escaped() -> None:
    finding = Finding(code="KT-LOG-CRC", severity=Severity.ERROR, text="t\udcff", file="/d\udcff")
    found = FleetFinding(finding=finding, directories=("/d\udcff",), by=("doctor",))
    told = json.loads(finding_line(replace(found, directory="/d\udcff")))
    assert told["file"] == told["directory"] == told["directories"][0] == "/d\\udcff"
