"""The bench of the simulator measures what it says."""

from __future__ import annotations

from tests.bench import sim


def test_every_resignation_is_followed_by_an_election_with_few_messages() -> None:
    elections, events = sim.elect(20)
    assert elections == 20
    assert 20 < events / elections < 100


def test_the_other_measures_play_all_that_they_count() -> None:
    assert sim.start_cold(2)[0] == 2
    runs, events = sim.play(2)
    assert (runs, events > 500) == (2, True)
