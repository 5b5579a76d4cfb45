"""What can be odd about snapshots: each by itself, and against the log around it.

Owns codes, default severities and advice. It refuses to say which snapshot Kafka would take.
"""

from __future__ import annotations

from kraftool.decoders.schema import NEWEST_RELEASE
from kraftool.reports.findings.finding import Remedy, Severity, Stake
from kraftool.reports.findings.kinds import Area

_kind = Area("KT-SNAP").kind
_ERROR, _WARNING, _INFO = Severity.ERROR, Severity.WARNING, Severity.INFO

DAMAGE = _kind(
    "DAMAGE",
    _ERROR,
    "A snapshot is damaged.",
    undecoded=True,
    references=("KIP-630",),
    remedy=Remedy.VERIFY_SNAPSHOT,
)
FORM = _kind(
    "FORM",
    _ERROR,
    "A snapshot is not made up as Kafka makes them: it may be cut short.",
    remedy=Remedy.VERIFY_SNAPSHOT,
)
FILE_NAME = _kind(
    "FILE-NAME",
    _ERROR,
    "A snapshot's name says something else than its content.",
    "find out how it was renamed or edited before Kafka starts on it",
    remedy=Remedy.VERIFY_SNAPSHOT,
)
NAME = _kind(
    "NAME",
    _ERROR,
    "A .checkpoint whose name has no offset and epoch: Kafka refuses to start.",
    "move it out of the directory",
    remedy=Remedy.MOVE_ASIDE,
)
UNKNOWN_TYPE = _kind(
    "UNKNOWN-TYPE",
    _WARNING,
    f"A snapshot has a record type or version that no Kafka up to {NEWEST_RELEASE} writes.",
    "a newer Kafka wrote it, or it is damage; an older Kafka stops at it",
    undecoded=True,
)
MISSING = _kind(
    "MISSING",
    _ERROR,
    "The log does not begin at 0 and no snapshot covers its start: Kafka refuses to start.",
    "copy a .checkpoint of another node here, with its name: one whose offset is neither below the"
    " log's start nor beyond its end",
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
    "The newest snapshot is beyond the log: Kafka wipes the log at its next start.",
    "verify the snapshot first: on a bad one Kafka dies after it has wiped log and snapshots",
    references=("KIP-630",),
    remedy=Remedy.VERIFY_SNAPSHOT,
)
REPLAY = _kind(
    "REPLAY",
    _ERROR,
    "A record of a snapshot does not fit the ones before it: a controller that loads it stops.",
    "put the same .checkpoint of another node in its place",
    remedy=Remedy.VERIFY_SNAPSHOT,
)

# Against the log around it.
LOG_EPOCH = _kind(
    "LOG-EPOCH",
    _ERROR,
    "A snapshot's name has another epoch than the log's last record that it covers.",
    "snapshot and log are of different histories: compare both with another node's",
)
LOG_BOUNDARY = _kind(
    "LOG-BOUNDARY",
    _ERROR,
    "A snapshot ends in the middle of a batch of the log, where Kafka never ends one.",
    "it was renamed, or belongs to another log: compare with another node's",
)
LOG_TIMESTAMP = _kind(
    "LOG-TIMESTAMP",
    _WARNING,
    "The header's lastContainedLogTimestamp is earlier than the time of the last batch that the"
    " snapshot covers, and no later batch of the same leader epoch has it.",
    "snapshot and log may be of different histories; retention by time counts from the header",
)
LOG_VOTERS = _kind(
    "LOG-VOTERS",
    _ERROR,
    "The snapshot's kraft.version or voters are not those of the log at its offset: a node that"
    " starts from it knows other voters than one that reads the log.",
    "do not let the node vote; compare with another node's snapshot of that name",
    remedy=Remedy.COMPARE_VOTERS,
)

# What only a verification sees: the form of batches and records.
RECORD_FORM = _kind(
    "RECORD-FORM",
    _ERROR,
    "A record has a form that Kafka's raft reader refuses: a node that loads the snapshot dies.",
    "put the same .checkpoint of another node in its place",
)
BATCH_FORM = _kind(
    "BATCH-FORM",
    _WARNING,
    "A batch that Kafka can read, and that it never writes into a snapshot.",
    "find out what wrote it; compare with another node's snapshot of that name",
)
KRAFT_VERSION = _kind(
    "KRAFT-VERSION",
    _ERROR,
    "The snapshot's KRaftVersion is none that Kafka writes, or does not go with its voters.",
    "a node that starts from it may know no voters; compare with another node's snapshot",
)
VOTERS = _kind(
    "VOTERS",
    _ERROR,
    "The snapshot's voters are none that Kafka writes.",
    "do not let the node vote; compare with another node's snapshot of that name",
)

