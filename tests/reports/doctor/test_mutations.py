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
from kraftool.reports.doctor.doctor_json import document
from tests.reports.doctor.cases import doctor
from tests.reports.voter_cases import copied

SCENARIOS = ("kafka-4.3.0/dynamic-quorum", "kafka-4.4.0/upgrade", "kafka-3.7.2/static-quorum")


def resealed(data: bytes) -> bytes:
    out = b""
    for each in scan(lambda at, size: data[at : at + size]):
        whole = isinstance(each, RecordBatch) and each.size >= HEADER_SIZE
        piece = data[each.position : each.position + each.size]
        out += seal(each.header, each.data[HEADER_SIZE:]) if whole else piece
    return out


def mutated(data: bytes, choose: random.Random) -> bytes:
    changed = bytearray(data)
    for _ in range(choose.randint(1, 6)):
        at = choose.randrange(len(changed))
        changed[at] = choose.choice((choose.randrange(256), changed[at] ^ 1, 0, 127, 128, 255))
    return bytes(changed)


@pytest.mark.parametrize("seed", range(24))
def test_mutated_directories_are_told_of(fixtures_dir: Path, tmp_path: Path, seed: int) -> None:
    choose = random.Random(seed)
    scenario = fixtures_dir / choose.choice(SCENARIOS)
    nodes = [copied(scenario / f"node-{id}", tmp_path / f"node-{id}") for id in (1, 2)]
    for node in nodes:
        files = sorted(each for each in node.rglob("*") if each.is_file() and each.stat().st_size)
        for file in choose.sample(files, 3):
            data = mutated(file.read_bytes(), choose)
            if file.suffix in (".log", ".checkpoint"):
                with suppress(KraftoolError):
                    data = resealed(data)
            file.write_bytes(data)
    report = doctor(*(each / "server.properties" for each in nodes))
    assert document(report)["findingCounts"]
    assert report.findings
