"""Failure signatures: what several findings together, or a value beside another, tell `doctor`.

Owns codes, default severities and advice of causes. It refuses the single facts that a signature
is made of; those have codes in the other areas.
"""

from __future__ import annotations

from kraftool.reports.findings.finding import Severity, Stake
from kraftool.reports.findings.kinds import Area

AREA = Area("KT-SIG")
_kind = AREA.kind
_ERROR, _WARNING, _INFO = Severity.ERROR, Severity.WARNING, Severity.INFO

# The quorum: who votes, and whether the voters can reach each other.
TWO_FORMATS = _kind(
    "TWO-FORMATS",
    _ERROR,
    "Nodes of one cluster id were formatted with different first voters: they are separate quorums"
    " that take each other for their own, and never agree.",
    "keep the quorum whose metadata is wanted; format the other controllers anew, with the same"
    " --initial-controllers or with --no-initial-controllers, and add them one by one",
    stake=Stake.TWO_HISTORIES,
    references=(
        "KIP-853",
        "apache/kafka #20136",
    ),
)
NO_MAJORITY = _kind(
    "NO-MAJORITY",
    _ERROR,
    "Every voter's directory was given, and with a majority of them Kafka cannot vote: no leader"
    " can be elected.",
    "mend the voters named until a majority can vote; until then neither add-controller nor"
    " remove-controller works, since both need a leader",
    stake=Stake.NO_QUORUM,
    references=(
        "KIP-595",
        "KIP-853",
    ),
)
WIPED_VOTER = _kind(
    "WIPED-VOTER",
    _ERROR,
    "A voter's directory has no metadata log, while other nodes have one: the vote that it gave is"
    " forgotten with it, and it may vote twice in one epoch.",
    "look for its own disk or another mount first; else write quorum-state with the highest epoch"
    " of all voters + 1 and no vote before it starts",
    stake=Stake.TWO_HISTORIES,
)
FORGOTTEN_VOTE = _kind(
    "FORGOTTEN-VOTE",
    _ERROR,
    "A voter's quorum-state is of an earlier epoch than one that it led or gave its vote in: an"
    " older copy took the place of its directory. The vote is forgotten, and the node may vote"
    " twice in one epoch; what its log lacks may be missing too.",
    "do not start it so: put its own, newer directory back. Where there is none, write quorum-state"
    " with the highest epoch of all voters + 1 and no vote before it starts. Of directories that"
    " were copied one after the other from running nodes, copy this one again",
    stake=Stake.TWO_HISTORIES,
    references=(
        "KIP-595",
        "KIP-853",
    ),
)
DOUBLE_VOTE = _kind(
    "DOUBLE-VOTE",
    _ERROR,
    "A voter gave its vote twice in one epoch, by its quorum-state and by a LeaderChange: it had"
    " forgotten the first one, or a file was edited. Two leaders of that epoch are possible.",
    "stop all controllers and keep a copy of every directory; compare all logs of that epoch before"
    " any node starts",
    stake=Stake.TWO_HISTORIES,
    references=("KIP-595",),
)
AUTO_JOIN = _kind(
    "AUTO-JOIN",
    _WARNING,
    "A controller that was removed from the voters has controller.quorum.auto.join.enable=true:"
    " while it runs it adds itself again, within seconds.",
    "stop that controller, or set controller.quorum.auto.join.enable=false on it, before"
    " remove-controller",
    stake=Stake.TWO_HISTORIES,
    references=(
        "KIP-853",
        "apache/kafka #19589",
        "apache/kafka #20859",
        "apache/kafka #21025",
    ),
)
MIGRATION_ORDER = _kind(
    "MIGRATION-ORDER",
    _ERROR,
    "At kraft.version 0 the setting controller.quorum.voters is the voter set, and this node has"
    " lost it: bootstrap servers replace it only once kraft.version is 1.",
    "put controller.quorum.voters back, start all controllers, upgrade kraft.version, check it,"
    " and only then replace the setting",
    stake=Stake.NO_QUORUM,
    references=(
        "KIP-853",
        "apache/kafka #20071",
    ),
)
UPGRADE_DIRECTORY_ID = _kind(
    "UPGRADE-DIRECTORY-ID",
    _WARNING,
    "A voter of a static quorum has no directory.id in meta.properties: kraft.version cannot be"
    " upgraded to 1 while any voter lacks it.",
    "start that node once with Kafka 3.7 or later, which writes one",
    references=(
        "KIP-853",
        "KIP-858",
    ),
)
LOCAL_ENDPOINT = _kind(
    "LOCAL-ENDPOINT",
    _WARNING,
    "A voter's endpoint is an address of the machine itself, as it is recorded where"
    " advertised.listeners was missing: no other node reaches this voter there.",
    "set advertised.listeners on that node and restart it: at kraft.version 1 it tells the leader"
    " its new endpoint by itself",
    references=(
        "KIP-853",
        "apache/kafka #18350",
        "apache/kafka #22531",
    ),
)
SAME_ENDPOINT = _kind(
    "SAME-ENDPOINT",
    _ERROR,
    "Two voters have one endpoint: requests for one of them reach the other, which refuses them.",
    "give each controller an endpoint of its own in advertised.listeners",
    references=("KIP-853",),
)
ODD_ENDPOINT = _kind(
    "ODD-ENDPOINT",
    _WARNING,
    "A voter's endpoint is none that can be reached: the wildcard address, no port, or a host name"
    " that no resolver takes.",
    "set advertised.listeners on that node to a name that the other nodes resolve, and restart it",
    references=(
        "KIP-853",
        "apache/kafka #22531",
    ),
)
VOTER_LISTENER = _kind(
    "VOTER-LISTENER",
    _ERROR,
    "A voter has no endpoint for the first of controller.listener.names: a node that has to send"
    " to this voter stops with an error.",
    "use the same controller.listener.names on all nodes, its first entry being the one that the"
    " voters are recorded with",
    references=("KIP-853",),
)
SPLIT_BRAIN = _kind(
    "SPLIT-BRAIN",
    _ERROR,
    "Two nodes lead, or led, in one epoch: one of them had forgotten its vote, or its log was"
    " edited. Each may have answered clients for records that the other does not have.",
    "stop all controllers and keep a copy of every directory; let only nodes of one side start",
    stake=Stake.TWO_HISTORIES,
    references=("KIP-595",),
)
SAME_PLACE = _kind(
    "SAME-PLACE",
    _ERROR,
    "Two logs have different bytes at the same offset and epoch. Kafka compares only these two"
    " numbers, so it never notices, and the nodes have different metadata from there on.",
    "choose one side, and let it have a leader; then on the nodes of the other, one after the other"
    " and with Kafka stopped, move all of __cluster_metadata-0 but quorum-state away (not"
    " meta.properties), so that they fetch everything anew",
    stake=Stake.TWO_HISTORIES,
    references=("KIP-595",),
)

