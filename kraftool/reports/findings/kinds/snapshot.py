"""Problems of snapshots: each by itself, and against the log around it.

Owns codes, default severities and advice.
"""

from __future__ import annotations

from kraftool.decoders.schema import NEWEST_RELEASE
from kraftool.reports.findings.finding import Remedy, Severity, Stake
from kraftool.reports.findings.kinds import Area

_kind = Area("KT-SNAP").kind
_ERROR, _WARNING, _INFO = Severity.ERROR, Severity.WARNING, Severity.INFO

_REPLACE = (
    "leave the other nodes running. On this node, with Kafka stopped, replace the file with the"
    " same .checkpoint of another node, and start it. If no node has that file any more, give all"
    " directories to kraftool recover plan"
)

DAMAGE = _kind(
    "DAMAGE",
    _ERROR,
    "A snapshot is damaged. Kafka exits on it, when it starts or later.",
    _REPLACE,
    undecoded=True,
    references=("KIP-630",),
    remedy=Remedy.VERIFY_SNAPSHOT,
    keeps_from_starting=True,
)
FORM = _kind(
    "FORM",
    _ERROR,
    "A snapshot does not have the form that Kafka writes: it may be incomplete.",
    _REPLACE,
    remedy=Remedy.VERIFY_SNAPSHOT,
    observed=(
        (
            "3.9.1 and 4.3.0: Kafka loads a snapshot without its footer that is cut at a batch's "
            "border, and logs nothing. It exits only on later records that do not fit."
        ),
    ),
)
FILE_NAME = _kind(
    "FILE-NAME",
    _ERROR,
    "A snapshot's name does not match its content.",
    "find out how it was renamed or edited before you start Kafka on it",
    remedy=Remedy.VERIFY_SNAPSHOT,
)
NAME = _kind(
    "NAME",
    _ERROR,
    "The name of a .checkpoint file has no offset and epoch: Kafka refuses to start.",
    "move it out of the directory",
    remedy=Remedy.MOVE_ASIDE,
    keeps_from_starting=True,
)
UNKNOWN_TYPE = _kind(
    "UNKNOWN-TYPE",
    _WARNING,
    f"A snapshot has a record type or version that no Kafka up to {NEWEST_RELEASE} writes.",
    "a newer Kafka wrote it, or it is damaged. An older Kafka stops at it",
    undecoded=True,
)
MISSING = _kind(
    "MISSING",
    _ERROR,
    "The log does not begin at offset 0 and no snapshot covers its start: Kafka refuses to start.",
    "copy a .checkpoint of another node here and keep its name. Choose one whose offset is"
    " not below the log's start and not beyond its end",
    references=(
        "KIP-630",
        "apache/kafka #12653",
        "apache/kafka #14919",
    ),
    remedy=Remedy.COPY_SNAPSHOT,
    keeps_from_starting=True,
)
AHEAD = _kind(
    "AHEAD",
    _WARNING,
    "The newest snapshot is beyond the end of the log: Kafka deletes the log when it next starts.",
    "verify the snapshot first. If it is bad, Kafka deletes the log and snapshots and then exits",
    references=("KIP-630",),
    remedy=Remedy.VERIFY_SNAPSHOT,
)
REPLAY = _kind(
    "REPLAY",
    _ERROR,
    "A record of a snapshot does not fit the records before it. A controller that loads it stops.",
    "replace it with the same .checkpoint of another node",
    remedy=Remedy.VERIFY_SNAPSHOT,
    stops_controller=True,
)

