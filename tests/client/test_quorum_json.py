"""The documents of `quorum` are what their schema says, and CSV has their rows."""

from __future__ import annotations

import csv
from typing import Any

import pytest

from kraftool.client.change import QuorumChange, blocked
from kraftool.client.health import health
from kraftool.client.judgement import judge
from kraftool.client.model import QuorumView
from kraftool.client.quorum_json import (
    ChangeDocument,
    MayStopDocument,
    describe_document,
    health_document,
)
from kraftool.client.stopping import may_stop
from kraftool.reports.text.csv_text import csv_document
from kraftool.reports.text.json_document import json_object
from tests.client.views import gone, well, without_controller
from tests.support.json_contract import hold_document

CHANGE = QuorumChange(kind="upgrade", subject="kraft.version", checks=(blocked("no node leads"),))
NO_LEADER = QuorumView(nodes=(gone(1), gone(2)))


def rows(document: Any) -> list[dict[str, str]]:
    return list(csv.DictReader("".join(csv_document(document)).splitlines()))


@pytest.mark.parametrize(
    "document",
    [
        describe_document(well()),
        describe_document(NO_LEADER),
        health_document(health(well(), well())),
        health_document(health(without_controller(), without_controller())),
        MayStopDocument(may_stop=may_stop(judge(well()), 2)),
        ChangeDocument(quorum_change=CHANGE, is_dry_run=True),
    ],
    ids=lambda document: type(document).__name__,
)
def test_a_document_is_what_its_schema_says(document: Any) -> None:
    hold_document("quorum", json_object(document))


def test_csv_has_replicas_findings_and_checks() -> None:
    described = rows(describe_document(well()))
    assert [row["isVoter"] for row in described] == ["true"] * 3
    assert {row["lag"] for row in described} == {"0"}
    assert rows(describe_document(NO_LEADER)) == []
    table = rows(health_document(health(NO_LEADER, NO_LEADER)))
    assert "KT-LIVE-NO-ANSWER" in {row["code"] for row in table}
    answered = may_stop(judge(well()), 2)
    checks = rows(MayStopDocument(may_stop=answered))
    assert [check["reason"] for check in checks] == [check.reason for check in answered.checks]
