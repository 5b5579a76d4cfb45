"""What is not as a recovery plan wants it: in directories, and in the quorum that came of it.

Owns codes, severities and advice. `repair/verify*.py` and `repair/rehearsal*.py` decide when they
apply; of what a plan left in a directory `reports/directory/repairs.py` tells every report.
"""

from __future__ import annotations

from kraftool.reports.findings.finding import Severity
from kraftool.reports.findings.kinds import Area

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
KEPT = _kind(
    "KEPT",
    _INFO,
    "A recovery plan was carried out in this directory, or begun; its folder keeps the originals.",
    "when the quorum is well, the folder can be deleted",
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
    "A node has run on the directory since the plan was applied. Once it has changed the log or"
    " quorum-state, the plan cannot be undone.",
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
UNCLEAN = _kind(
    "UNCLEAN",
    _INFO,
    "Leaders of partitions were elected uncleanly. It is so where brokers were killed, and not shut"
    " down, while there was no quorum: who led last leads again, with what its disk has.",
    "the state ends with the next change of the ISR; compare what producers sent with what is there"
    " if a broker's disk or power failed, too",
)
SETTING = _kind(
    "SETTING",
    _WARNING,
    "server.properties does not say what the plan needs of it.",
    "change the file before the node is started; kraftool does not write it",
)

# --- what a rehearsal shows -------------------------------------------------------------------

NO_LEADER = _kind(
    "NO-LEADER",
    _ERROR,
    "Nobody leads of the voters that the plan makes, though a majority of them was started.",
    "do not apply the plan; kraftool simulate-election on the copies (--keep) says why",
)
SIMULATOR_DIFFERS = _kind(
    "SIMULATOR-DIFFERS",
    _WARNING,
    "The simulator elects nobody in any run, but the nodes that were started on the copies elect a"
    " leader.",
    "believe the nodes: they start on the files themselves, the simulator on what kraftool read of"
    " them. Please report the plan as a defect of the simulator",
)
AHEAD = _kind(
    "AHEAD",
    _WARNING,
    "A node that the plan counts as lost has more of the log than all that the plan was made of.",
    "give its directory to kraftool recover plan: the records may be saved",
)
LOSES = _kind(
    "LOSES",
    _ERROR,
    "Records that the recovered quorum had committed are gone once old voters are back.",
    "keep every node of the plan's quarantine off, as it says there; --fence makes that sure",
)
TWO_QUORUMS = _kind(
    "TWO-QUORUMS",
    _ERROR,
    "Old voters lead a quorum of their own beside the recovered one.",
    "keep every node of the plan's quarantine off, as it says there; --fence keeps them apart",
)
ENDS = _kind(
    "ENDS",
    _ERROR,
    "A node ends since what it hears breaks the protocol: a Kafka would end, too.",
    "keep every node of the plan's quarantine off, as it says there",
)
START = _kind(
    "START",
    _ERROR,
    "A node that was started on the copies ended, or did not come to a quorum in time.",
    "do not apply the plan before the reason is known; with --keep the copies and logs stay",
)
STATE = _kind(
    "STATE",
    _ERROR,
    "The metadata that the started quorum serves is not what the plan is to save.",
    "do not apply the plan; with --keep the copies stay to be compared by kraftool diff-state",
)
NOT_SHOWN = _kind(
    "NOT-SHOWN",
    _WARNING,
    "Too few directories of the plan's voters were given for a majority: who would lead is not"
    " shown.",
    "give their directories, or copies of them, with --dir",
)
SNAPSHOT_IN_TIME = _kind(
    "RUNNING",
    _WARNING,
    "A process held the directory's lock while it was copied: the copy is of a moment, and apply"
    " refuses the directory as long as that runs.",
    "stop every node, then rehearse again",
)