# Against the log around it.
LOG_EPOCH = _kind(
    "LOG-EPOCH",
    _ERROR,
    "The epoch in a snapshot's name differs from that of the last log record that the"
    " snapshot covers.",
    "snapshot and log have different histories. Compare both with another node's",
)
LOG_BOUNDARY = _kind(
    "LOG-BOUNDARY",
    _ERROR,
    "A snapshot ends in the middle of a batch of the log, where Kafka never ends one.",
    "it was renamed, or belongs to another log. Compare with another node's",
)
LOG_TIMESTAMP = _kind(
    "LOG-TIMESTAMP",
    _WARNING,
    "lastContainedLogTimestamp in the header is earlier than the last batch that the snapshot"
    " covers. No later batch of the same leader epoch has that timestamp either.",
    "snapshot and log may have different histories. Retention by time uses the header's timestamp",
    observed=(
        (
            "3.3.2 to 4.4.0: a snapshot that a leader writes may have the time of a later batch "
            "in its header. The batch's buffer is released after the append, and the time is read "
            "from it once the batch is committed. By then a later batch may use the buffer, one "
            "of the log or of a snapshot. On 4.3.0 and 3.9.1, with a follower that answers late, "
            "the time was 41 to 483 ms too late. It was that of the 1st to 12th batch after the "
            "last one covered. A follower reads its batches from the disk and writes the right "
            "time. kraftool allows each time that such a leader can have written, which is every "
            "later one."
        ),
    ),
)
LOG_VOTERS = _kind(
    "LOG-VOTERS",
    _ERROR,
    "The snapshot's kraft.version or voters differ from the log's at its offset. A node that"
    " starts from the snapshot has other voters than one that reads the log.",
    "do not let the node vote. Compare with another node's snapshot of that name",
    remedy=Remedy.COMPARE_VOTERS,
)

# What only a verification sees: the form of batches and records.
RECORD_FORM = _kind(
    "RECORD-FORM",
    _ERROR,
    "Kafka's raft reader refuses the form of a record. A node that loads the snapshot exits.",
    "replace it with the same .checkpoint of another node",
    stops_controller=True,
)
BATCH_FORM = _kind(
    "BATCH-FORM",
    _WARNING,
    "Kafka can read this batch, but never writes one like it into a snapshot.",
    "find out what wrote it. Compare with another node's snapshot of that name",
)
KRAFT_VERSION = _kind(
    "KRAFT-VERSION",
    _ERROR,
    "The snapshot's KRaftVersion is not one that Kafka writes, or does not fit its voters.",
    "a node that starts from it may know no voters. Compare with another node's snapshot",
)
VOTERS = _kind(
    "VOTERS",
    _ERROR,
    "The snapshot's voters are not a set that Kafka writes.",
    "do not let the node vote. Compare with another node's snapshot of that name",
)

# The records, each by itself and one after the other.
ORDER = _kind(
    "ORDER",
    _WARNING,
    "The records are in another order than Kafka writes them, with features before all others.",
    "find out what wrote the snapshot",
)
RECORD = _kind(
    "RECORD",
    _WARNING,
    "Kafka never writes a record like this into a snapshot. Kafka loads it, unless"
    " KT-SNAP-REPLAY reports it too.",
    "find out what wrote it. Compare with another node's snapshot of that name",
)
TWICE = _kind(
    "TWICE",
    _WARNING,
    "Two records of a snapshot are about the same thing. Kafka keeps the second.",
    "compare with another node's snapshot of that name",
)
METADATA_VERSION = _kind(
    "METADATA-VERSION",
    _ERROR,
    "The snapshot has no metadata.version. Without it Kafka cannot read or write its metadata.",
    "replace it with the same .checkpoint of another node",
    stops_controller=True,
)
FEATURE = _kind(
    "FEATURE",
    _WARNING,
    f"The snapshot has a feature level that no Kafka up to {NEWEST_RELEASE} has. A controller that"
    " does not know it stops.",
    "a newer Kafka wrote it, or it is damaged",
)
FALSE_UPGRADE = _kind(
    "FALSE-UPGRADE",
    _INFO,
    "The snapshot has a FeatureLevelRecord of kraft.version, as Kafka 3.9 writes one. Only control"
    " records count.",
)
PARTITION = _kind(
    "PARTITION",
    _WARNING,
    "A partition is in a state that no controller produces.",
    "compare with another node. A reassignment or election of the partition writes its state again",
)
BROKER_EPOCH = _kind(
    "BROKER-EPOCH",
    _WARNING,
    "A broker's epoch is the offset of its registration. It must be below the snapshot's"
    " offset, but is not.",
    "the snapshot was renamed, or belongs to another cluster's history",
)
BROKER_CONFIG = _kind(
    "BROKER-CONFIG",
    _ERROR,
    "A broker's config names a broker that is not a number. A controller of Kafka 4.3 that"
    " loads it stops; one of 3.9 continues.",
    "replace it with the same .checkpoint of another node",
    observed=("4.3.0: a controller stops. 3.9.1: it continues.",),
)
TOPIC_CONFIG = _kind(
    "TOPIC-CONFIG",
    _INFO,
    "There are configs of a topic that does not exist. Kafka leaves them if the topic and its"
    " configs were created and deleted between two snapshots. A new topic of that name gets"
    " them.",
    "create and delete the topic to remove them, or remember them when you create a topic of"
    " that name",
)

