"""What can be said about the commit of a change without a running quorum, and what cannot.

Each case names what proves it, and has a near miss that proves nothing.
"""

from __future__ import annotations

from pathlib import Path

import pytest

from kraftool.directory.voter_history import Commitment, HistoryEntry
from kraftool.reports.findings.finding import Severity
from kraftool.reports.voters.diff import VoterDiff
from tests.reports.voter_cases import (
    LogBuilder,
    add_snapshot,
    leader,
    make_node,
    started,
    version,
    voter,
    voters,
)
from tests.reports.voter_nodes import compared
from tests.support.places import PARTITION

COMMITTED, UNKNOWN = Commitment.COMMITTED, Commitment.UNKNOWN


def verdict(diff: VoterDiff, offset: int, source: int = 0) -> HistoryEntry:
    (entry,) = [one for one in diff.sources[source].directory.voter_sets if one.offset == offset]
    return entry


def added() -> LogBuilder:
    """Voter 4 was added at offset 8, and two records of the same epoch follow."""
    return started().control(1, voters(1, 2, 3, 4)).noops(1, 2)


def test_one_node_of_several_cannot_tell(tmp_path: Path) -> None:
    diff = compared(make_node(tmp_path / "1", 1, added()))
    assert verdict(diff, 8).commitment is UNKNOWN
    assert "on 1 of 4 voters' directories" in verdict(diff, 8).reason


def test_a_snapshot_beyond_the_record_proves_it(tmp_path: Path) -> None:
    node = make_node(tmp_path / "1", 1, added())
    add_snapshot(node, 9, 1, version(), voters(1, 2, 3, 4))
    assert verdict(compared(node), 8).commitment is COMMITTED


def test_a_snapshot_that_ends_before_the_record_proves_nothing(tmp_path: Path) -> None:
    node = make_node(tmp_path / "1", 1, added())
    add_snapshot(node, 8, 1, version(), voters(1, 2, 3))
    diff = compared(node)
    assert verdict(diff, 8).commitment is UNKNOWN
    assert verdict(diff, 2).commitment is COMMITTED


def test_a_damaged_snapshot_proves_nothing(tmp_path: Path) -> None:
    node = make_node(tmp_path / "1", 1, added())
    file = add_snapshot(node, 9, 1, version(), voters(1, 2, 3, 4))
    file.write_bytes(file.read_bytes()[:-30])
    assert verdict(compared(node), 8).commitment is UNKNOWN


def test_a_snapshot_of_another_node_speaks_for_the_same_log_only(tmp_path: Path) -> None:
    first = make_node(tmp_path / "1", 1, added().noops(1, 2))
    other = make_node(tmp_path / "2", 2, started().noops(2, 5), epoch=2)
    add_snapshot(other, 12, 2, version(), voters(1, 2, 3))
    diff = compared(first, other)
    # Node 2's snapshot ends beyond offset 8, but of a log that parted before it.
    assert verdict(diff, 8).commitment is UNKNOWN
    same = make_node(tmp_path / "3", 3, added().noops(1, 2))
    add_snapshot(same, 12, 1, version(), voters(1, 2, 3, 4))
    assert verdict(compared(first, same), 8).commitment is COMMITTED


def test_the_next_change_of_the_same_leader_proves_the_one_before(tmp_path: Path) -> None:
    log = added().control(1, voters(2, 3, 4)).noops(1, 1)
    diff = compared(make_node(tmp_path / "1", 1, log))
    assert verdict(diff, 8).commitment is COMMITTED
    assert "at offset 11" in verdict(diff, 8).reason
    assert verdict(diff, 11).commitment is UNKNOWN


@pytest.mark.parametrize("case", ["first batch of a leader", "another epoch", "written by hand"])
def test_other_later_changes_prove_nothing(tmp_path: Path, case: str) -> None:
    log = added()
    if case == "first batch of a leader":
        log.control(1, leader(1, (1, 2, 3, 4)), voters(2, 3, 4))
    elif case == "another epoch":
        log.control(2, voters(2, 3, 4))
    else:
        log.control(1, voters(3))
    diff = compared(make_node(tmp_path / "1", 1, log))
    assert verdict(diff, 8).commitment is UNKNOWN


