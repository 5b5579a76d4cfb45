"""The count of one election: who granted, who rejected, who has not answered.

Owns when it is won and when it can no longer be won (Kafka's EpochElection).
"""

from __future__ import annotations

from collections.abc import Iterable

from kraftool.raft.names import ProtocolError, majority_of


class Tally:
    """Answers by voter id; the node itself has granted from the start."""

    __slots__ = ("_answers",)

    def __init__(self, voters: Iterable[int], local_id: int) -> None:
        self._answers: dict[int, bool | None] = dict.fromkeys(sorted(voters))
        self.record(local_id, granted=True)

    def record(self, voter_id: int, *, granted: bool, fixed: bool = False) -> None:
        """Take an answer. With `fixed` a voter cannot take back what it said."""
        if voter_id not in self._answers:
            raise ProtocolError(f"node {voter_id} voted, which is no voter")
        before = self._answers[voter_id]
        if fixed and before is not None and before != granted:
            raise ProtocolError(f"voter {voter_id} took its answer back")
        self._answers[voter_id] = granted

    @property
    def majority(self) -> int:
        return majority_of(len(self._answers))

    @property
    def granting(self) -> tuple[int, ...]:
        return tuple(voter_id for voter_id, granted in self._answers.items() if granted)

    @property
    def rejecting(self) -> tuple[int, ...]:
        return tuple(voter_id for voter_id, granted in self._answers.items() if granted is False)

    @property
    def unrecorded(self) -> tuple[int, ...]:
        return tuple(voter_id for voter_id, granted in self._answers.items() if granted is None)

    @property
    def is_won(self) -> bool:
        return len(self.granting) >= self.majority

    @property
    def is_lost(self) -> bool:
        """True if it can no longer be won."""
        return len(self.granting) + len(self.unrecorded) < self.majority