# Snapshots against each other, and against what the log makes of them.
EPOCH_BACK = _kind(
    "EPOCH-BACK",
    _ERROR,
    "A newer snapshot has a lower leader epoch, broker epoch or producer id than an older one.",
    "they have different histories. Compare both with another node's",
)
SCRAM_LOST = _kind(
    "SCRAM-LOST",
    _ERROR,
    "Users have SCRAM credentials in the log but not in the snapshot, because of a bug in"
    " Kafka up to 4.4. If a removal leaves a mechanism without users, Kafka also drops"
    " credentials that are added with it. A broker that starts from the snapshot does not"
    " know these users.",
    "set the passwords of these users again (kafka-configs.sh --alter --entity-type users). Do"
    " it before a broker restarts and before Kafka cleans the log",
    references=("KIP-900",),
    observed=(
        (
            "3.7.2, 3.9.1, 4.1.1, 4.3.0 and 4.4.0: the snapshots of eight directories lack a user "
            "whom their own log still has. Other nodes' snapshots of the same cluster have it."
        ),
        (
            "4.3.0: changes that are applied together are applied in the order of a hash map of "
            "the users' names, not of the log. A removal that leaves its mechanism without users "
            "at that moment takes the mechanism out of the new image. Users that come later in "
            "the map are lost with it. Over all pairs of four names, half of the pairs lose the "
            "user that stays, and the hashes of the names decide which half. If another user of "
            "the mechanism existed before, nothing is lost."
        ),
        (
            "4.3.0, a live broker: one request that deletes the last user of a mechanism and adds "
            "another is enough. Deleting bob and adding alice works; deleting alice and adding "
            "bob leaves no user. Kafka answers with success. The log has bob; the next snapshot "
            "does not."
        ),
        (
            "3.7.2: nodes of one cluster differ at one offset. One loaded the removal and the "
            "additions together, as at a start, and another one by one."
        ),
        (
            "From the source, not tried: a controller keeps its own list of credentials, and "
            "refuses to remove one that it does not have. One that loaded such a snapshot would "
            "stop at a later record that removes the user."
        ),
    ),
)
DIFFERS = _kind(
    "DIFFERS",
    _ERROR,
    "The snapshot has another state than the log's records produce at its offset.",
    "a node that starts from it continues with another state than the other nodes. Compare"
    " with theirs",
)
DIVERGED = _kind(
    "DIVERGED",
    _ERROR,
    "Two nodes' snapshots at the same offset have different states.",
    "run verify-snapshot --against with each directory's log to see which of them is right."
    " Keep copies of both before you start either node",
    stake=Stake.TWO_HISTORIES,
)
NOT_COMPARED = _kind(
    "NOT-COMPARED", _INFO, "kraftool could not compare a snapshot. It may be right or wrong."
)
NONE = _kind("NONE", _INFO, "There is nothing to verify: the directory has no snapshot of a state.")