def test_a_majority_in_the_epoch_of_the_record_proves_it(tmp_path: Path) -> None:
    nodes = [make_node(tmp_path / str(id), id, added()) for id in (1, 2, 3)]
    assert verdict(compared(*nodes), 8).commitment is COMMITTED
    # Of four voters two are no majority; node 4's directory is not given.
    assert verdict(compared(*nodes[:2]), 8).commitment is UNKNOWN


def test_a_record_that_a_later_leader_may_have_copied_is_on_a_majority_only(tmp_path: Path) -> None:
    """The paper's figure 8: old records on a majority can be lost until one of the new epoch is."""
    nodes = [make_node(tmp_path / str(id), id, added(), epoch=3) for id in (1, 2, 3)]
    diff = compared(*nodes)
    assert verdict(diff, 8).commitment is Commitment.ON_MAJORITY
    again = [
        make_node(
            tmp_path / f"again-{id}", id, added().control(3, leader(1, (1, 2, 3, 4))), epoch=3
        )
        for id in (1, 2, 3)
    ]
    assert verdict(compared(*again), 8).commitment is COMMITTED


def test_equal_records_in_another_epoch_are_not_the_same_record(tmp_path: Path) -> None:
    first = make_node(tmp_path / "1", 1, added())
    others = [
        make_node(tmp_path / str(id), id, started().control(2, voters(1, 2, 3, 4)), epoch=2)
        for id in (2, 3)
    ]
    assert verdict(compared(first, *others), 8).commitment is UNKNOWN


def test_a_directory_of_a_stale_voter_does_not_count(tmp_path: Path) -> None:
    nodes = [make_node(tmp_path / str(id), id, added()) for id in (1, 2)]
    stale = make_node(tmp_path / "3", 3, added(), directory="AnotherDirectoryIdAAAA")
    assert verdict(compared(*nodes, stale), 8).commitment is UNKNOWN


def test_the_majority_is_that_of_the_new_set_where_the_majorities_overlap(tmp_path: Path) -> None:
    """Kafka commits a change by the set that the record itself brings."""
    log = started((1, 2)).control(1, voters(1)).noops(1, 1)
    assert verdict(compared(make_node(tmp_path / "1", 1, log)), 8).commitment is COMMITTED
    assert verdict(compared(make_node(tmp_path / "2", 2, log)), 8).commitment is UNKNOWN


def test_a_set_written_by_hand_needs_a_majority_of_the_set_before_it(tmp_path: Path) -> None:
    """2 and 3, who never saw it, can elect; once one of them has it, they cannot."""
    log = started().control(1, voters(1)).noops(1, 1)
    first, second = (make_node(tmp_path / str(id), id, log) for id in (1, 2))
    alone = verdict(compared(first), 8)
    assert alone.commitment is UNKNOWN
    assert "voters 1, 2, 3 before a set written by hand can elect" in alone.reason
    both = verdict(compared(first, second), 8)
    assert (both.commitment, both.by_majority) == (COMMITTED, True)


def test_what_follows_a_set_written_by_hand_is_no_more_committed_than_it(tmp_path: Path) -> None:
    log = started().control(1, voters(1)).control(1, version()).noops(1, 1)
    node = make_node(tmp_path / "1", 1, log)
    (source,) = (compared_source.directory for compared_source in compared(node).sources)
    assert [entry.commitment for entry in source.history.entries][-2:] == [UNKNOWN, UNKNOWN]
    # What stands before it is as committed as it was.
    nodes = [node, *(make_node(tmp_path / str(id), id, started()) for id in (2, 3))]
    assert verdict(compared(*nodes), 2).commitment is COMMITTED
    add_snapshot(node, 10, 1, version(), voters(1))
    (source,) = (compared_source.directory for compared_source in compared(node).sources)
    assert {entry.commitment for entry in source.history.entries} == {COMMITTED}
    assert not any(entry.by_majority for entry in source.history.entries)


