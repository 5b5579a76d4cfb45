"""Differences from a recovery plan: in directories, and in the recovered quorum.

Owns codes, severities and advice. `repair/verify*.py` and `repair/rehearsal*.py` decide when they
apply. `reports/directory/report.py` makes the findings of what a plan left in a directory.
"""

from __future__ import annotations

from kraftool.reports.findings.finding import Severity
from kraftool.reports.findings.kinds import Area

_kind = Area("KT-REC").kind
_ERROR, _WARNING, _INFO = Severity.ERROR, Severity.WARNING, Severity.INFO

NOT_APPLIED = _kind(
    "NOT-APPLIED",
    _ERROR,
    "The plan changes files of this directory, but it was not applied here. A node that you"
    " start on it is not part of the planned quorum.",
    "stop the node and run kraftool recover apply there",
)
HALF = _kind(
    "HALF",
    _ERROR,
    "apply or undo was interrupted here: some files are already changed and some are not.",
    "run the same command again to finish it. Do not start the node before that",
)
KEPT = _kind(
    "KEPT",
    _INFO,
    "A recovery plan was applied, or begun, in this directory. Its folder keeps the original"
    " files.",
    "when the quorum is healthy, you can delete the folder",
)
UNDONE = _kind(
    "UNDONE",
    _ERROR,
    "The plan was applied here and then undone.",
    "apply it again, or make another plan",
)
NOT_AS_PLANNED = _kind(
    "NOT-AS-PLANNED",
    _ERROR,
    "A file is not as the plan wrote it, although no node has run on the directory since.",
    "somebody changed it. Undo the plan if that is still possible, and make a new plan",
)
MOVED_ON = _kind(
    "MOVED-ON",
    _INFO,
    "A node has run on the directory since the plan was applied. Once the node has changed"
    " the log or quorum-state, the plan cannot be undone.",
)
ANOTHER_PLAN = _kind(
    "ANOTHER-PLAN",
    _WARNING,
    "Another plan was begun in this directory and was neither finished nor undone.",
    "finish that one first. Its folder has the plan's file",
)
VOTERS = _kind(
    "VOTERS",
    _ERROR,
    "The voters differ from those of the plan, and these voters hold the elections.",
    "run kraftool diff-voters to see where they come from",
)
VOTERS_CHANGED = _kind(
    "VOTERS-CHANGED",
    _INFO,
    "Voters were added or removed since the recovery. That is normal after a recovery.",
)
DISAGREE = _kind(
    "DISAGREE",
    _ERROR,
    "Two logs, or a log and the leader, name different voters. At least one of them belongs"
    " to another history.",
    "stop the node whose voters differ from the leader's. kraftool recover plan shows how the"
    " node can return",
)
OLD_QUORUM = _kind(
    "OLD-QUORUM",
    _ERROR,
    "A leader answers with a lower epoch than the one that the plan began. Old voters elect a"
    " leader among themselves, and the recovered quorum does not have what they commit.",
    "stop every node in the plan's quarantine now, before any node hears from both leaders",
)
QUARANTINED = _kind(
    "QUARANTINED",
    _ERROR,
    "A node that the plan keeps offline is running. It may lead a quorum of its own, or exit"
    " when it hears from this one.",
    "stop it. The plan's quarantine list says how it can return",
)
RETURNED = _kind(
    "RETURNED",
    _INFO,
    "A node in the plan's quarantine is running and follows the recovered quorum's leader.",
)
RESTART = _kind(
    "RESTART",
    _WARNING,
    "The broker registered before the recovery and not since. Its epoch is stale, and the"
    " controller refuses its requests.",
    "restart it, or start it if it is stopped",
)
UNCLEAN = _kind(
    "UNCLEAN",
    _INFO,
    "Partitions elected leaders uncleanly. That happens if brokers were killed, and not shut"
    " down, while there was no quorum. The last leader leads again, with what its disk has.",
    "this state ends with the next change of the ISR. If a broker also lost its disk or"
    " power, compare what producers sent with the records on disk",
)
SETTING = _kind(
    "SETTING",
    _WARNING,
    "server.properties does not have the settings that the plan needs.",
    "change the file before you start the node. kraftool does not write it",
)

# --- what a rehearsal shows -------------------------------------------------------------------

NO_LEADER = _kind(
    "NO-LEADER",
    _ERROR,
    "None of the plan's voters leads, although a majority of them was started.",
    "do not apply the plan. Run kraftool simulate-election on the copies (--keep) to see why",
)
SIMULATOR_DIFFERS = _kind(
    "SIMULATOR-DIFFERS",
    _WARNING,
    "The simulator elects no leader in any run, but the nodes started on the copies elect one.",
    "trust the nodes: they start on the files themselves, and the simulator uses what"
    " kraftool read from them. Please report the plan as a defect of the simulator",
)
AHEAD = _kind(
    "AHEAD",
    _WARNING,
    "A node that the plan counts as lost has more of the log than all directories that the"
    " plan was made from.",
    "give its directory to kraftool recover plan: the records may be saved",
)
LOSES = _kind(
    "LOSES",
    _ERROR,
    "Records that the recovered quorum had committed are lost once old voters return.",
    "keep every node in the plan's quarantine offline, as the list says. --fence makes sure"
    " of that",
)
TWO_QUORUMS = _kind(
    "TWO-QUORUMS",
    _ERROR,
    "Old voters lead a quorum of their own in addition to the recovered one.",
    "keep every node in the plan's quarantine offline, as the list says. --fence keeps the"
    " two apart",
)
ENDS = _kind(
    "ENDS",
    _ERROR,
    "The node stopped on a protocol violation. Kafka would stop too.",
    "keep every node in the plan's quarantine offline, as the list says",
)
START = _kind(
    "START",
    _ERROR,
    "A node started on the copies exited, or did not join a quorum in time.",
    "do not apply the plan before you know the reason. --keep preserves the copies and logs",
)
STATE = _kind(
    "STATE",
    _ERROR,
    "The started quorum serves other metadata than the plan saves.",
    "do not apply the plan. Use --keep to preserve the copies, and compare them with kraftool"
    " diff-state",
)
NOT_SHOWN = _kind(
    "NOT-SHOWN",
    _WARNING,
    "There are too few directories of the plan's voters for a majority. The rehearsal cannot"
    " show who would lead.",
    "add their directories, or copies of them, with --dir",
)
SNAPSHOT_IN_TIME = _kind(
    "RUNNING",
    _WARNING,
    "A process held the directory's lock while kraftool copied it. The copy shows one moment,"
    " and apply refuses the directory as long as that process runs.",
    "stop every node, then rehearse again",
)
