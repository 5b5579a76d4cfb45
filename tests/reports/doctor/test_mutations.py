"""Whatever is in the files, doctor says something and does not fail: seeded mutations of two nodes.

Batches of logs and snapshots get a CRC that fits, so that the records are looked into.
"""

from __future__ import annotations

import random
from contextlib import suppress
from pathlib import Path

import pytest

from kraftool.decoders.batch import HEADER_SIZE, RecordBatch, seal
from kraftool.decoders.errors import KraftoolError
from kraftool.decoders.segment import scan
from tests.reports.doctor.cases import doctor
from tests.reports.voter_cases import copied

SCENARIOS = ("kafka-4.3.0/dynamic-quorum", "kafka-4.4.0/upgrade", "kafka-3.7.2/static-quorum")


def resealed(data: bytes) -> bytes:
    out = b""
    for item in scan(lambda at, size: data[at : at + size]):
        if isinstance(item, RecordBatch) and item.size >= HEADER_SIZE:
            out += seal(item.header, item.data[HEADER_SIZE:])
        else:
            out += data[item.position : item.position + item.size]
    return out


def mutated(data: bytes, choose: random.Random) -> bytes:
    changed = bytearray(data)
    for _ in range(choose.randint(1, 6)):
        at = choose.randrange(len(changed))
        changed[at] = choose.choice((choose.randrange(256), changed[at] ^ 1, 0, 127, 128, 255))
    return bytes(changed)


def mutate(nodes: list[Path], choose: random.Random) -> set[Path]:
    """Change three files of each node; return them."""
    changed = set()
    for node in nodes:
        files = sorted(path for path in node.rglob("*") if path.is_file() and path.stat().st_size)
        for file in choose.sample(files, 3):
            data = mutated(file.read_bytes(), choose)
            if file.suffix in (".log", ".checkpoint"):
                with suppress(KraftoolError):
                    data = resealed(data)
            file.write_bytes(data)
            changed.add(file)
    return changed


def found(nodes: list[Path]) -> set[tuple[str, str, str]]:
    """Which findings doctor has of these nodes: code, file and text."""
    report = doctor(*(node / "server.properties" for node in nodes))
    counts = report.finding_counts
    assert counts.error + counts.warning + counts.info == len(report.findings)
    return {(finding.code, finding.file, finding.text) for finding in report.findings}


@pytest.mark.parametrize("seed", range(24))
def test_mutated_files_have_findings_that_they_had_not(
    fixtures_dir: Path, tmp_path: Path, seed: int
) -> None:
    choose = random.Random(seed)
    scenario = fixtures_dir / choose.choice(SCENARIOS)
    nodes = [copied(scenario / f"node-{id}", tmp_path / f"node-{id}") for id in (1, 2)]
    before = found(nodes)
    changed = mutate(nodes, choose)

    new = found(nodes) - before

    assert {Path(file) for _, file, _ in new} & changed