# The records, each by itself and one after the other.
ORDER = _kind(
    "ORDER",
    _WARNING,
    "Records stand in another order than Kafka writes them in, features before all others.",
    "find out what wrote the snapshot",
)
RECORD = _kind(
    "RECORD",
    _WARNING,
    "A record that Kafka never writes into a snapshot. Kafka loads it, unless KT-SNAP-REPLAY"
    " reports it too.",
    "find out what wrote it; compare with another node's snapshot of that name",
)
TWICE = _kind(
    "TWICE",
    _WARNING,
    "Two records of a snapshot are about the same thing; Kafka keeps the second.",
    "compare with another node's snapshot of that name",
)
METADATA_VERSION = _kind(
    "METADATA-VERSION",
    _ERROR,
    "Without a metadata.version Kafka does not know how to read or write its metadata.",
    "put the same .checkpoint of another node in its place",
)
FEATURE = _kind(
    "FEATURE",
    _WARNING,
    f"A feature level that no Kafka up to {NEWEST_RELEASE} has: a controller that does not know it"
    " stops.",
    "a newer Kafka wrote it, or it is damage",
)
FALSE_UPGRADE = _kind(
    "FALSE-UPGRADE",
    _INFO,
    "A FeatureLevelRecord of kraft.version, as Kafka 3.9 writes; only control records count.",
)
PARTITION = _kind(
    "PARTITION",
    _WARNING,
    "A partition is in a state that no controller brings about.",
    "compare with another node; a reassignment or election of it writes the state anew",
)
BROKER_EPOCH = _kind(
    "BROKER-EPOCH",
    _WARNING,
    "A broker's epoch is the offset of its registration, which has to lie below the snapshot's.",
    "the snapshot was renamed, or is of another cluster's history",
)
BROKER_CONFIG = _kind(
    "BROKER-CONFIG",
    _ERROR,
    "A broker's config whose broker is no number: a controller of Kafka 4.3 that loads it stops,"
    " one of 3.9 goes on.",
    "put the same .checkpoint of another node in its place",
)
TOPIC_CONFIG = _kind(
    "TOPIC-CONFIG",
    _INFO,
    "Configs of a topic that does not exist. Kafka leaves them behind where topic and configs came"
    " and went between two snapshots; a new topic of that name begins with them.",
    "create and delete the topic to be rid of them, or mind them when one of that name is made",
)

# Snapshots against each other, and against what the log makes of them.
EPOCH_BACK = _kind(
    "EPOCH-BACK",
    _ERROR,
    "A newer snapshot has a lower leader epoch, broker epoch or producer id than an older one.",
    "they are of different histories: compare both with another node's",
)
SCRAM_LOST = _kind(
    "SCRAM-LOST",
    _ERROR,
    "Users who have SCRAM credentials in the log have none in the snapshot, by an error of Kafka up"
    " to 4.4: a removal that leaves a mechanism without users takes others along that are added"
    " with it. A broker that starts from the snapshot does not know them.",
    "give these users their passwords again (kafka-configs --alter --entity-type users), before a"
    " broker restarts and before the log is cleaned",
    references=("KIP-900",),
)
DIFFERS = _kind(
    "DIFFERS",
    _ERROR,
    "The snapshot holds another state than the log's records make at its offset.",
    "a node that starts from it goes on with another state than the others; compare with theirs",
)
DIVERGED = _kind(
    "DIVERGED",
    _ERROR,
    "Two nodes' snapshots of one offset hold different states.",
    "verify-snapshot --against each directory's log tells which of them is right; keep copies"
    " of both before either node starts",
    stake=Stake.TWO_HISTORIES,
)
NOT_COMPARED = _kind(
    "NOT-COMPARED", _INFO, "A snapshot that could not be compared may be right or wrong."
)
NONE = _kind("NONE", _INFO, "A directory without a snapshot of a state has nothing to verify.")
