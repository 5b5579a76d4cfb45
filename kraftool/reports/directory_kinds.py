"""The kinds of findings that one reading of a PATH can come to, with stable codes.

Owns codes, default severities and advice. It never tells to delete quorum-state, since a node that
forgets its vote may vote twice.
"""

from __future__ import annotations

from kraftool.reports.findings import FindingKind, Severity

_KINDS: dict[str, FindingKind] = {}


def _kind(
    name: str, severity: Severity, meaning: str, advice: str = "", *, undecoded: bool = False
) -> FindingKind:
    kind = FindingKind(
        code=f"KT-DIR-{name}",
        severity=severity,
        meaning=meaning,
        advice=advice,
        undecoded=undecoded,
    )
    assert kind.code not in _KINDS, "codes are unique"
    _KINDS[kind.code] = kind
    return kind


_ERROR, _WARNING, _INFO = Severity.ERROR, Severity.WARNING, Severity.INFO
_KEEP = "keep a copy before Kafka starts here: it truncates at the first bad byte, silently"

# What could not be read.
UNREADABLE = _kind("READ", _ERROR, "A file could not be opened or read.", undecoded=True)
PASSED_OVER = _kind("SKIPPED", _INFO, "Something in the PATH was passed over.")
NOTHING = _kind(
    "EMPTY",
    _ERROR,
    "There is nothing of Kafka's here.",
    "name a directory of log.dirs, its __cluster_metadata-0, or one file of it",
    undecoded=True,
)
UNKNOWN_FILE = _kind(
    "UNKNOWN-FILE",
    _INFO,
    "A file that Kafka does not know; it leaves such files alone.",
)
UNKNOWN_KIND = _kind(
    "UNKNOWN-KIND",
    _ERROR,
    "Neither name nor content tells what the file is.",
    "say what it is with --as KIND",
    undecoded=True,
)
TOO_LARGE = _kind(
    "TOO-LARGE", _WARNING, "A file is larger than its kind ever is; only its head was read."
)

# The log.
TORN_TAIL = _kind(
    "TORN-TAIL",
    _WARNING,
    "The log ends inside a batch, as after a crash or in a copy of a running node.",
    "nothing to do: Kafka cuts it off at its next start",
    undecoded=True,
)
ZERO_TAIL = _kind(
    "ZERO-TAIL",
    _WARNING,
    "The log ends in zeros, as a file system leaves them after a power loss.",
    "Kafka cuts them off at its next start; other nodes tell whether records were lost with them",
    undecoded=True,
)
DAMAGE = _kind("DAMAGE", _ERROR, "Bytes in the log are no batch.", _KEEP, undecoded=True)
CRC = _kind(
    "CRC", _ERROR, "A batch's bytes are not those that its CRC was made of.", _KEEP, undecoded=True
)
RECORDS = _kind(
    "RECORDS",
    _ERROR,
    "The records of a batch cannot be told apart, or one cannot be decoded.",
    "kraftool explain FILE --position N shows the bytes",
    undecoded=True,
)
UNKNOWN_TYPE = _kind(
    "UNKNOWN-TYPE",
    _WARNING,
    "A record type or version that no Kafka up to 4.4 writes.",
    "a newer Kafka wrote it, or it is damage; an older Kafka stops at it",
    undecoded=True,
)
EPOCH_BACK = _kind(
    "EPOCH-BACK",
    _ERROR,
    "A batch's leader epoch is below that of a batch before it, which Kafka never writes.",
    "do not trust the log from here on; compare with another node's",
)
GAP = _kind(
    "GAP",
    _ERROR,
    "Offsets do not follow on each other.",
    "do not trust the log from here on; compare with another node's",
)
FILE_NAME = _kind(
    "FILE-NAME",
    _ERROR,
    "A file's name says something else than its content.",
    "find out how it was renamed or edited before Kafka starts on it",
)
NOT_METADATA = _kind("NOT-METADATA", _INFO, "A segment of another topic than the metadata's.")
FALSE_UPGRADE = _kind(
    "FALSE-UPGRADE",
    _WARNING,
    "A FeatureLevelRecord claims a kraft.version that the control records do not have.",
    "the quorum still has static voters: leave controller.quorum.voters as it is, and upgrade"
    " kraft.version again from Kafka 4.1 on",
)
TXN_OPEN = _kind(
    "TXN-OPEN",
    _WARNING,
    "A metadata transaction is open at the log's end; its records are not visible.",
    "the next active controller aborts it",
)
LOG_MISSING = _kind(
    "LOG-MISSING",
    _WARNING,
    "There are snapshots but no log: what came after them is gone.",
    "another node has the records; let this one fetch them rather than lead",
)

# Snapshots.
SNAPSHOT = _kind(
    "SNAPSHOT",
    _ERROR,
    "A snapshot is damaged.",
    undecoded=True,
)
SNAPSHOT_FORM = _kind(
    "SNAPSHOT-FORM", _ERROR, "A snapshot is not made up as Kafka makes them: it may be cut short."
)
SNAPSHOT_MISSING = _kind(
    "SNAPSHOT-MISSING",
    _ERROR,
    "The log does not begin at 0 and no snapshot covers its start: Kafka refuses to start.",
    "copy the newest .checkpoint of another node here, with its name",
)
SNAPSHOT_AHEAD = _kind(
    "SNAPSHOT-AHEAD",
    _WARNING,
    "The newest snapshot is beyond the log: Kafka wipes the log at its next start.",
    "verify the snapshot first: on a bad one Kafka dies after it has wiped log and snapshots",
)

