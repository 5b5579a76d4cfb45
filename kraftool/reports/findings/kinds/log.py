"""Problems of the log: its segments and the files that Kafka recreates from them.

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
    "keep a copy before you start Kafka here. Kafka cuts the log at the first bad batch, or"
    " deletes all of it if a snapshot is beyond the log. It only writes warnings to its own"
    " log"
)

TORN_TAIL = _kind(
    "TORN-TAIL",
    _WARNING,
    "The log ends inside a batch, as after a crash or in a copy of a running node.",
    "nothing to do: Kafka cuts it off when it next starts",
)
END_LOST = _kind(
    "END-LOST",
    _WARNING,
    "Other files name offsets beyond the end of the log: the log lost its end, with records that"
    " this node may have confirmed. A crash, or a copy of a running node, can look the same.",
    "look for the missing segment before you start the node: Kafka deletes these traces when it"
    " starts. If the segment is gone, let another node lead that has the records",
)
ZERO_TAIL = _kind(
    "ZERO-TAIL",
    _WARNING,
    "The log ends in zeros. A file system can leave zeros after a power loss.",
    "Kafka cuts them off when it next starts. Compare with other nodes to see whether records"
    " were lost",
)
DAMAGE = _kind(
    "DAMAGE",
    _ERROR,
    "Bytes in the log are not a batch.",
    _KEEP,
    undecoded=True,
    remedy=Remedy.COPY_FIRST,
)
MAGIC = _kind(
    "MAGIC",
    _ERROR,
    "No Kafka version uses this batch's magic, but its CRC is correct. A flipped bit can do that:"
    " the CRC does not cover the magic. Kafka does not cut the log there. It exits when it starts.",
    "keep a copy. If the magic is the only damage, write 2 into that byte to repair the"
    " batch. Otherwise use the log of an intact node",
    undecoded=True,
    remedy=Remedy.COPY_FIRST,
    keeps_from_starting=True,
    observed=(
        (
            "3.9.1 and 4.3.0: recovery ignores a magic above 2 where all else is whole, and the "
            "start fails with Invalid magic found in record. Nothing is cut."
        ),
    ),
)
CRC = _kind(
    "CRC",
    _ERROR,
    "The bytes of a batch do not match its CRC.",
    _KEEP,
    undecoded=True,
    remedy=Remedy.COPY_FIRST,
    observed=(
        (
            "3.9.1 and 4.3.0: Kafka cuts the log at a batch with a wrong CRC, and deletes later "
            "segments. It does the same at zeros, a magic of 0 or 1, and a wrong length. Kafka "
            "logs two warnings and no error. If the newest snapshot is beyond the cut, the whole "
            "log and all older snapshots are deleted too."
        ),
        (
            "3.9.1 and 4.3.0, in a segment that is not the last and has a missing or damaged "
            ".index: Kafka cuts only this segment. Records are then missing in the middle, and a "
            "controller may stop at a later record."
        ),
    ),
)
RECORDS = _kind(
    "RECORDS",
    _ERROR,
    "The records of a batch cannot be separated, or one of them cannot be decoded.",
    "look at the bytes with kraftool explain",
    undecoded=True,
    remedy=Remedy.COPY_FIRST,
)
UNKNOWN_TYPE = _kind(
    "UNKNOWN-TYPE",
    _WARNING,
    f"A record has a type or version that no Kafka up to {NEWEST_RELEASE} writes.",
    "a newer Kafka wrote it, or it is damaged. An older Kafka stops at it",
    undecoded=True,
)
EPOCH_BACK = _kind(
    "EPOCH-BACK",
    _ERROR,
    "The leader epoch of a batch is lower than that of an earlier batch. Kafka never writes that.",
    "do not trust the log from here on. Compare it with another node's log",
    remedy=Remedy.TIMELINE,
)
GAP = _kind(
    "GAP",
    _ERROR,
    "Offsets are not consecutive. Kafka checks each batch on its own and does not notice most"
    " gaps.",
    "do not trust the log from here on. Compare it with another node's log",
    remedy=Remedy.COPY_FIRST,
    observed=(
        (
            "4.3.0, a sole voter without the offsets 188 to 195, in a log up to 212: Kafka cuts "
            "nothing and logs nothing. It checks the size and the CRC of each batch by itself. "
            "The controller became leader, and appended 213 to 250 behind the gap. A batch that "
            "is there twice is not noticed either."
        ),
        (
            "4.3.0, with the first half of a segment twice: Kafka recreates the offset index when "
            "it starts. If an entry is not above the one before it, Kafka empties the segment and "
            "deletes those after it, with a warning. Entries are about 4 KiB apart, so small "
            "steps back escape it."
        ),
        (
            "3.9.1 and 4.3.0, with one bit of a base offset set: an offset more than 2^31 - 1 "
            "above the segment's name stops the start."
        ),
    ),
)
FILE_NAME = _kind(
    "FILE-NAME",
    _ERROR,
    "A segment's name does not match its content.",
    "find out how it was renamed or edited before you start Kafka on it",
)
NAME = _kind(
    "NAME",
    _ERROR,
    "A file name ends like a segment's but does not begin with an offset: Kafka refuses to start.",
    "move it out of the directory",
    remedy=Remedy.MOVE_ASIDE,
    keeps_from_starting=True,
    observed=(
        (
            "4.3.0: notes.log, notes.index or notes.snapshot in __cluster_metadata-0 stops the "
            'start with NumberFormatException: For input string: "notes". So does '
            '"00000000000000000000 (copy).log", and notes.checkpoint with another exception.'
        ),
    ),
)
NAME_FORM = _kind(
    "NAME-FORM",
    _ERROR,
    "Kafka would write the offset in this .log name in another form. It ignores this file and"
    " opens the segment with the correct name instead. If there is none, Kafka creates an"
    " empty one, and that may cost the whole log.",
    "move it out of the directory before you start Kafka there",
    remedy=Remedy.MOVE_ASIDE,
    observed=(
        (
            "4.3.0: 0.log and 00000000000000000000.old.log next to the first segment change "
            "nothing. 5.log does if there is no segment 5: Kafka creates an empty one, and "
            "mistakes its end for the log's. It finds the snapshots beyond it, deletes all "
            "segments and continues from the newest snapshot, with only INFO lines. -5.log makes "
            "it write a segment -00000000000000000005.log."
        ),
    ),
)
NOT_METADATA = _kind(
    "NOT-METADATA",
    _INFO,
    "A segment belongs to another topic than the metadata topic.",
    concerns_voters=False,
)
SWAP = _kind(
    "SWAP",
    _ERROR,
    "A segment has a .swap file. When Kafka starts, it makes a segment of it, and the log"
    " then ends after that segment. The metadata log never leaves such a file.",
    "move it out of the directory before you start Kafka there",
    remedy=Remedy.MOVE_ASIDE,
    observed=(
        (
            "3.9.1 and 4.3.0: Kafka makes a segment of 00000000000000000779.log.swap. The log "
            "then ends at its offset, and a sole controller does not become leader."
        ),
    ),
)
FALSE_UPGRADE = _kind(
    "FALSE-UPGRADE",
    _WARNING,
    "A FeatureLevelRecord names a kraft.version that the control records do not have.",
    "the quorum still has static voters. Keep controller.quorum.voters as it is, and upgrade"
    " kraft.version again with Kafka 4.1 or later",
    references=(
        "KIP-853",
        "KIP-1022",
    ),
    remedy=Remedy.UPGRADE_KRAFT_VERSION,
    observed=(
        (
            "3.9.1: `kafka-features upgrade --feature kraft.version=1` on a static quorum reports "
            "success but writes only FeatureLevelRecord(kraft.version=1), and no control record: "
            "the quorum stays static. Afterwards, replacing controller.quorum.voters with "
            "controller.quorum.bootstrap.servers stopped a broker."
        ),
        (
            "4.1.1 and later: kraft.version 0 to 1 works, but is refused for some seconds after "
            'the start with "not all of the voters support it".'
        ),
    ),
)
TXN_OPEN = _kind(
    "TXN-OPEN",
    _WARNING,
    "A metadata transaction is open at the end of the log. Its records are not visible.",
    "the next active controller aborts it",
    references=("KIP-868",),
    remedy=Remedy.DUMP_TRANSACTION,
    concerns_voters=False,
)
BEGINS_LATER = _kind(
    "BEGINS-LATER",
    _WARNING,
    "The log begins later than the range that you asked for. A snapshot has the result of the older"
    " records, but neither the records nor their times.",
    "read the directory of another controller, or an older copy",
    undecoded=True,
)
MISSING = _kind(
    "MISSING",
    _WARNING,
    "There is no log, but snapshots or other files show that there was one. The records after the"
    " snapshots are gone. Kafka starts with an empty log. If the node is a voter, its vote can then"
    " elect a leader that lacks committed records.",
    "look for the .log files before you start the node: Kafka deletes other traces of them when it"
    " starts. If they are gone, start the node only after the others have a leader, and let it"
    " fetch the records",
    remedy=Remedy.DESCRIBE_REPLICATION,
)
NONE = _kind(
    "NONE",
    _INFO,
    "There is no metadata log: the directory was never used, is one of several in log.dirs,"
    " or somebody removed its metadata partition.",
    "a directory that was never used needs nothing. If it is one of several in log.dirs, give the"
    " one with the metadata, or server.properties. But if a voter's log was here, the voter"
    " forgot its vote with it and may vote twice in one epoch. Before that voter starts,"
    " write quorum-state with the highest epoch of all voters + 1 and no vote",
)
INDEX = _kind(
    "INDEX",
    _WARNING,
    "An index is damaged.",
    "Kafka recreates it when it starts. If it happens again, check the disk",
    undecoded=True,
    observed=(
        (
            "3.9.1 and 4.3.0: Kafka recreates .index and .timeindex at every start, also where "
            "entries are missing at the end or zeros are in their place."
        ),
    ),
    concerns_voters=False,
)
PRODUCER_STATE = _kind(
    "PRODUCER-STATE",
    _WARNING,
    "A producer state snapshot is damaged. Kafka deletes it and reads the log instead.",
    "nothing to do",
    undecoded=True,
    concerns_voters=False,
)
REPLAY = _kind(
    "REPLAY",
    _ERROR,
    "A record does not fit the state before it. A controller that replays it stops.",
    "look at the record with kraftool explain. To bring the controller back, replace"
    " the record's batch with NoOps at the same offsets and epoch. That keeps the records"
    " that follow. Cutting the log there would lose them",
    remedy=Remedy.EXPLAIN_RECORD,
    stops_controller=True,
)

# What only a verification sees.
RECORD_FORM = _kind(
    "RECORD-FORM",
    _ERROR,
    "Kafka's raft reader refuses the form of a record. Every node that reads it exits.",
    "look at the bytes with kraftool explain, and use the log of an intact node",
    stops_controller=True,
)
BATCH_FORM = _kind(
    "BATCH-FORM",
    _WARNING,
    "Kafka can read this batch, but no KRaft leader writes one like it.",
    "find out what wrote it, and compare with another node's log",
)
EPOCH_START = _kind(
    "EPOCH-START",
    _INFO,
    "An epoch begins here without a LeaderChange. Every leader's first batch is one.",
    "batches that a recovery tool appended look like this. So does a batch with a flipped"
    " bit: no CRC covers the epoch, and Kafka trusts it in elections. Compare with another"
    " node's log",
)
TWO_LEADERS = _kind(
    "TWO-LEADERS",
    _ERROR,
    "Two LeaderChange records name different leaders for one epoch. The protocol makes that"
    " impossible.",
    "a voter forgot its vote, or somebody edited a log. Compare all nodes' logs before you"
    " start any of them",
    remedy=Remedy.TIMELINE,
)
VOTERS = _kind(
    "VOTERS",
    _ERROR,
    "A KRaftVoters record is not one that Kafka writes.",
    "run kraftool dump-log --type KRaftVoters to see the history, and compare with another node's",
)
VOTERS_JUMP = _kind(
    "VOTERS-JUMP",
    _WARNING,
    "One record changes several voters at once, or replaces one with another. No add, remove"
    " or update in Kafka does that. The majorities of the two voter sets need not overlap.",
    "it was written by hand, as after a lost majority. Nodes of the earlier set that do not"
    " have this record can elect a leader among themselves and commit other records. Do not"
    " start any of them with its old directory. If those nodes are the healthy ones, do not"
    " start the node that has the record",
    references=(
        "KIP-853",
        "apache/kafka #17728",
    ),
    remedy=Remedy.COMPARE_VOTERS,
)
KRAFT_VERSION = _kind(
    "KRAFT-VERSION",
    _ERROR,
    "The control records set kraft.version to a lower level, or to one that Kafka does not have.",
    "compare with another node's log",
)
INDEX_DIFFERS = _kind(
    "INDEX-DIFFERS",
    _WARNING,
    "An index does not match the batches of its segment, so reads may begin at a wrong place.",
    "Kafka recreates it when it starts. If it happens again, check the disk",
    concerns_voters=False,
)
PRODUCERS = _kind(
    "PRODUCERS",
    _WARNING,
    "Files next to the metadata log are about producers. The metadata log never has producers.",
    "the file belongs to another partition: find out how it came here",
)
NOT_CHECKED = _kind("NOT-CHECKED", _INFO, "kraftool did not check this. It may be right or wrong.")
DIVERGED = _kind(
    "DIVERGED",
    _ERROR,
    "Two nodes have different records at the same offset.",
    "normal for a leader that lost the leadership (then not an error): it"
    " truncates its log when it fetches from the next leader. If records on the side that is"
    " truncated were committed, they are lost. Keep a copy of both directories before you start"
    " either node",
    stake=Stake.TWO_HISTORIES,
)
