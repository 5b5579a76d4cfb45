"""One class for each thing that has to hold, told of everything that happens.

They are written from the protocol's promises and not from the core: what they need to know of
voters, votes and logs they keep for themselves.
"""

from __future__ import annotations

from tests.simulator.checkers.base import Checker
from tests.simulator.checkers.epochs import Epochs, QuorumStateChecker
from tests.simulator.checkers.fetches import Fetches
from tests.simulator.checkers.leaders import Leaders
from tests.simulator.checkers.logs import Committed, LogMatching
from tests.simulator.checkers.machines import Machines
from tests.simulator.checkers.promises import Promises
from tests.simulator.checkers.quorums import CheckQuorum, Majorities
from tests.simulator.checkers.snapshots import LogStart
from tests.simulator.checkers.voters import VoterSets
from tests.simulator.checkers.votes import Elections, Votes
from tests.simulator.checkers.watermarks import HighWatermarks, Truncations

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
