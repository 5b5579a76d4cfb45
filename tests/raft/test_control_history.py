"""Voter sets and kraft.version as histories that go with the log."""

import pytest

from kraftool.raft.control_history import ControlHistory, History
from kraftool.raft.names import ProtocolError, VoterSet
from kraftool.raft.records import Batch, KRaftVersion, LeaderChange, Voters
from tests.raft.transcript_words import voters

STATIC, FIRST, SECOND = voters(["1"]), voters(["1", "2"]), voters(["1", "2", "3"])


def control(offset: int, *records: LeaderChange | KRaftVersion | Voters) -> Batch:
    last = offset + len(records) - 1
    return Batch(base_offset=offset, last_offset=last, epoch=1, control=records)


@pytest.fixture
def history() -> ControlHistory:
    """Static voters, version and a set in the bootstrap snapshot, another set at 12."""
    known = ControlHistory(static_voters=STATIC)
    known.kraft_versions.add(-1, 1)
    known.voter_sets.add(-1, FIRST)
    known.append(control(10, LeaderChange(1, (1,), (1,)), KRaftVersion(1), Voters(SECOND)))
    return known


def test_static_voters_count_until_a_record_names_others() -> None:
    known = ControlHistory(static_voters=STATIC)
    assert (known.voters, known.voters_offset, known.kraft_version) == (STATIC, None, 0)
    known.append(control(0, LeaderChange(1, (1,), (1,))))
    assert known.voters == STATIC
    known.append(control(1, KRaftVersion(1), Voters(FIRST)))
    assert (known.voters, known.voters_offset, known.kraft_version) == (FIRST, 2, 1)


def test_records_of_a_batch_stand_at_their_own_offsets(history: ControlHistory) -> None:
    assert history.kraft_versions.entries == [(-1, 1), (11, 1)]
    assert (history.voters, history.voters_offset) == (SECOND, 12)


def test_what_counted_at_an_offset_never_is_the_static_set(history: ControlHistory) -> None:
    at = history.voter_sets.at
    assert [at(-2), at(-1), at(11), at(12), at(99)] == [None, FIRST, FIRST, SECOND, SECOND]


def test_a_truncation_brings_back_what_was_before(history: ControlHistory) -> None:
    history.truncate(13)
    assert history.voters == SECOND
    history.truncate(12)
    assert (history.voters, history.voters_offset) == (FIRST, -1)
    assert history.kraft_versions.entries == [(-1, 1), (11, 1)]


def test_the_static_set_returns_when_no_record_is_left(history: ControlHistory) -> None:
    history.truncate(-1)
    assert (history.voters, history.kraft_version) == (STATIC, 0)


def test_a_snapshot_keeps_the_newest_of_what_it_has(history: ControlHistory) -> None:
    history.append(control(20, Voters(STATIC)))
    history.forget_before(15)
    assert history.voter_sets.entries == [(12, SECOND), (20, STATIC)]
    assert history.kraft_versions.entries == [(11, 1)]


def test_what_a_snapshot_has_stays_where_the_record_at_its_end_is_truncated() -> None:
    """Kafka 4.3 keeps the voters at 15 alone, and has none after the truncation."""
    known: History[VoterSet] = History([(-1, FIRST), (12, SECOND), (15, STATIC)])
    known.forget_before(15)
    known.truncate(15)
    assert known.entries == [(12, SECOND)]


def test_an_installed_snapshot_is_all_there_is(history: ControlHistory) -> None:
    history.begin_after(100, 1, FIRST)
    assert history.voter_sets.entries == [(99, FIRST)]
    assert history.kraft_versions.entries == [(99, 1)]
    history.begin_after(200, 0, None)
    assert (history.voters, history.kraft_version) == (STATIC, 0)


@pytest.mark.parametrize("offset", [5, 4])
def test_offsets_of_a_history_rise(offset: int) -> None:
    known: History[VoterSet] = History()
    known.add(5, FIRST)
    with pytest.raises(ProtocolError):
        known.add(offset, SECOND)
