"""The truth about a quorum whose faults the test makes itself, and polls compared with it.

Owns what a set of running voters and cut links comes to, and when a poll is wrong. It knows nothing
of kraftool's rules: a poll is better than the truth if it promises more than the best moment of its
time allows, and worse if it still complains long after all faults are over.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from itertools import groupby
from typing import Any

from kraftool.raft.names import majority_of
from tests.interop.namespaces import Link

NOTICED_S = 8.0
"""A leader sees only by a voter's silence that their link is cut, and kraftool waits 6 s before it
calls a voter silent. So a cut link counts only after that. A node that does not run counts at once,
since kraftool asks it itself."""
SETTLED_S = 10.0
"""A poll that begins so long after the last fault has no excuse."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Moment:
    """The state of the quorum from a time on."""

    at: float
    voters: frozenset[int]
    running: frozenset[int]
    """Those that run and are not paused."""
    cut: frozenset[Link] = frozenset()
    is_slow: bool = False
    is_healthy: bool = False
    """True once all faults are over, and Kafka's own tool has seen every voter follow."""

    @property
    def spare(self) -> int:
        """How many more voters may fail: below 0 if nothing can be committed."""
        return self._spare(self.cut)

    @property
    def spare_without_cuts(self) -> int:
        """The same as it looks before anybody notices that a link was cut."""
        return self._spare(frozenset())

    def _spare(self, cut: frozenset[Link]) -> int:
        def follows(voter: int, leader: int) -> bool:
            return (voter, leader) not in cut and (leader, voter) not in cut

        voters = self.running & self.voters
        best = max((sum(follows(v, leader) for v in voters) for leader in voters), default=0)
        return best - majority_of(len(self.voters))


@dataclass(frozen=True, slots=True, kw_only=True)
class Poll:
    """What one command said, and when."""

    command: str
    began: float
    ended: float
    code: int
    commits: bool
    """It says that a leader leads, and none of its words takes that back."""
    spare: int | None
    """How many voters it says may fail; None if it does not say."""
    is_well: bool
    text: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Title:
    """What the title of a dashboard said from a time on."""

    at: float
    mark: str
    leader: int | None
    epoch: int | None
    failures: int | None
    """How many voters it says may fail."""
    is_grey: bool
    """It says that it does not know."""

    @property
    def words(self) -> str:
        if self.leader is None:
            return f"{self.mark} no node leads"
        return f"{self.mark} node {self.leader} leads epoch {self.epoch}, can lose {self.failures}"


def flickers(titles: Sequence[Title], moments: Sequence[Moment]) -> list[str]:
    """Return each title that came back after another one while nothing changed. A grey title
    between the two says only that an answer is late; and a leader of a new epoch that is lost at
    once was elected and lost."""
    found = []
    ends = [moment.at for moment in moments[1:]] + [float("inf")]
    for moment, end in zip(moments, ends, strict=True):
        during = [t for t in titles if moment.at <= t.at < end and not t.is_grey]
        rows = [next(same) for _, same in groupby(during, key=lambda title: title.words)]
        for one, two, three in zip(rows, rows[1:], rows[2:], strict=False):
            older = [t.epoch or 0 for t in titles if t.at <= one.at and t.leader is not None]
            is_elected = (two.epoch or 0) > max(older, default=0)
            if one.words == three.words and not is_elected:
                found.append(
                    f"{one.at:.1f} {one.words}; {two.at:.1f} {two.words}; {three.at:.1f} again"
                )
    return found


def read_poll(command: str, began: float, ended: float, code: int, stdout: str) -> Poll:
    """Return what a poll says, by its JSON and its exit code."""
    document: Any = json.loads(stdout) if stdout.strip() else {}
    has_leader = document.get("leaderId") is not None
    spare: int | None = None
    commits = has_leader and code == 0
    if command == "watch":
        tolerance = document.get("tolerance") or {}
        spare = tolerance.get("failureCount")
        commits = has_leader and spare is not None and not tolerance.get("isLost")
    elif command == "health":
        spare = 1 if code == 0 else None  # with three voters, no spare is a warning
    return Poll(
        command=command,
        began=began,
        ended=ended,
        code=code,
        commits=commits,
        spare=spare,
        is_well=code == 0,
        text=stdout,
    )


def wrong(poll: Poll, moments: Sequence[Moment], created: Iterable[float] = ()) -> str:
    """Return how a poll differs from the truth, or empty.

    `created`: when the client created a topic, which is a commit whatever the faults.
    """
    during = _between(moments, poll.began, poll.ended)
    earlier = _between(moments, poll.began - NOTICED_S, poll.ended)
    best = max(moment.spare for moment in earlier)
    if poll.command != "describe":  # it shows what the leader says, which is late to know
        best = min(best, max(moment.spare_without_cuts for moment in during))
    if any(poll.began - NOTICED_S <= at <= poll.ended for at in created):
        best = max(best, 0)
    if poll.spare is not None and poll.spare > max(best, 0):
        return f"better: it says that {poll.spare} may fail, and {best} may"
    if poll.commits and best < 0:
        return "better: it says that a leader commits, and no majority can"
    last = during[-1]
    since = poll.began - last.at
    if last.is_healthy and len(during) == 1 and since >= SETTLED_S:
        if not poll.is_well:
            return f"worse: all is healthy for {since:.0f} s, and it exits {poll.code}"
        if poll.spare is not None and poll.spare < last.spare:
            return f"worse: it says that {poll.spare} may fail, and {last.spare} may"
    return ""


def _between(moments: Sequence[Moment], began: float, ended: float) -> list[Moment]:
    """Return the moments that were true at some time of it."""
    ends = [moment.at for moment in moments[1:]] + [float("inf")]
    return [m for m, end in zip(moments, ends, strict=True) if m.at <= ended and end >= began]
