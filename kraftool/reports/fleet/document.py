"""The shape of `pipeline audit -o json`, schemaVersion 1: see docs/schemas/pipeline-audit.json.

Owns the names of the document's members, and that it is written in pieces: the lists of a large
fleet are never in memory as a whole. Each element of a list is one line.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import Any

import orjson

from kraftool.reports.fleet.model import (
    ClusterSummary,
    DirectorySummary,
    Divergence,
    FleetAudit,
    FleetFinding,
)
from kraftool.reports.plain_json import finding_object, plain

SCHEMA_VERSION = 1


@dataclass(frozen=True, slots=True, kw_only=True)
class Lists:
    """The elements of the document's lists, each as JSON on one line, as they come."""

    clusters: Iterable[bytes]
    directories: Iterable[bytes]
    divergences: Iterable[bytes]
    findings: Iterable[bytes]


def lists_of(audit: FleetAudit) -> Lists:
    """Those of the model, which has no more than it can hold."""
    return Lists(
        clusters=map(cluster_line, audit.clusters),
        directories=map(directory_line, audit.directories),
        divergences=map(divergence_line, audit.divergences),
        findings=map(finding_line, audit.findings),
    )


def document(audit: FleetAudit, lists: Lists) -> Iterator[bytes]:
    """The whole document, piece by piece."""
    head = {
        "schemaVersion": SCHEMA_VERSION,
        "run": plain(audit.run),
        "counts": plain(audit.counts),
        "codes": [plain(each) for each in audit.codes],
        "metadataVersions": [plain(each) for each in audit.metadata_versions],
        "kraftVersions": [plain(each) for each in audit.kraft_versions],
    }
    yield b"{\n"
    for name, value in head.items():
        yield orjson.dumps(name) + b": " + orjson.dumps(value) + b",\n"
    yield from _list("clusters", lists.clusters)
    yield b",\n"
    yield from _list("directories", lists.directories)
    yield b",\n"
    yield from _list("divergences", lists.divergences)
    yield b",\n"
    yield from _list("findings", lists.findings)
    yield b"\n}\n"


def _list(name: str, elements: Iterable[bytes]) -> Iterator[bytes]:
    yield orjson.dumps(name) + b": ["
    before = b"\n"
    for each in elements:
        yield before + b"  " + each
        before = b",\n"
    yield b"]" if before == b"\n" else b"\n]"


def cluster_line(cluster: ClusterSummary) -> bytes:
    """A cluster as an element of the list."""
    value = plain(cluster)
    value["electionsByDay"] = [
        {"day": day, "elections": count} for day, count in cluster.elections_by_day
    ]
    return orjson.dumps(value)


def directory_line(directory: DirectorySummary) -> bytes:
    """A directory as an element of the list."""
    return orjson.dumps(plain(directory))


def divergence_line(divergence: Divergence) -> bytes:
    """A divergence as an element of the list."""
    return orjson.dumps(plain(divergence))


def finding_line(found: FleetFinding) -> bytes:
    """A finding as an element of the list: as every command has it, with whose it is beside."""
    value: dict[str, Any] = {
        **finding_object(found.finding),
        "cluster": plain(found.cluster),
        "directory": plain(found.directory),
        "directories": plain(found.directories),
        "by": list(found.by),
        "evidence": plain(found.evidence),
        "commands": plain(found.commands),
    }
    return orjson.dumps(value)
