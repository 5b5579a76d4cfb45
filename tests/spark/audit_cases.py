"""Fleets for the tests of the audit: copies of real quorums that may be changed, and one audit."""

from __future__ import annotations

import json
import re
import shutil
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from kraftool.decoders.batch import HEADER_SIZE, RecordBatch, seal
from kraftool.decoders.segment import scan
from kraftool.reports.findings.mutes import FindingFilter
from kraftool.reports.fleet.document import audit_document
from kraftool.reports.text.json_document import json_document
from tests.support.places import FIXTURES

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

    from kraftool.spark.audit.collect import AuditRun
    from kraftool.spark.audit.examine import AuditedDirectory
    from kraftool.spark.audit.roots import FoundDirectory

QUORUM = FIXTURES / "kafka-4.3.0/dynamic-quorum"
VOTERS = (2, 3, 4)
LOG = "__cluster_metadata-0/00000000000000000000.log"


@dataclass(frozen=True, slots=True)
class Told:
    """The document of an audit, with ways to ask it."""

    document: dict[str, Any]

    def findings(self, *, weighty: bool = True, by: str = "") -> list[dict[str, Any]]:
        """The findings, without info unless asked for; `by` is who says them."""
        return [
            finding
            for finding in self.document["findings"]
            if not (weighty and finding["severity"] == "info") and (not by or by in finding["by"])
        ]

    def between(self) -> list[dict[str, Any]]:
        """What only the comparison of nodes shows, from warning up."""
        return self.findings(by="audit")

    def of(self, folder: Path) -> list[dict[str, Any]]:
        """What is said between the nodes of one copied quorum."""
        name = f"{folder}/"
        return [
            finding
            for finding in self.between()
            if any(name in f"{one}/" for one in finding["paths"])
        ]


def audited(spark: SparkSession, *roots: Path | str, **wanted: Any) -> Told:
    """Audit in a session that runs."""
    from kraftool.spark.audit.collect import AuditRequest
    from kraftool.spark.audit.run import audit

    with audit(spark, AuditRequest(roots=tuple(map(str, roots)), **wanted)) as run:
        return told_by(run)


def told_by(run: AuditRun) -> Told:
    """The document of an audit whose session still runs."""
    return Told(json.loads(b"".join(json_document(audit_document(run.model, run.lists())))))


def by_each_command(item: FoundDirectory, ignored_codes: tuple[str, ...] = ()) -> AuditedDirectory:
    """A directory that each command reads by itself, so that they share nothing."""
    from kraftool.reports.verify.log import verify_logs
    from kraftool.spark.audit import examine

    def alone(*arguments: Any, **options: Any) -> Any:
        return verify_logs(*arguments, **{**options, "states": None})

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(examine, "read_once", lambda *arguments, **options: None)
        patch.setattr(examine, "verify_logs", alone)
        left_out = FindingFilter(ignored_codes=frozenset(ignored_codes))
        return examine.examine(item, left_out)


def quorum(folder: Path, cluster_id: str = "") -> Path:
    """A copy of a real quorum of three voters, without the snapshots that lack credentials."""
    for id in VOTERS:
        target = folder / f"node-{id}"
        shutil.copytree(QUORUM / f"node-{id}/data", target)
        for path in target.glob("__cluster_metadata-0/*.checkpoint"):
            if int(path.name[:20]):
                path.unlink()
        if cluster_id:
            edit_meta(target, "cluster.id", cluster_id)
    return folder


def edit_meta(node: Path, key: str, value: str) -> None:
    """Give a directory another id."""
    path = node / "meta.properties"
    text, count = re.subn(rf"(?m)^{re.escape(key)}=.*$", f"{key}={value}", path.read_text())
    assert count == 1
    path.write_text(text)


def batches(log: Path) -> list[RecordBatch]:
    """All batches of a log."""
    data = log.read_bytes()
    items = scan(lambda at, size: data[at : at + size])
    return [item for item in items if isinstance(item, RecordBatch)]


def replace_batch(log: Path, number: int, *, same_epoch: bool = True) -> RecordBatch:
    """Make other bytes of one batch, of the same size and with a CRC that holds."""
    batch = batches(log)[number]
    header = batch.header
    if same_epoch:
        changed = header._replace(max_timestamp=header.max_timestamp + 1)
    else:
        changed = header._replace(partition_leader_epoch=header.partition_leader_epoch + 1)
    data = bytearray(log.read_bytes())
    sealed = seal(changed, batch.data[HEADER_SIZE:])
    assert len(sealed) == batch.size
    data[batch.position : batch.position + batch.size] = sealed
    log.write_bytes(bytes(data))
    return batch


def cut(log: Path, number: int) -> None:
    """End a log before one of its batches."""
    log.write_bytes(log.read_bytes()[: batches(log)[number].position])
