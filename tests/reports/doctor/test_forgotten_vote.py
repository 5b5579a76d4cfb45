"""Directories that an older copy took the place of, by the votes that others' logs list."""

from __future__ import annotations

from pathlib import Path

import pytest

from kraftool.decoders.wire import ZERO_UUID
from kraftool.reports.findings.finding import Severity
from tests.reports.doctor.cases import begun, directory_of, found, leader, level, node, one
from tests.reports.voter_cases import LEADER, Control

CODE = "KT-SIG-FORGOTTEN-VOTE"


def granted(id: int, *by: int, directory: str | None = None) -> Control:
    """A LeaderChange with the directory ids of those who voted, as kraft.version 1 has it."""

    def listed(ids: tuple[int, ...]) -> list[dict[str, object]]:
        return [{"voterId": voter_id, "voterDirectoryId": directory or directory_of(voter_id)}
                for voter_id in ids]  # fmt: skip

    return LEADER, {"version": 1, "leaderId": id, "voters": listed((1, 2, 3)),
                    "grantingVoters": listed(by)}  # fmt: skip


def went_on(path: Path, *elections: tuple[int, Control]) -> list[Path]:
    """Nodes 1 and 2 went on; node 3 is as it was in epoch 1."""
    log = begun().data_batch(level())
    old = node(path / "3", log.copied(), 3)
    for epoch, change in elections:
        log.control(epoch, change)
    last = elections[-1][0]
    return [*(node(path / str(id), log, id, epoch=last) for id in (1, 2)), old]


def test_a_node_that_led_a_later_epoch_went_back_in_time(tmp_path: Path) -> None:
    paths = went_on(tmp_path, (3, granted(3, 2, 3)), (4, granted(1, 1, 2)))
    diagnosis = one(CODE, *paths)
    assert diagnosis.directory == str(tmp_path / "3")
    assert diagnosis.finding.severity is Severity.ERROR
    assert diagnosis.finding.text.startswith(
        "voter 3 led epoch 3, but its quorum-state has epoch 1"
    )
    assert (diagnosis.finding.expected, diagnosis.finding.found) == ("3 or more", "1")
    assert diagnosis.evidence[0].found == "LeaderChange of epoch 3: leader 3, granted by 2, 3"
    assert diagnosis.commands[0].startswith(
        "# the highest epoch in these directories is 4. Write 5"
    )


def test_a_mere_voter_went_back_too(tmp_path: Path) -> None:
    diagnosis = one(CODE, *went_on(tmp_path, (3, granted(2, 2, 3))))
    assert diagnosis.finding.text.startswith("voter 3 gave 2 its vote in epoch 3")


@pytest.mark.parametrize("by", [(1, 2), (1,)])
def test_a_node_that_slept_through_the_elections_is_merely_behind(
    tmp_path: Path, by: tuple[int, ...]
) -> None:
    assert not found(CODE, *went_on(tmp_path, (3, granted(1, *by))))


def test_the_vote_of_the_disk_before_is_not_that_of_this_one(tmp_path: Path) -> None:
    other = "AnotherDirectoryIdAAAA"
    paths = went_on(tmp_path, (3, granted(1, 1, 3, directory=other)))
    assert not found(CODE, *paths)
    # Without directory ids, as at kraft.version 0, the node id alone counts.
    static = went_on(tmp_path / "static", (3, leader(1, (1, 3))))
    assert one(CODE, *static).directory == str(tmp_path / "static/3")


def test_its_own_log_shows_it_as_well_and_the_epoch_alone_is_not_told_beside(
    tmp_path: Path,
) -> None:
    path = node(tmp_path / "1", begun().control(3, granted(1, 1, 2)), 1, epoch=2)
    assert one(CODE, path).finding.severity is Severity.ERROR
    assert not found("KT-DIR-QUORUM-STATE-BEHIND", path)


def test_a_later_epoch_of_its_own_log_makes_up_for_it(tmp_path: Path) -> None:
    """Kafka starts in the epoch of the log, in which this node gave no vote."""
    log = begun().control(3, granted(1, 1, 2)).control(4, granted(3, 2, 3))
    path = node(tmp_path / "1", log, 1, epoch=2)
    assert not found(CODE, path)
    assert found("KT-DIR-QUORUM-STATE-BEHIND", path)


def test_of_a_running_node_it_says_that_the_files_were_read_at_different_times(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    paths = went_on(tmp_path, (3, granted(3, 2, 3)))
    monkeypatch.setattr("kraftool.reports.doctor.model.ExaminedDirectory.is_live", True)
    diagnosis = one(CODE, *paths)
    assert diagnosis.finding.severity is Severity.INFO
    assert "read at different times" in diagnosis.finding.advice
    assert not diagnosis.commands


def test_a_directory_that_is_not_the_voters_has_no_vote_to_forget(tmp_path: Path) -> None:
    """One that stayed behind when metadata.log.dir was moved; its log names no directory ids."""
    election = 3, granted(1, 1, 3, directory=ZERO_UUID)
    paths = went_on(tmp_path, election)
    log = begun().data_batch(level())
    left = node(tmp_path / "left", log.copied(), 3, directory="AnotherDirectoryIdAAAA")
    own = node(tmp_path / "own", log.copied().control(*election), 3, epoch=3)
    assert one(CODE, *paths).directory == str(tmp_path / "3")
    assert not found(CODE, *paths[:2], own, left)
