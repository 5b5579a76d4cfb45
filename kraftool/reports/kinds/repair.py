"""What is not as a recovery plan wants it: in directories, and in the quorum that came of it.

Owns codes, severities and advice. `repair/verify.py` decides when they apply.
"""

from __future__ import annotations

from kraftool.reports.findings import Severity
from kraftool.reports.kinds import Area

_kind = Area("KT-REC").kind
_ERROR, _WARNING, _INFO = Severity.ERROR, Severity.WARNING, Severity.INFO

NOT_APPLIED = _kind(
    "NOT-APPLIED",
    _ERROR,
    "The plan changes files of this directory, and was not applied to it. A node that is started on"
    " it is not part of what was planned.",
    "run kraftool recover apply there while its node is stopped",
)
HALF = _kind(
    "HALF",
    _ERROR,
    "apply or undo was interrupted here: some files are as planned and some as before.",
    "run the same command again: it finishes; do not start the node before",
)
UNDONE = _kind(
    "UNDONE",
    _ERROR,
    "The plan was applied here and undone again.",
    "apply it again, or make another plan",
)
NOT_AS_PLANNED = _kind(
    "NOT-AS-PLANNED",
    _ERROR,
    "A file is not as the plan made it, though no node has run on the directory since.",
    "somebody changed it: undo the plan where that is still possible, and plan again",
)
MOVED_ON = _kind(
    "MOVED-ON",
    _INFO,
    "A node has run on the directory since the plan was applied, so that it cannot be undone.",
)
ANOTHER_PLAN = _kind(
    "ANOTHER-PLAN",
    _WARNING,
    "Another plan was begun in this directory and is neither finished nor undone.",
    "finish that one first; its folder has the plan's file",
)
VOTERS = _kind(
    "VOTERS",
    _ERROR,
    "The voters are others than the plan's: elections are held among those.",
    "see kraftool diff-voters for where they come from",
)
VOTERS_CHANGED = _kind(
    "VOTERS-CHANGED",
    _INFO,
    "Voters were added or removed since, which is what comes after a recovery.",
)
DISAGREE = _kind(
    "DISAGREE",
    _ERROR,
    "Two logs, or a log and the leader, do not name the same voters: at least one belongs to"
    " another history.",
    "stop the node whose voters are not the leader's; kraftool recover plan tells how it returns",
)
OLD_QUORUM = _kind(
    "OLD-QUORUM",
    _ERROR,
    "A leader answers whose epoch is below the one that the plan began: old voters elect among"
    " themselves, and what they commit is not in the recovered quorum.",
    "stop every node of the plan's quarantine now, before any node hears of both",
)
QUARANTINED = _kind(
    "QUARANTINED",
    _ERROR,
    "A node runs that the plan keeps off: it may lead a quorum of its own, or die of this one.",
    "stop it; the plan's quarantine list says how it comes back",
)
RETURNED = _kind(
    "RETURNED",
    _INFO,
    "A node of the plan's quarantine runs and follows the recovered quorum's leader.",
)
RESTART = _kind(
    "RESTART",
    _WARNING,
    "The broker registered before the recovery, and has not since: its epoch is stale, and what it"
    " asks of the controller is refused.",
    "restart it, or start it if it is off",
)
SETTING = _kind(
    "SETTING",
    _WARNING,
    "server.properties does not say what the plan needs of it.",
    "change the file before the node is started; kraftool does not write it",
)
