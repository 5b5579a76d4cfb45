"""Damage at a place of some logs, and who has it whole: most, one alone, nobody."""

from __future__ import annotations

from pathlib import Path

import pytest

from kraftool.reports.findings.finding import Severity
from tests.reports.doctor.cases import (
    PARTITION,
    STAMP,
    begun,
    found,
    node,
    one,
    snapshot,
    topic,
)

CODE = "KT-SIG-WHOLE-COPY"


def quorum(path: Path, *damaged: int) -> list[Path]:
    """Three voters; of some the record at offset 6 is damaged."""
    made = begun().noops(1, 7)
    paths = [node(path / str(id), made, id) for id in (1, 2, 3)]
    for id in damaged:
        _damage(paths[id - 1])
    return paths


def _damage(path: Path, byte: int = 62, bit: int = 1) -> None:
    log = path / PARTITION / f"{0:020}.log"
    data = bytearray(log.read_bytes())
    size = (len(data) - len(begun().data)) // 7
    data[len(begun().data) + 3 * size + byte] ^= bit
    log.write_bytes(bytes(data))


def test_what_one_alone_has_whole_is_said(tmp_path: Path) -> None:
    paths = quorum(tmp_path, 2, 3)
    finding = one(CODE, *paths).finding
    assert finding.text == (
        f"damaged at offset 6, or missing right before, in {paths[1]} and {paths[2]}. This"
        f" place is whole in {paths[0]} alone"
    )
    assert (finding.severity, finding.offset) == (Severity.WARNING, 6)


def test_where_most_are_whole_it_is_info(tmp_path: Path) -> None:
    paths = quorum(tmp_path, 3)
    finding = one(CODE, *paths).finding
    assert finding.severity is Severity.INFO
    assert finding.text.endswith(f"This place is whole in {paths[0]} and {paths[1]}")


@pytest.mark.parametrize(("byte", "bit"), [(1, 2), (7, 4)], ids=["beyond all", "below others"])
def test_an_offset_that_was_changed_hides_no_other_batch(
    tmp_path: Path, byte: int, bit: int
) -> None:
    """The CRC does not cover the offset, so the batch counts as sound: its neighbours show it."""
    paths = quorum(tmp_path)
    _damage(paths[2], byte, bit)
    finding = one(CODE, *paths).finding
    assert finding.text.endswith(f"This place is whole in {paths[0]} and {paths[1]}")
    assert finding.severity is Severity.INFO


def test_where_nobody_has_it_only_a_snapshot_beyond_helps(tmp_path: Path) -> None:
    paths = quorum(tmp_path, 1, 2, 3)
    finding = one(CODE, *paths).finding
    assert finding.severity is Severity.ERROR
    assert "has it whole, and no snapshot goes beyond it" in finding.text
    snapshot(paths[1], 8)
    finding = one(CODE, *paths).finding
    assert finding.severity is Severity.WARNING
    assert finding.text.endswith(f"a snapshot beyond it exists: {paths[1]}")


def test_one_log_alone_or_whole_ones_say_nothing(tmp_path: Path) -> None:
    assert not found(CODE, quorum(tmp_path / "a", 1)[0])
    assert not found(CODE, *quorum(tmp_path / "b"))


def test_what_a_log_ends_with_is_fetched_again(tmp_path: Path) -> None:
    paths = quorum(tmp_path)
    log = paths[0] / PARTITION / f"{0:020}.log"
    log.write_bytes(log.read_bytes()[:-5])
    assert not found(CODE, *paths)


def test_a_cluster_made_from_the_same_template_has_no_copy(tmp_path: Path) -> None:
    """The same ids and the same beginning, as after `cp -a` of a directory, and other records."""
    mine = begun().noops(1, 7)
    other = begun().noops(1, 2)
    for number in range(5):
        other.data_batch(topic(f"t{number}"), stamp=STAMP + 1 + number)
    damaged = node(tmp_path / "damaged", mine, 1)
    clone = node(tmp_path / "clone", other, 2)
    _damage(damaged)
    diagnosis = one(CODE, damaged, clone)
    assert diagnosis.finding.severity is Severity.ERROR
    assert "No log here has it whole" in diagnosis.finding.text
    assert f"Other batches are around this place in {clone}" in diagnosis.finding.text
    assert not any("cp -a" in command and str(clone) in command for command in diagnosis.commands)
    whole = node(tmp_path / "whole", mine, 3)
    diagnosis = one(CODE, damaged, clone, whole)
    assert f"This place is whole in {whole}" in diagnosis.finding.text
    assert [evidence.file for evidence in diagnosis.evidence] == [str(whole)]
