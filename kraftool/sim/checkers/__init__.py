"""One class for each thing that has to hold, told of everything that happens.

They are written from the protocol's promises and not from the core: what they need to know of
voters, votes and logs they keep for themselves.
"""

from __future__ import annotations

from kraftool.sim.checkers.base import Checker
from kraftool.sim.checkers.epochs import Epochs, QuorumStateChecker
from kraftool.sim.checkers.fetches import Fetches
from kraftool.sim.checkers.leaders import Leaders
from kraftool.sim.checkers.logs import Committed, LogMatching
from kraftool.sim.checkers.machines import Machines
from kraftool.sim.checkers.promises import Promises
from kraftool.sim.checkers.quorums import CheckQuorum, Majorities
from kraftool.sim.checkers.snapshots import LogStart
from kraftool.sim.checkers.voters import VoterSets
from kraftool.sim.checkers.votes import Elections, Votes
from kraftool.sim.checkers.watermarks import HighWatermarks, Truncations

CHECKERS: tuple[type[Checker], ...] = (
    VoterSets,
    Leaders,
    Epochs,
    QuorumStateChecker,
    Votes,
    Elections,
    LogMatching,
    Committed,
    HighWatermarks,
    Truncations,
    Majorities,
    CheckQuorum,
    Promises,
    Fetches,
    LogStart,
    Machines,
)
"""In this order: what is committed has to be known before it is asked who has it. (That a leader is
elected again is the runner's to see, and that the core does not fail is the node's.)"""