# State files.
QUORUM_STATE = _kind(
    "QUORUM-STATE",
    _ERROR,
    "Kafka refuses to start on this quorum-state.",
    "never delete it on a node of several voters: it would forget its vote and may vote twice in"
    " one epoch. Write it anew with the highest epoch of all voters + 1 and no vote",
    undecoded=True,
)
QUORUM_STATE_ODD = _kind(
    "QUORUM-STATE-ODD", _WARNING, "Kafka takes this quorum-state but not all that stands in it."
)
QUORUM_STATE_MISSING = _kind(
    "QUORUM-STATE-MISSING",
    _WARNING,
    "There is a log but no quorum-state: Kafka starts without the vote that it may have given.",
    "put the file back if there is a copy; else write it with the highest epoch of all voters + 1"
    " and no vote",
)
QUORUM_STATE_BEHIND = _kind(
    "QUORUM-STATE-BEHIND",
    _WARNING,
    "quorum-state is of an earlier epoch than the log, which no running Kafka leaves behind.",
    "the files were copied at different times, or one was edited; Kafka raises it at its start",
)
META_MISSING = _kind(
    "META-MISSING",
    _ERROR,
    "Without meta.properties Kafka takes the directory for unformatted and does not start.",
    "write it anew with cluster.id, node.id and the directory.id of the voters",
)
META = _kind(
    "META",
    _ERROR,
    "Kafka refuses to start on this meta.properties.",
    "write it anew with cluster.id, node.id and the directory.id of the voters",
    undecoded=True,
)
META_ODD = _kind("META-ODD", _WARNING, "Kafka takes this meta.properties with a reservation.")
META_V0 = _kind(
    "META-V0",
    _WARNING,
    "meta.properties is of version 0, from before KRaft.",
    "Kafka rewrites it to version 1 when it starts in KRaft mode",
)
CLUSTER_ID = _kind(
    "CLUSTER-ID",
    _ERROR,
    "Directories belong to different clusters.",
    "a node of one cluster refuses to start with them, and nodes refuse each other",
)
NODE_ID = _kind(
    "NODE-ID",
    _ERROR,
    "The directory belongs to another node than the configuration says.",
    "Kafka refuses to start; node.id and meta.properties have to agree",
)
SAME_DIRECTORY_ID = _kind(
    "SAME-DIRECTORY-ID",
    _WARNING,
    "Directories have the same directory.id: one is a copy of the other.",
    "never let both run",
)
EPOCHS = _kind(
    "EPOCHS",
    _ERROR,
    "Kafka refuses to start on this leader-epoch-checkpoint.",
    "with Kafka stopped, delete it: it is made anew from the log",
    undecoded=True,
)
EPOCHS_DIFFER = _kind(
    "EPOCHS-DIFFER",
    _WARNING,
    "leader-epoch-checkpoint and the log's batches differ, and Kafka believes the file.",
    "with Kafka stopped, delete it: it is made anew from the log",
)
TOPIC_ID = _kind(
    "TOPIC-ID",
    _ERROR,
    "partition.metadata is not that of the metadata topic: Kafka refuses to start.",
    "with Kafka stopped, delete it: it is made anew",
    undecoded=True,
)
INDEX = _kind(
    "INDEX",
    _WARNING,
    "An index is damaged or does not fit its segment.",
    "Kafka makes it anew at its start; if it happens again, look at the disk",
    undecoded=True,
)
OFFSETS = _kind(
    "OFFSETS",
    _WARNING,
    "An offset checkpoint is damaged; Kafka goes on as if it were empty.",
    undecoded=True,
)
PRODUCER_STATE = _kind(
    "PRODUCER-STATE",
    _WARNING,
    "A producer state snapshot is damaged; Kafka deletes it and reads the log instead.",
    undecoded=True,
)
TEXT = _kind("TEXT", _WARNING, "A text file of Kafka's is not as Kafka writes it.", undecoded=True)

# Voters.
NOT_A_VOTER = _kind(
    "NOT-A-VOTER",
    _WARNING,
    "A controller that is not among the voters runs as an observer.",
    "kafka-metadata-quorum add-controller, with that node's own configuration, makes it one",
)
STALE_VOTER = _kind(
    "STALE-VOTER",
    _ERROR,
    "The voters name this node with another directory id, as after a change of disks:"
    " it does not vote.",
    "remove-controller with the old directory id, then add-controller; writing the old id back"
    " is right only with that node's own old log",
)
NO_DIRECTORY_ID = _kind(
    "NO-DIRECTORY-ID",
    _WARNING,
    "Voters are known by directory id, and meta.properties has none.",
    "Kafka 3.7 and later write one at their start",
)

# What is left over.
LEFTOVER = _kind("LEFTOVER", _INFO, "A file that Kafka removes by itself when it starts.")

KINDS = dict(_KINDS)
"""Every kind by its code."""
