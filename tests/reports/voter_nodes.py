"""Directories of nodes, and what comparing their voters finds."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from kraftool.reports.directory.voter_sources import read_sources
from kraftool.reports.findings.finding import Finding, Severity
from kraftool.reports.voters.diff import VoterDiff, diff_voters
from tests.reports.voter_cases import (
    LogBuilder,
    make_node,
    started,
)

STATIC = "1@localhost:9091,2@localhost:9092,3@localhost:9093"


def compared(*paths: object) -> VoterDiff:
    return diff_voters(read_sources([str(path) for path in paths]))


def findings(*paths: Path) -> list[tuple[str, Severity]]:
    return [
        (finding.code.removeprefix("KT-DIR-"), finding.severity)
        for finding in compared(*paths).findings
    ]


def only(*paths: Path) -> Finding:
    (finding,) = compared(*paths).findings
    return finding


def node(tmp_path: Path, id: int, *, log: LogBuilder | None = None, **how: Any) -> Path:
    path = tmp_path / f"node-{id}-{len(list(tmp_path.iterdir()))}"
    return make_node(path, id, log or started(), **how)
