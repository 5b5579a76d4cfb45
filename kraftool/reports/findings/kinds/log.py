"""What can be odd in the log: its segments and the files that Kafka makes anew from them.

Owns codes, default severities and advice. It refuses what concerns a snapshot or a state file;
those are areas of their own.
"""

from __future__ import annotations

from kraftool.decoders.schema import NEWEST_RELEASE
from kraftool.reports.findings.finding import Remedy, Severity, Stake
from kraftool.reports.findings.kinds import Area

_kind = Area("KT-LOG").kind
_ERROR, _WARNING, _INFO = Severity.ERROR, Severity.WARNING, Severity.INFO
_KEEP = (
    "keep a copy before Kafka starts here: it cuts the log at the first bad batch, with only"
    " warnings in its own log, or wipes all of it if a snapshot lies beyond"
)

TORN_TAIL = _kind(
    "TORN-TAIL",
    _WARNING,
    "The log ends inside a batch, as after a crash or in a copy of a running node.",
    "nothing to do: Kafka cuts it off at its next start",
)
ZERO_TAIL = _kind(
    "ZERO-TAIL",
    _WARNING,
    "The log ends in zeros, as a file system leaves them after a power loss.",
    "Kafka cuts them off at its next start; other nodes tell whether records were lost with them",
)
DAMAGE = _kind(
    "DAMAGE",
    _ERROR,
    "Bytes in the log are no batch.",
    _KEEP,
    undecoded=True,
    remedy=Remedy.COPY_FIRST,
)
MAGIC = _kind(
    "MAGIC",
    _ERROR,
    "A batch has a magic that no Kafka knows, and its CRC fits, as after a flipped bit: no CRC"
    " covers the magic. Kafka does not cut the log there; it exits at its start.",
    "keep a copy. Where the magic is the only damage, writing 2 into that byte repairs the batch;"
    " else take the log of an intact node",
    undecoded=True,
    remedy=Remedy.COPY_FIRST,
)
CRC = _kind(
    "CRC",
    _ERROR,
    "A batch's bytes are not those that its CRC was made of.",
    _KEEP,
    undecoded=True,
    remedy=Remedy.COPY_FIRST,
)
RECORDS = _kind(
    "RECORDS",
    _ERROR,
    "The records of a batch cannot be told apart, or one cannot be decoded.",
    "kraftool explain FILE --position N shows the bytes",
    undecoded=True,
    remedy=Remedy.COPY_FIRST,
)
UNKNOWN_TYPE = _kind(
    "UNKNOWN-TYPE",
    _WARNING,
    f"A record type or version that no Kafka up to {NEWEST_RELEASE} writes.",
    "a newer Kafka wrote it, or it is damage; an older Kafka stops at it",
    undecoded=True,
)
EPOCH_BACK = _kind(
    "EPOCH-BACK",
    _ERROR,
    "A batch's leader epoch is below that of a batch before it, which Kafka never writes.",
    "do not trust the log from here on; compare with another node's",
    remedy=Remedy.TIMELINE,
)
GAP = _kind(
    "GAP",
    _ERROR,
    "Offsets do not follow on each other. Kafka checks each batch by itself, and does not notice"
    " most gaps.",
    "do not trust the log from here on; compare with another node's",
    remedy=Remedy.COPY_FIRST,
)
FILE_NAME = _kind(
    "FILE-NAME",
    _ERROR,
    "A segment's name says something else than its content.",
    "find out how it was renamed or edited before Kafka starts on it",
)
NAME = _kind(
    "NAME",
    _ERROR,
    "A file whose name ends like a segment's and begins with no offset: Kafka refuses to start.",
    "move it out of the directory",
    remedy=Remedy.MOVE_ASIDE,
)
NAME_FORM = _kind(
    "NAME-FORM",
    _ERROR,
    "A .log whose offset is not written as Kafka writes it: Kafka never reads it, but the segment"
    " of that offset. Where there is none it makes an empty one, and that may cost the whole log.",
    "move it out of the directory before Kafka starts there",
    remedy=Remedy.MOVE_ASIDE,
)
NOT_METADATA = _kind("NOT-METADATA", _INFO, "A segment of another topic than the metadata's.")
SWAP = _kind(
    "SWAP",
    _ERROR,
    "A segment's .swap file: Kafka makes a segment of it at its start, and the log then ends behind"
    " it. The metadata log never leaves such a file.",
    "move it out of the directory before Kafka starts there",
    remedy=Remedy.MOVE_ASIDE,
)
FALSE_UPGRADE = _kind(
    "FALSE-UPGRADE",
    _WARNING,
    "A FeatureLevelRecord claims a kraft.version that the control records do not have.",
    "the quorum still has static voters: leave controller.quorum.voters as it is, and upgrade"
    " kraft.version again from Kafka 4.1 on",
    references=(
        "KIP-853",
        "KIP-1022",
    ),
    remedy=Remedy.UPGRADE_KRAFT_VERSION,
)
TXN_OPEN = _kind(
    "TXN-OPEN",
    _WARNING,
    "A metadata transaction is open at the log's end; its records are not visible.",
    "the next active controller aborts it",
    references=("KIP-868",),
    remedy=Remedy.DUMP_TRANSACTION,
)
MISSING = _kind(
    "MISSING",
    _WARNING,
    "There are snapshots but no log: what came after them is gone.",
    "another node has the records; let this one fetch them rather than lead",
    remedy=Remedy.DESCRIBE_REPLICATION,
)
NONE = _kind(
    "NONE",
    _INFO,
    "There is no metadata log: the directory was never used, is one of several in log.dirs, or its"
    " metadata partition was removed.",
    "a directory that was never used needs nothing. But a voter whose log was here forgot its vote"
    " with it, and may vote twice in one epoch: before that starts, write quorum-state with the"
    " highest epoch of all voters + 1 and no vote",
)
INDEX = _kind(
    "INDEX",
    _WARNING,
    "An index is damaged.",
    "Kafka makes it anew at its start; if it happens again, look at the disk",
    undecoded=True,
)
PRODUCER_STATE = _kind(
    "PRODUCER-STATE",
    _WARNING,
    "A producer state snapshot is damaged; Kafka deletes it and reads the log instead.",
    undecoded=True,
)
REPLAY = _kind(
    "REPLAY",
    _ERROR,
    "A record does not fit the state before it: a controller that replays it stops.",
    "kraftool explain FILE --offset N shows it; replacing its batch by NoOps of the same offsets"
    " and epoch brings the controller back and keeps what follows, which cutting the log there"
    " would take away",
    remedy=Remedy.EXPLAIN_RECORD,
)

