"""Elections that nobody asks for: leadership back to preferred replicas, and unclean ones."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import islice

from kraftool.controller.partition_changes import Election, change_of
from kraftool.controller.state import ControllerState
from kraftool.controller.topic_configs import allows_unclean_election
from kraftool.image.replay import WrittenRecord

MOST_ELECTIONS = 1000
"""Of one turn; the next one comes at once if there may be more."""


def elect_preferred(state: ControllerState) -> list[WrittenRecord]:
    """Give leadership back to the first replicas, where they can lead."""
    return _limited(
        change_of(state, key, election=Election.PREFERRED)
        for key in state.partitions.not_led_by_preferred()
    )


def elect_uncleanly(state: ControllerState) -> list[WrittenRecord]:
    """Let partitions without a leader lose records rather than stay without one, if they may."""
    return _limited(
        change_of(state, key, election=Election.UNCLEAN)
        for key in state.partitions.leaderless()
        if allows_unclean_election(state, key)
    )


def _limited(changes: Iterator[WrittenRecord | None]) -> list[WrittenRecord]:
    return list(islice((record for record in changes if record is not None), MOST_ELECTIONS))
