"""The same bytes, the same findings: the audit of edited directories says what the commands say.

The directories are copies of one of Kafka 4.3.0, each with seeded edits of its log, of the records
in it under a right CRC, or of its newest snapshot. They are examined as a task of the audit does.
"""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest

pytest.importorskip("pyspark")

from kraftool.decoders.walk import Faulty, Walk
from tests.decoders.log_edits import edited, edited_records
from tests.spark.audit_cases import LOG
from tests.spark.test_audit import examined_alone, findings_by_command, findings_of_audit
from tests.support.places import FIXTURES

pytestmark = pytest.mark.spark

WHOLE = FIXTURES / "kafka-4.3.0/dynamic-quorum/node-2/data"
EACH = 6
CODES = {"crc": "KT-LOG-CRC", "gap": "KT-LOG-GAP", "epoch-back": "KT-LOG-EPOCH-BACK"}


def test_the_audit_says_of_edited_directories_what_the_commands_say(tmp_path: Path) -> None:
    directories = [edited_copy(tmp_path / f"fleet/{seed}", seed) for seed in range(3 * EACH)]
    findings = examined_alone(tmp_path / "fleet")
    damaged = 0
    for path in directories:
        of_audit = findings_of_audit(findings[str(path)], str(path))
        assert of_audit == findings_by_command(str(path)), path
        # Both could miss the same: so they are compared with the walk, too.
        codes = {row[1] for row in of_audit}
        expected = walked(path / LOG)
        damaged += bool(expected)
        assert expected <= codes, path
    assert damaged >= EACH // 2


def edited_copy(target: Path, seed: int) -> Path:
    shutil.copytree(WHOLE, target)
    path = target / LOG
    edit = edited_records if seed % 3 == 1 else edited
    if seed % 3 == 2:
        path = max(path.parent.glob("*.checkpoint"))
    path.write_bytes(edit(path.read_bytes(), seed))
    return target


def walked(log: Path) -> set[str]:
    """The codes of what a walk over the log finds, of those kinds that have one code."""
    data = log.read_bytes()
    kinds = (
        item.fault.kind for item in Walk(lambda at, size: data[at : at + size])
        if isinstance(item, Faulty)
    )  # fmt: skip
    return {CODES[kind] for kind in kinds if kind in CODES}