COMMITTED_MINORITY = _kind(
    "COMMITTED-MINORITY",
    _ERROR,
    "Records that are committed, as a snapshot proves or a log that begins beyond them, are in"
    " fewer than a majority of the voters' directories: the others can elect a leader without them,"
    " and a node that follows it cuts them off, with only INFO lines in its own log.",
    "do not start the others without a voter that has the records; keep a copy of its directory"
    " first",
    stake=Stake.TWO_HISTORIES,
)
OLD_MAJORITY = _kind(
    "OLD-MAJORITY",
    _ERROR,
    "A majority of an earlier voter set has directories that know nothing of the later ones: these"
    " nodes can elect a leader beside the voters of now, and both sides commit other records.",
    "start the voters of now first; put the directories of nodes that were removed away",
    stake=Stake.TWO_HISTORIES,
)
WHOLE_COPY = _kind(
    "WHOLE-COPY",
    _INFO,
    "Logs are damaged at a place of which other directories show who has it whole.",
    "keep a copy of what is whole before any node starts: Kafka cuts a log at its damage at every"
    " start, and a majority of such logs goes on without what came after it",
    stake=Stake.LOST_DATA,
)

# Elections.
ELECTIONS = _kind(
    "ELECTIONS",
    _WARNING,
    "The leader changes often: controllers are too slow to answer in time (garbage collection,"
    " disk, network), or restart.",
    "look at GC pauses, disk latency and the network between the controllers; raise"
    " controller.quorum.fetch.timeout.ms only after that",
    references=(
        "KIP-595",
        "KIP-996",
    ),
)
FAILED_ELECTIONS = _kind(
    "FAILED-ELECTIONS",
    _WARNING,
    "Epochs were used up without a leader: elections that nobody won, one after the other.",
    "fewer than a majority could be reached in that time, or two candidates kept splitting the"
    " vote; look at the network and at the clocks of the logs of all controllers then",
    references=(
        "KIP-595",
        "KIP-996",
    ),
)
NO_LEADER = _kind(
    "NO-LEADER",
    _ERROR,
    "quorum-state is many epochs beyond the log: this node has been electing for long and found"
    " no majority. Kafka says nothing about it, it only tries again.",
    "start the other voters, or find out why they do not answer: endpoints, certificates, cluster"
    " id, a directory that was formatted anew",
    stake=Stake.NO_QUORUM,
    references=(
        "KIP-595",
        "KIP-996",
    ),
)
LAG = _kind(
    "LAG",
    _WARNING,
    "A node's log ends more than 1000 records before another's in the same epoch: it does not keep"
    " up, or its directory was copied earlier.",
    "look at its disk and network; do not restart the others before it has caught up",
)

