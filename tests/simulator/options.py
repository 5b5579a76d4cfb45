"""The options of a run of the simulator, apart from its seed.

Owns the names of the faults and the patience of the simulated nodes.
"""

from __future__ import annotations

from dataclasses import dataclass, field

from kraftool.raft.settings import Timing

FAULTS = (
    "crash",  # the power fails: what was not flushed is lost, in part, or torn
    "kill",  # the process ends, and the disk keeps what it has
    "partition",  # some cannot reach others, perhaps in one direction only
    "loss",
    "duplication",
    "delay",  # so long that messages overtake each other and requests time out
    "corruption",  # batches arrive damaged
    "skew",  # clocks run fast, slow, and jump forwards
    "slow-disk",
    "pause",  # a node does nothing for a while, and then everything at once
    "wipe",  # a disk is lost, and the node comes back as another directory
    "voters",  # added and removed during all of it
    "resign",
    "shutdown",
    "upgrade",  # kraft.version 0 to 1
)
"""Everything that can go wrong."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Options:
    """One run. What is None is drawn from the seed."""

    voters: int | None = None
    observers: int | None = None
    dynamic: bool | None = None
    """True if the quorum was formatted with kraft.version 1; static voters otherwise."""
    witnesses: int = 0
    """How many of the voters are witnesses, as `kraftool node` runs them."""
    controllers: bool = False
    """True if whoever leads runs the active controller of a cluster with brokers."""
    cuts_turns: bool = False
    """True if a controller's turn takes time, in which everything else goes on: it is cut at
    random, as a thread of a real node is."""
    faults: tuple[str, ...] = FAULTS
    run_ms: int = 12_000
    """How long faults happen."""
    settle_ms: int = 60_000
    """How long the quorum may take afterwards to elect a leader and to commit."""
    most_events: int = 200_000
    until_leader: bool = False
    """End the run as soon as a leader has something committed."""
    timing: Timing = field(default_factory=lambda: Timing(fetch_max_wait_ms=250))
    trace: bool = False
