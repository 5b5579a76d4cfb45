"""A damaged snapshot, and the whole copy of it in another directory that was named too."""

from __future__ import annotations

from pathlib import Path

import pytest

from kraftool.reports.findings.finding import Finding
from kraftool.reports.verify.snapshot import verify_snapshots
from kraftool.storage.paths import open_path
from tests.repair.directories import EQUAL, Quorum, flip_in_batch

NEWEST = f"{144:020}-{6:010}.checkpoint"
WHOLE = "is the same snapshot, and it is whole: use it instead"


@pytest.fixture
def quorum(tmp_path: Path) -> Quorum:
    """Two directories with the same newest snapshot, damaged in node 1's."""
    made = Quorum(tmp_path, EQUAL, (1, 3))
    flip_in_batch(made.partition(1) / NEWEST, 1)
    return made


def errors(*paths: Path, against: Path | None = None) -> list[Finding]:
    other = open_path(str(against)) if against is not None else None
    report = verify_snapshots([open_path(str(path)) for path in paths], against=other)
    return [finding for finding in report.all_findings if finding.code == "KT-SNAP-DAMAGE"]


@pytest.mark.parametrize("with_against", [True, False])
def test_the_whole_copy_is_the_one_to_use(quorum: Quorum, with_against: bool) -> None:
    given = (quorum[1],) if with_against else (quorum[1], quorum[3])
    (error,) = errors(*given, against=quorum[3] if with_against else None)
    assert f"{quorum.partition(3) / NEWEST} {WHOLE}" in error.advice


def test_a_damaged_snapshot_of_the_directory_compared_with_is_an_error_too(quorum: Quorum) -> None:
    (error,) = errors(quorum[3], against=quorum[1])
    assert error.file == str(quorum.partition(1) / NEWEST)
    assert f"{quorum.partition(3) / NEWEST} {WHOLE}" in error.advice


def test_no_copy_is_named_of_another_cluster_or_if_both_are_damaged(quorum: Quorum) -> None:
    meta = quorum[3] / "meta.properties"
    known = meta.read_text()
    meta.write_text(known.replace("cluster.id=", "cluster.id=A", 1))
    assert WHOLE not in errors(quorum[1], against=quorum[3])[0].advice
    meta.write_text(known)
    flip_in_batch(quorum.partition(3) / NEWEST, 1)
    assert WHOLE not in errors(quorum[1], against=quorum[3])[0].advice