# Snapshots.
NO_SNAPSHOT = _kind(
    "NO-SNAPSHOT",
    _WARNING,
    "There is no snapshot though the log is long enough for several: generating them fails, or was"
    " switched off by a metadata fault. The log is never cleaned, and each start reads all of it.",
    "look for errors of SnapshotGenerator and SnapshotEmitter in this node's log; a restart"
    " switches generation on again",
    references=(
        "KIP-630",
        "KIP-876",
    ),
)
OLD_SNAPSHOT = _kind(
    "OLD-SNAPSHOT",
    _WARNING,
    "The newest snapshot is far older than the settings allow: generating them has stopped, as"
    " after a fault while metadata was loaded.",
    "look for errors of SnapshotGenerator and SnapshotEmitter in this node's log; a restart"
    " switches generation on again",
    references=(
        "KIP-630",
        "KIP-876",
    ),
)
SNAPSHOT_ATTEMPTS = _kind(
    "SNAPSHOT-ATTEMPTS",
    _WARNING,
    "Several unfinished snapshots are left: writing or fetching one fails again and again, as on a"
    " full disk. Kafka removes them when it starts.",
    "look at free space and errors of the disk, then restart this node",
)
JUNK_SNAPSHOT = _kind(
    "JUNK-SNAPSHOT",
    _ERROR,
    "A snapshot that cannot be loaded is named beyond the log: at its next start Kafka deletes the"
    " log and all older snapshots for it, and then dies on it.",
    "do not start Kafka before this file is out of the folder, nor let the node vote before its log"
    " was compared with the other voters': where the snapshot was real, the log lacks what it held."
    " Another node's checkpoint that fits the log is the better way",
    references=("KIP-630",),
)
STALE_SNAPSHOT = _kind(
    "STALE-SNAPSHOT",
    _ERROR,
    "A snapshot of an earlier epoch lies beyond the log's end, as after the log was truncated by a"
    " recovery. Kafka keeps the log; it loads the snapshot if no other has a higher epoch, and then"
    " skips the log's records below the snapshot's offset.",
    "only while the others have a leader, one node at a time: with Kafka stopped, move all of"
    " __cluster_metadata-0 but quorum-state away (keep meta.properties); the node fetches"
    " everything from the leader",
    references=("KIP-630",),
)

FOLDER_NAME = _kind(
    "FOLDER-NAME",
    _ERROR,
    "A folder in a broker's log directory has no partition's name: the broker does not start.",
    "move it out of the log directory; where it is lost+found, use a folder below the mount point"
    " as the log directory",
)