def test_what_stands_before_something_committed_is_committed(tmp_path: Path) -> None:
    node = make_node(tmp_path / "1", 1, added().control(1, voters(2, 3, 4)))
    (source,) = (compared_source.directory for compared_source in compared(node).sources)
    verdicts = {(entry.offset, entry.commitment) for entry in source.history.entries}
    # 11 proves 8, and 8 what is before it; kraft.version is in the batch of the voters at 2.
    assert verdicts == {(1, COMMITTED), (2, COMMITTED), (8, COMMITTED), (11, UNKNOWN)}


def test_the_bootstrap_snapshot_holds_without_a_commit(tmp_path: Path) -> None:
    node = make_node(tmp_path / "1", 1, LogBuilder())
    add_snapshot(node, 0, 0, version(), voters(1, 2, 3))
    assert verdict(compared(node), -1).commitment is Commitment.FORMATTED


def test_records_of_two_epochs_at_one_offset_are_marked(tmp_path: Path) -> None:
    first = make_node(tmp_path / "1", 1, started().control(1, voters(1, 2, 3, 4)))
    log = started().control(2, voters(1, 2, 3, 5)).noops(2, 3)
    other = make_node(tmp_path / "2", 2, log, epoch=2)
    diff = compared(first, other)
    (finding,) = [finding for finding in diff.findings if finding.severity is not Severity.INFO]
    assert (finding.code, finding.severity) == ("KT-DIR-VOTERS-CONFLICT", Severity.WARNING)
    assert finding.offset == 8
    assert "epoch 1" in finding.expected
    assert "voter 5 added, epoch 2" in finding.found
    assert diff.has_differences
    # Once one of them is known to be committed, the other is known to be replaced.
    add_snapshot(other, 11, 2, version(), voters(1, 2, 3, 5))
    diff = compared(first, other)
    assert verdict(diff, 8, 0).commitment is Commitment.REPLACED
    assert verdict(diff, 8, 1).commitment is COMMITTED


def test_the_log_that_would_win_an_election_has_the_newest_voters(tmp_path: Path) -> None:
    first = make_node(tmp_path / "1", 1, started().control(1, voters(1, 2, 3, 4)).noops(1, 50))
    other = make_node(tmp_path / "2", 2, started().noops(2, 5), epoch=2)
    diff = compared(first, other)
    (finding,) = [finding for finding in diff.findings if finding.severity is not Severity.INFO]
    assert finding.code == "KT-DIR-VOTERS-CONFLICT"
    assert "a record of epoch 2 that is not such a change" in finding.found
    assert diff.newest_directory is diff.sources[1].directory
    assert diff.sources[0].differences == ("voter 4 only here",)


def test_two_records_of_one_epoch_at_one_offset_are_an_error(tmp_path: Path) -> None:
    first = make_node(tmp_path / "1", 1, started().control(1, voters(1, 2, 3, 4)))
    other = make_node(tmp_path / "2", 2, started().control(1, voters(1, 2, 3, voter(4, port=1))))
    (finding,) = compared(first, other).findings
    assert (finding.code, finding.severity) == ("KT-DIR-VOTERS-CONFLICT", Severity.ERROR)


def test_a_log_that_ends_before_the_change_is_no_conflict(tmp_path: Path) -> None:
    first = make_node(tmp_path / "1", 1, added())
    other = make_node(tmp_path / "2", 2, started())
    diff = compared(first, other)
    assert [finding.code for finding in diff.findings] == ["KT-DIR-VOTERS-BEHIND"]
    assert diff.sources[1].is_behind


def test_a_directory_without_quorum_state_cannot_prove_by_majority(tmp_path: Path) -> None:
    nodes = [make_node(tmp_path / str(id), id, added()) for id in (1, 2, 3)]
    for node in nodes:
        (node / PARTITION / "quorum-state").unlink()
    assert verdict(compared(*nodes), 8).commitment is Commitment.ON_MAJORITY