# What only a verification sees.
RECORD_FORM = _kind(
    "RECORD-FORM",
    _ERROR,
    "A record has a form that Kafka's raft reader refuses: every node that reads it dies.",
    "kraftool explain FILE --position N shows the bytes; take the log of an intact node",
)
BATCH_FORM = _kind(
    "BATCH-FORM",
    _WARNING,
    "A batch that Kafka can read, and that no KRaft leader writes.",
    "find out what wrote it; compare with another node's log",
)
EPOCH_START = _kind(
    "EPOCH-START",
    _INFO,
    "A leader's first batch is a LeaderChange; an epoch begins here without one.",
    "batches that a recovery tool appended look like this, and so does one with a flipped bit: no"
    " CRC covers the epoch, and Kafka believes it in elections. Compare with another node's log",
)
TWO_LEADERS = _kind(
    "TWO-LEADERS",
    _ERROR,
    "Two LeaderChange records name different leaders of one epoch, which the protocol rules out.",
    "a voter forgot its vote, or a log was edited: compare all nodes' logs before any of them runs",
    remedy=Remedy.TIMELINE,
)
VOTERS = _kind(
    "VOTERS",
    _ERROR,
    "A KRaftVoters record that no Kafka writes.",
    "kraftool dump-log --type KRaftVoters shows the history; compare with another node's",
)
VOTERS_JUMP = _kind(
    "VOTERS-JUMP",
    _WARNING,
    "One record changes several voters at once, or swaps one for another, which no add, remove or"
    " update of Kafka does: the majorities of the two sets need not overlap.",
    "it was written by hand, as after a lost majority. Nodes of the set before it that do not have"
    " it can elect among themselves and commit other records: do not let any of them start with its"
    " old directory, or, if they are the healthy ones, not the node that has the record",
    references=(
        "KIP-853",
        "apache/kafka #17728",
    ),
    remedy=Remedy.COMPARE_VOTERS,
)
KRAFT_VERSION = _kind(
    "KRAFT-VERSION",
    _ERROR,
    "The kraft.version of the control records goes back, or has a level that Kafka does not have.",
    "compare with another node's log",
)
INDEX_DIFFERS = _kind(
    "INDEX-DIFFERS",
    _WARNING,
    "An index does not fit the batches of its segment, so that reads may begin at a wrong place.",
    "Kafka makes it anew at its start; if it happens again, look at the disk",
)
PRODUCERS = _kind(
    "PRODUCERS",
    _WARNING,
    "Files beside the metadata log tell of producers, which it never has.",
    "the file is another partition's: find out how it came here",
)
NOT_CHECKED = _kind("NOT-CHECKED", _INFO, "What was not checked may be right or wrong.")
DIVERGED = _kind(
    "DIVERGED",
    _ERROR,
    "Two nodes have different records at the same offset.",
    "normal for a node that led last and lost it (then no error): it cuts its log when it fetches"
    " from the next leader. If records of the side that gives way were committed, they are lost:"
    " keep a copy of both directories before either node starts",
    stake=Stake.TWO_HISTORIES,
)