# The state: features and nodes.
FEATURE_RANGE = _kind(
    "FEATURE-RANGE",
    _ERROR,
    "A finalized feature level is outside what a registered node's software has: that node cannot"
    " register again, and a controller stops when it reads the record.",
    "bring that node to a release that has the level; a metadata.version that changed records"
    " cannot be taken back",
    references=(
        "KIP-584",
        "KIP-778",
        "apache/kafka #14484",
    ),
)
NOT_REGISTERED = _kind(
    "NOT-REGISTERED",
    _WARNING,
    "A voter has not registered as a controller, which blocks every upgrade of a feature.",
    "start it, or see why its ControllerRegistration fails; a voter that is gone for good is to be"
    " removed",
    references=("KIP-919",),
)
BROKER_FENCED = _kind(
    "BROKER-FENCED",
    _INFO,
    "A broker is fenced: it stopped, or its heartbeats do not arrive. It leads nothing.",
    "start it; one that is gone for good is to be unregistered after its replicas were moved",
    references=("KIP-631",),
)
RESTART_LOOP = _kind(
    "RESTART-LOOP",
    _WARNING,
    "A broker registers again and again, each time as a new process: it restarts in a loop.",
    "look at the end of its log for what stops it",
)
BROKER_TWINS = _kind(
    "BROKER-TWINS",
    _WARNING,
    "Registrations of one broker id go back and forth between different machines: two processes"
    " run with the same node id, and each comes in when the other's session has ended.",
    "stop one of them, and give it a node id of its own",
)
SHARED_LOG_DIR = _kind(
    "SHARED-LOG-DIR",
    _ERROR,
    "Two brokers have a log directory with the same id: one is a copy of the other's disk.",
    "stop the copy; with its disk emptied it is formatted anew under its own node id",
    references=("KIP-858",),
)
BROKER_ENDPOINT = _kind(
    "BROKER-ENDPOINT",
    _WARNING,
    "A broker's advertised listener is an address of the machine itself, or another broker's:"
    " clients elsewhere do not reach it, or reach the wrong one.",
    "set advertised.listeners on that broker and restart it",
)

# The state: partitions.
OFFLINE = _kind(
    "OFFLINE",
    _ERROR,
    "Partitions have no leader: nobody can read or write them until a broker of their ISR or ELR"
    " comes back.",
    "start the brokers named; an unclean election loses what only they have",
    references=("KIP-966",),
)
LOST_REPLICAS = _kind(
    "LOST-REPLICAS",
    _ERROR,
    "The only in-sync replicas of partitions are on brokers that are not registered any more:"
    " unless such a broker comes back with its disk, their records are gone.",
    "if the disk still exists, start a broker with that node id on it; else delete the topic, or"
    " elect uncleanly where another replica is left",
    references=("KIP-966",),
)
RECOVERING = _kind(
    "RECOVERING",
    _WARNING,
    "A leader was elected uncleanly: records that were acknowledged may be lost. The state ends"
    " with the next change of the ISR.",
    "compare what producers sent with what is there; see why the other replicas do not join the"
    " ISR",
    references=("KIP-704",),
)
MIN_ISR = _kind(
    "MIN-ISR",
    _WARNING,
    "min.insync.replicas of a topic is larger than its number of replicas: every produce with"
    " acks=all fails.",
    "lower the setting, or add replicas with kafka-reassign-partitions",
)
STUCK_REASSIGNMENT = _kind(
    "STUCK-REASSIGNMENT",
    _WARNING,
    "A reassignment can never complete: replicas are to be added and removed at once, which a"
    " request back to the old replicas leaves.",
    "cancel it, or reassign the partition once more",
    references=("KIP-455",),
)
LAST_KNOWN_ELR = _kind(
    "LAST-KNOWN-ELR",
    _INFO,
    "lastKnownElr names the broker -1, which Kafka writes where it knew no last leader. It is"
    " harmless.",
    references=("KIP-966",),
)
ELR_MIN_ISR = _kind(
    "ELR-MIN-ISR",
    _WARNING,
    "A broker has min.insync.replicas of its own while eligible leader replicas are on, which only"
    " heed the topic's and the cluster's: the ISR is kept by another number than acks=all asks.",
    "set it for the cluster or the topic, and take it off the broker",
    references=("KIP-966",),
)
STRAY = _kind(
    "STRAY",
    _WARNING,
    "The broker has renamed partitions to -stray: the metadata that it loaded does not have them,"
    " as after a recovery that lost topics.",
    "copy these folders elsewhere before anything deletes them",
)
