"""The document of an audit: one JSON value that fits its schema, an element of a list on a line."""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import replace
from typing import Any

import pytest

from kraftool.reports.findings.kinds.log import CRC
from kraftool.reports.fleet.document import Lists, audit_document
from kraftool.reports.fleet.model import (
    FleetAudit,
    FleetCounts,
    FleetFinding,
    RunSettings,
)
from kraftool.reports.text.json_document import json_document, json_line
from tests.reports.fleet.page_fleets import sick, sound
from tests.support.json_contract import hold_document


def _lists_of(audit: FleetAudit) -> Lists:
    return Lists(
        clusters=map(json_line, audit.clusters),
        directories=map(json_line, audit.directories),
        divergences=map(json_line, audit.divergences),
        findings=map(json_line, audit.findings),
    )


def _document(audit: FleetAudit) -> Any:
    return json.loads(b"".join(json_document(audit_document(audit, _lists_of(audit)))))


@pytest.mark.parametrize("audit", [sound(3), sick(5)], ids=["sound", "sick"])
def test_the_document_fits_the_schema(audit: FleetAudit) -> None:
    document = _document(audit)
    hold_document("pipeline-audit", document)
    assert len(document["clusters"]) == len(audit.clusters)
    assert len(document["findings"]) == len(audit.findings)


def test_a_fleet_of_nothing_has_empty_lists() -> None:
    document = _document(FleetAudit(run=RunSettings(), counts=FleetCounts()))
    hold_document("pipeline-audit", document)
    assert (document["clusters"], document["findings"]) == ([], [])


def test_an_element_is_one_line_and_comes_as_it_is_asked_for() -> None:
    audit = sick(5)
    asked: list[int] = []

    def findings() -> Iterator[bytes]:
        for number, finding in enumerate(audit.findings):
            asked.append(number)
            yield json_line(finding)

    lists = _lists_of(audit)
    pieces = json_document(audit_document(audit, replace(lists, findings=findings())))
    lines = 0
    for piece in pieces:
        if b'    {"code"' in piece and asked:
            lines += 1
            assert len(asked) == lines, "nothing is read ahead"
        assert piece.count(b"\n") <= 2
    assert len(asked) == len(audit.findings) > 0


def test_names_that_are_no_utf8_are_escaped() -> None:
    finding = CRC.at("/d\udcff", "t\udcff")
    fleet_finding = FleetFinding(finding=finding, paths=("/d\udcff",), by=("doctor",))
    document = json.loads(json_line(replace(fleet_finding, directory="/d\udcff")))
    assert document["file"] == document["directory"] == document["paths"][0] == "/d\\xff"
