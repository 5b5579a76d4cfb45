"""Old directories of voters beside one that is not: who has what a snapshot proves, who could elect
without it, and what a copy of running nodes shows too."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest

from kraftool.decoders.names import write_checkpoint_name
from kraftool.directory import reading
from kraftool.reports.findings.finding import Severity
from kraftool.storage.lock import Lock, LockState
from tests.reports.doctor.cases import (
    HOUR,
    STAMP,
    Log,
    begun,
    found,
    hosts,
    node,
    one,
    severities,
    version,
)
from tests.reports.voter_cases import FOOTER, HEADER
from tests.support.places import PARTITION

CODE = "KT-SIG-COMMITTED-MINORITY"


def log(records: int, epoch: int = 1, *, before: int = 0, stamp: int = STAMP) -> Log:
    """Offsets 0 to 2, `before` NoOps of epoch 1 and so many of the epoch."""
    made = begun()
    made.noops(1, before, stamp=STAMP)
    made.noops(epoch, records, stamp=stamp)
    return made


def snapshot(
    path: Path, offset: int, *, epoch: int = 1, stamp: int = STAMP, ids: tuple[int, ...] = (1, 2, 3)
) -> None:
    """A whole snapshot, with the voters that the log has."""
    built = Log()
    head = (HEADER, {"version": 0, "lastContainedLogTimestamp": stamp})
    built.control(epoch, head, version(), hosts(*ids), stamp=stamp)
    built.control(epoch, (FOOTER, {"version": 0}), stamp=stamp)
    file = path / PARTITION / write_checkpoint_name(offset, epoch)
    file.write_bytes(built.data)


def newest(path: Path, *, epoch: int = 2, snapshot_at: int = 40, stamp: int = STAMP) -> Path:
    """Voter 1: offsets 10 to 49 are of the epoch, and there is a snapshot."""
    made = node(path / "1", log(40, epoch, before=7, stamp=stamp), 1, epoch=epoch)
    snapshot(made, snapshot_at, epoch=epoch, stamp=stamp)
    return made


def old(path: Path, id: int, records: int = 7) -> Path:
    return node(path / str(id), log(records), id)


def test_a_majority_of_old_directories_can_elect_without_what_is_committed(tmp_path: Path) -> None:
    paths = newest(tmp_path), old(tmp_path, 2), old(tmp_path, 3)
    diagnosis = one(CODE, *paths)
    finding = diagnosis.finding
    assert finding.severity is Severity.ERROR
    assert finding.text.startswith(
        "offsets 10 to 39: committed, because a snapshot ends at offset 40"
    )
    assert f"only {paths[0]} has it" in finding.text
    assert "voters 2, 3 of 1, 2, 3 can elect a leader without it. Their logs end at 10" in (
        finding.text
    )
    assert (finding.offset, finding.expected, finding.found) == (10, "2 of 3 voters with it", "1")
    assert "do not start 2, 3 without 1" in finding.advice
    assert "at most 1 of them" in finding.advice
    assert "one after another" not in finding.advice
    assert diagnosis.commands[0] == f"cp -a {paths[0]} {paths[0]}.copy"
    assert {evidence.file for evidence in diagnosis.evidence} == set(map(str, paths))


def test_a_log_without_records_behind_its_snapshot_is_compared_too(tmp_path: Path) -> None:
    """As a crash leaves it that tore the first record behind the snapshot."""
    full = newest(tmp_path)
    (file,) = (full / PARTITION).glob("*.log")
    file.unlink()
    (full / PARTITION / f"{40:020}.log").write_bytes(b"\0" * 7 + b"\x28")
    diagnosis = one(CODE, full, old(tmp_path, 2), old(tmp_path, 3))
    assert diagnosis.finding.severity is Severity.ERROR
    assert diagnosis.finding.offset == 10


def test_a_majority_that_has_it_is_fine(tmp_path: Path) -> None:
    full = node(tmp_path / "2", log(40, 2, before=7), 2, epoch=2)
    assert not found(CODE, newest(tmp_path), full, old(tmp_path, 3))


def test_what_no_snapshot_proves_may_be_lost(tmp_path: Path) -> None:
    path = node(tmp_path / "1", log(40, 2, before=7), 1, epoch=2)
    others = old(tmp_path, 2), old(tmp_path, 3)
    assert not found(CODE, path, *others)
    snapshot(path, 10)
    assert not found(CODE, path, *others)
    snapshot(path, 11, epoch=2)
    assert found(CODE, path, *others)


def test_voters_that_were_not_given_may_have_it(tmp_path: Path) -> None:
    assert not found(CODE, newest(tmp_path), old(tmp_path, 3))


def test_a_little_behind_in_one_epoch_is_a_warning_that_names_the_other_reason(
    tmp_path: Path,
) -> None:
    paths = newest(tmp_path, epoch=1), old(tmp_path, 2, 20), old(tmp_path, 3, 15)
    diagnosis = one(CODE, *paths)
    assert diagnosis.finding.severity is Severity.WARNING
    assert "copied one after another from running nodes" in diagnosis.finding.advice
    # Both have to vote: the winner is the one whose log is longer.
    assert diagnosis.finding.text.startswith("offsets 23 to 39")


def test_more_than_an_hour_behind_is_an_error(tmp_path: Path) -> None:
    for hours, severity in ((1, Severity.WARNING), (2, Severity.ERROR)):
        folder = tmp_path / str(hours)
        paths = newest(folder, epoch=1, stamp=STAMP + hours * HOUR), old(folder, 2), old(folder, 3)
        assert severities(CODE, *paths) == [severity]


def test_nodes_in_use_are_read_one_after_the_other(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(reading, "lock_holder", lambda path: Lock(LockState.HELD))
    for epoch, expected in ((1, []), (2, [Severity.WARNING])):
        folder = tmp_path / str(epoch)
        paths = newest(folder, epoch=epoch), old(folder, 2), old(folder, 3)
        assert severities(CODE, *paths) == expected


def test_two_voters_need_each_other(tmp_path: Path) -> None:
    """Of two, one cannot elect; that it lacks what is committed shows an older copy."""
    first = node(tmp_path / "1", begun(1, 2).noops(1, 7).noops(2, 40), 1, epoch=2)
    snapshot(first, 40, epoch=2, ids=(1, 2))
    second = node(tmp_path / "2", begun(1, 2).noops(1, 7), 2)
    diagnosis = one(CODE, first, second)
    assert diagnosis.finding.severity is Severity.WARNING
    assert "voter 2 of 1, 2 must have had it" in diagnosis.finding.text


def test_a_quorum_that_went_on_without_it_cuts_the_last_holder(tmp_path: Path) -> None:
    paths = [newest(tmp_path)]
    paths += [node(tmp_path / str(id), log(5, 3, before=7), id, epoch=3) for id in (2, 3)]
    diagnosis = one(CODE, *paths)
    assert diagnosis.finding.severity is Severity.ERROR
    assert "continued without it, up to epoch 3" in diagnosis.finding.text
    assert diagnosis.finding.advice.startswith(f"keep a copy of {paths[0]} first")


def test_a_snapshot_beyond_the_log_counts_where_kafka_takes_it(tmp_path: Path) -> None:
    paths = [old(tmp_path, id) for id in (1, 2, 3)]
    snapshot(paths[0], 30, epoch=1)
    diagnosis = one(CODE, *paths)
    assert diagnosis.finding.text.startswith("offsets 10 to 29")
    # One of an epoch before the log's is left over, and has nothing for an election.
    for id in (1, 2, 3):
        shutil.rmtree(tmp_path / str(id))
        paths[id - 1] = node(tmp_path / str(id), log(5, 3, before=7), id, epoch=3)
    snapshot(paths[0], 30, epoch=1)
    assert not found(CODE, *paths)


def test_a_snapshot_that_is_not_what_its_name_says_proves_nothing(tmp_path: Path) -> None:
    paths = newest(tmp_path), old(tmp_path, 2), old(tmp_path, 3)
    (made,) = paths[0].glob("*/*40-*.checkpoint")
    made.rename(made.with_name(made.name.replace("-0000000002", "-0000000001")))
    assert not found(CODE, *paths)


def test_the_start_of_a_log_proves_what_lies_before(tmp_path: Path) -> None:
    paths = newest(tmp_path), old(tmp_path, 2), old(tmp_path, 3)
    partition = paths[0] / PARTITION
    (made,) = partition.glob("*40-*.checkpoint")
    made.unlink()
    whole = partition / f"{0:020}.log"
    size = len(log(20, 2, before=7).data)
    (partition / f"{30:020}.log").write_bytes(whole.read_bytes()[size:])
    whole.unlink()
    assert "because a log begins at offset 30" in one(CODE, *paths).finding.text


def test_a_broker_that_has_it_is_named_and_nobody_is_to_start(tmp_path: Path) -> None:
    first = newest(tmp_path)
    meta = first / "meta.properties"
    meta.write_text(meta.read_text().replace("node.id=1", "node.id=9"))
    diagnosis = one(CODE, first, old(tmp_path, 2), old(tmp_path, 3))
    assert diagnosis.finding.advice.startswith(
        f"keep a copy of {first} first, and start none of 2, 3"
    )


def test_voters_without_any_log_are_left_to_their_own_rule(tmp_path: Path) -> None:
    paths = newest(tmp_path), old(tmp_path, 2), old(tmp_path, 3)
    for path in paths[1:]:
        shutil.rmtree(path / PARTITION)
    assert not found(CODE, *paths)
    assert found("KT-SIG-WIPED-VOTER", *paths)
