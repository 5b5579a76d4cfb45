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
    "Nodes with one cluster id were formatted with different initial voters. They are"
    " separate quorums that mistake each other for their own, and never agree.",
    "keep the quorum whose metadata you want. Format the other controllers again, with the"
    " same --initial-controllers or with --no-initial-controllers, and add them one by one",
    stake=Stake.TWO_HISTORIES,
    references=(
        "KIP-853",
        "apache/kafka #20136",
    ),
)
NO_MAJORITY = _kind(
    "NO-MAJORITY",
    _ERROR,
    "Kafka cannot vote on a majority of the voters' directories, and every voter's directory"
    " was given. No leader can be elected.",
    "repair the voters named until a majority can vote. Until then neither add-controller nor"
    " remove-controller works, because both need a leader",
    stake=Stake.NO_QUORUM,
    references=(
        "KIP-595",
        "KIP-853",
    ),
)
WIPED_VOTER = _kind(
    "WIPED-VOTER",
    _ERROR,
    "A voter's directory has no metadata log, while other nodes have one. If quorum-state is gone"
    " too, the voter forgot its vote, and may vote twice in one epoch.",
    "look for the voter's own disk or another mount first. If there is none, and no quorum-state"
    " either, write it with the highest epoch of all voters + 1 and no vote before the voter"
    " starts",
    stake=Stake.TWO_HISTORIES,
)
LOST_LOG = _kind(
    "LOST-LOG",
    _WARNING,
    "Kafka ran on this directory, and there is no metadata log. If Kafka starts, a sole voter of"
    " controller.quorum.voters elects itself in epoch 1 and begins an empty cluster. Its broker"
    " renames the folders of all topics to -stray. A voter of a dynamic quorum starts without"
    " voters, and no leader is elected.",
    "do not start Kafka. Look for the folder __cluster_metadata-0, which may have been moved or"
    " renamed, and put it back. If another directory of log.dirs has the metadata, name that one"
    " too, or server.properties",
    stake=Stake.TWO_HISTORIES,
)
METADATA_COPY = _kind(
    "METADATA-COPY",
    _WARNING,
    "A folder has nearly the name of the metadata partition. Kafka ignores it and uses only"
    " __cluster_metadata-0.",
    "find out which of the two is this node's metadata log: kraftool dump shows the end of each."
    " Then move the other one out of the data directory",
)
UNKNOWN_NODE = _kind(
    "UNKNOWN-NODE",
    _WARNING,
    "A controller's directory of a static quorum has the node.id of no voter: somebody edited it."
    " Kafka refuses to start if server.properties has another node.id, or if"
    " controller.quorum.voters does not have this one.",
    "with Kafka stopped, write the node.id of server.properties back. If the disk is another"
    " node's, put it back there",
    stake=Stake.MIXED_UP,
)
FORGOTTEN_VOTE = _kind(
    "FORGOTTEN-VOTE",
    _ERROR,
    "A voter's quorum-state has an earlier epoch than one that the voter led or voted in: an"
    " older copy replaced its directory. The vote is forgotten, so the node may vote twice in"
    " one epoch. Records may be missing from its log too.",
    "do not start it like this: put its own, newer directory back. If there is none, write"
    " quorum-state with the highest epoch of all voters + 1 and no vote before it starts. If"
    " the directories were copied one after another from running nodes, copy this one again",
    stake=Stake.TWO_HISTORIES,
    references=(
        "KIP-595",
        "KIP-853",
    ),
)
DOUBLE_VOTE = _kind(
    "DOUBLE-VOTE",
    _ERROR,
    "A voter voted twice in one epoch, according to its quorum-state and a LeaderChange: it"
    " had forgotten the first vote, or somebody edited a file. Two leaders of that epoch are"
    " possible.",
    "stop all controllers and keep a copy of every directory. Compare all logs of that epoch"
    " before you start any node",
    stake=Stake.TWO_HISTORIES,
    references=("KIP-595",),
)
AUTO_JOIN = _kind(
    "AUTO-JOIN",
    _WARNING,
    "A controller that was removed from the voters has"
    " controller.quorum.auto.join.enable=true. While it runs, it adds itself again within"
    " seconds.",
    "before remove-controller, stop that controller or set"
    " controller.quorum.auto.join.enable=false on it",
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
    "At kraft.version 0 the setting controller.quorum.voters is the voter set, and this node"
    " no longer has it. Bootstrap servers replace it only once kraft.version is 1.",
    "put controller.quorum.voters back, start all controllers, upgrade kraft.version, and"
    " check it. Only then replace the setting",
    stake=Stake.NO_QUORUM,
    references=(
        "KIP-853",
        "apache/kafka #20071",
    ),
)
UPGRADE_DIRECTORY_ID = _kind(
    "UPGRADE-DIRECTORY-ID",
    _WARNING,
    "A voter of a static quorum has no directory.id in meta.properties. kraft.version cannot"
    " be upgraded to 1 while any voter lacks it.",
    "start that node once with Kafka 3.7 or later, which writes a directory.id",
    references=(
        "KIP-853",
        "KIP-858",
    ),
)
LOCAL_ENDPOINT = _kind(
    "LOCAL-ENDPOINT",
    _WARNING,
    "A voter's endpoint is an address of the machine itself. Kafka records one when"
    " advertised.listeners is missing. No other node can reach this voter there.",
    "set advertised.listeners on that node and restart it: at kraft.version 1 it reports its"
    " new endpoint to the leader",
    references=(
        "KIP-853",
        "apache/kafka #18350",
        "apache/kafka #22531",
    ),
)
SAME_ENDPOINT = _kind(
    "SAME-ENDPOINT",
    _ERROR,
    "Two voters have the same endpoint. Requests for one of them reach the other, which"
    " refuses them.",
    "give each controller an endpoint of its own in advertised.listeners",
    references=("KIP-853",),
)
ODD_ENDPOINT = _kind(
    "ODD-ENDPOINT",
    _WARNING,
    "A voter's endpoint cannot be reached: it is the wildcard address, it has no port, or no"
    " resolver accepts its host name.",
    "set advertised.listeners on that node to a name that the other nodes can resolve, and"
    " restart it",
    references=(
        "KIP-853",
        "apache/kafka #22531",
    ),
)
VOTER_LISTENER = _kind(
    "VOTER-LISTENER",
    _ERROR,
    "A voter has no endpoint for the first entry of controller.listener.names. A node that"
    " has to send to this voter stops with an error.",
    "use the same controller.listener.names on all nodes. The first entry must be the"
    " listener that the voters are recorded with",
    references=("KIP-853",),
)
SPLIT_BRAIN = _kind(
    "SPLIT-BRAIN",
    _ERROR,
    "Two nodes lead, or led, in one epoch: one of them had forgotten its vote, or somebody"
    " edited its log. Each may have acknowledged records that the other does not have.",
    "stop all controllers and keep a copy of every directory. Then start only the nodes of"
    " one side",
    stake=Stake.TWO_HISTORIES,
    references=("KIP-595",),
)
SAME_PLACE = _kind(
    "SAME-PLACE",
    _ERROR,
    "Two logs have different bytes at the same offset and epoch. Kafka compares only these"
    " two numbers, so it never notices. The nodes have different metadata from there on.",
    "choose one side, and let it elect a leader. Then treat the nodes of the other side one"
    " at a time: stop Kafka, and move all of __cluster_metadata-0 except quorum-state away"
    " (not meta.properties). The node then fetches everything again",
    stake=Stake.TWO_HISTORIES,
    references=("KIP-595",),
)

COMMITTED_MINORITY = _kind(
    "COMMITTED-MINORITY",
    _ERROR,
    "Fewer than a majority of the voters' directories have these records, although a snapshot or"
    " the start of a log proves that they are committed. The other voters can elect a leader"
    " without them. A node that follows it truncates them, and logs only INFO lines.",
    "do not start the other voters without one that has the records. Keep a copy of its"
    " directory first",
    stake=Stake.TWO_HISTORIES,
)
OLD_MAJORITY = _kind(
    "OLD-MAJORITY",
    _ERROR,
    "A majority of an earlier voter set has directories without the later voter sets. These"
    " nodes can elect a leader in addition to that of the current voters, and both sides"
    " commit different records.",
    "start the current voters first. Keep the directories of removed nodes offline",
    stake=Stake.TWO_HISTORIES,
)
WHOLE_COPY = _kind(
    "WHOLE-COPY",
    _INFO,
    "Logs are damaged at the same place. The finding names the directories that are undamaged"
    " there.",
    "before you start any node, keep a copy of the undamaged directories. Kafka cuts a damaged log"
    " at every start, and a majority of such logs continues without the records after the damage",
    stake=Stake.LOST_DATA,
)

# Elections.
ELECTIONS = _kind(
    "ELECTIONS",
    _WARNING,
    "The leader changes often: controllers restart, or answer too slowly (garbage collection,"
    " disk, network).",
    "check GC pauses, disk latency and the network between the controllers. Raise"
    " controller.quorum.fetch.timeout.ms only after that",
    references=(
        "KIP-595",
        "KIP-996",
    ),
)
FAILED_ELECTIONS = _kind(
    "FAILED-ELECTIONS",
    _WARNING,
    "Epochs passed without a leader: no node won several elections in a row.",
    "fewer than a majority were reachable at that time, or two candidates kept splitting the"
    " vote. Check the network at that time, and the clocks in the logs of all controllers",
    references=(
        "KIP-595",
        "KIP-996",
    ),
)
NO_LEADER = _kind(
    "NO-LEADER",
    _ERROR,
    "quorum-state is many epochs ahead of the log: this node has held elections for a long"
    " time and found no majority. Kafka does not report this. It only tries again.",
    "start the other voters, or find out why they do not answer: endpoints, certificates,"
    " cluster id, a directory that was formatted again",
    stake=Stake.NO_QUORUM,
    references=(
        "KIP-595",
        "KIP-996",
    ),
)
LAG = _kind(
    "LAG",
    _WARNING,
    "A node's log ends more than 1000 records before another's in the same epoch. The node"
    " does not keep up, or its directory was copied earlier.",
    "check its disk and network. Do not restart the others before it has caught up",
)

# Snapshots.
NO_SNAPSHOT = _kind(
    "NO-SNAPSHOT",
    _WARNING,
    "There is no snapshot, although the log is long enough for several. Snapshot generation"
    " fails, or a metadata fault switched it off. The log is never cleaned, and each start"
    " reads all of it.",
    "look for errors of SnapshotGenerator and SnapshotEmitter in this node's log. A restart"
    " switches generation on again",
    references=(
        "KIP-630",
        "KIP-876",
    ),
)
OLD_SNAPSHOT = _kind(
    "OLD-SNAPSHOT",
    _WARNING,
    "The newest snapshot is much older than the settings allow. Snapshot generation has"
    " stopped, as after a fault while metadata was loaded.",
    "if the node was down, or started a short time ago, look again after another"
    " metadata.log.max.snapshot.interval.ms. If there is no newer snapshot then, look for errors of"
    " SnapshotGenerator and SnapshotEmitter in this node's log. A restart switches generation on"
    " again",
    references=(
        "KIP-630",
        "KIP-876",
    ),
)
SNAPSHOT_ATTEMPTS = _kind(
    "SNAPSHOT-ATTEMPTS",
    _WARNING,
    "Several unfinished snapshots are left: writing or fetching one fails repeatedly, as on a"
    " full disk. Kafka removes them when it starts.",
    "check the free space and errors of the disk, then restart this node",
)
JUNK_SNAPSHOT = _kind(
    "JUNK-SNAPSHOT",
    _ERROR,
    "A snapshot that cannot be loaded has a name beyond the end of the log. At its next start"
    " Kafka deletes the log and all older snapshots because of it, and then exits on it.",
    "move this file out of the folder before you start Kafka. Compare the node's log with the"
    " other voters' logs before it votes: if the snapshot was real, the log lacks records"
    " that it held. It is better to use another node's checkpoint that fits the log",
    references=("KIP-630",),
)
STALE_SNAPSHOT = _kind(
    "STALE-SNAPSHOT",
    _ERROR,
    "A snapshot from an earlier epoch is beyond the end of the log, as after a recovery"
    " truncated the log. Kafka keeps the log. If no other snapshot has a higher epoch, it"
    " loads this one and then skips the log's records below the snapshot's offset.",
    "do this only while the other nodes have a leader, one node at a time. With Kafka"
    " stopped, move all of __cluster_metadata-0 except quorum-state away (keep"
    " meta.properties). The node then fetches everything from the leader",
    references=("KIP-630",),
)

FOLDER_NAME = _kind(
    "FOLDER-NAME",
    _ERROR,
    "The name of a folder in a broker's log directory is not a partition's name. The broker"
    " does not start.",
    "move it out of the log directory. If it is lost+found, use a folder below the mount"
    " point as the log directory",
)

# The state: features and nodes.
FEATURE_RANGE = _kind(
    "FEATURE-RANGE",
    _ERROR,
    "A finalized feature level is outside the range that a registered node's software"
    " supports. That node cannot register again, and a controller stops when it reads the"
    " record.",
    "upgrade that node to a release that supports the level. A metadata.version that changed"
    " records cannot be downgraded",
    references=(
        "KIP-584",
        "KIP-778",
        "apache/kafka #14484",
    ),
)
TWO_VOTER_CHANGES = _kind(
    "TWO-VOTER-CHANGES",
    _WARNING,
    "A running leader has written two changes of the voters, and has committed neither. Raft"
    " allows one at a time: the majorities of the first and the last voter set need not share a"
    " voter. A second try after REQUEST_TIMED_OUT can write it (KAFKA-20740).",
    "add and remove no voter now, and stop no node. Bring back the voters that do not fetch,"
    " so that both changes are committed",
    stake=Stake.TWO_HISTORIES,
)
SCRAM_CONTROLLERS = _kind(
    "SCRAM-CONTROLLERS",
    _WARNING,
    "Controllers log in to each other with SCRAM only. Kafka keeps SCRAM credentials in the"
    " metadata log, and a controller that starts knows them only once there is a leader. After"
    " all controllers were stopped, they cannot elect a leader again.",
    "let the controllers log in with PLAIN or with TLS certificates. Change it while a majority"
    " runs, one controller after the other. If no node leads, change it on all of them, and restart"
    " them",
    stake=Stake.NO_QUORUM,
)
NO_METADATA_VERSION = _kind(
    "NO-METADATA-VERSION",
    _WARNING,
    "The metadata log has records, but no record sets metadata.version. Kafka 4 exits as soon as"
    " it has read such metadata. Kafka 3 uses the lowest level that it knows, and exits if the"
    " state does not fit that level. A Kafka writes the level in its first activation. If that is"
    " aborted, the next one finds a log that is not empty, and writes no level.",
    "see which level the brokers use with kafka-features.sh describe. Then upgrade it with"
    " kafka-features.sh upgrade --release-version",
    references=("apache/kafka #22954",),
    note="Clusters that Kafka 3.0 to 3.2 formatted have no such record either.",
)
NOT_REGISTERED = _kind(
    "NOT-REGISTERED",
    _WARNING,
    "A voter has not registered as a controller. That blocks every feature upgrade.",
    "start it, or find out why its ControllerRegistration fails. Remove a voter that is gone"
    " for good",
    references=("KIP-919",),
)
BROKER_FENCED = _kind(
    "BROKER-FENCED",
    _INFO,
    "A broker is fenced: it stopped, or its heartbeats do not arrive. It leads no partition.",
    "start it. If it is gone for good, move its replicas. Then remove it with kafka-cluster.sh"
    " unregister",
    references=("KIP-631",),
)
RESTART_LOOP = _kind(
    "RESTART-LOOP",
    _WARNING,
    "A broker registers again and again, each time as a new process: it is in a restart loop.",
    "look at the end of the broker's log to see what stops it",
)
BROKER_TWINS = _kind(
    "BROKER-TWINS",
    _WARNING,
    "Registrations of one broker id alternate between different machines. Two processes run"
    " with the same node id, and each registers when the other's session expires.",
    "stop one of them, and give it its own node id",
)
SHARED_LOG_DIR = _kind(
    "SHARED-LOG-DIR",
    _ERROR,
    "Two brokers have a log directory with the same id: one disk is a copy of the other.",
    "stop the broker on the copy. Empty its disk and format it under the broker's own node id",
    references=("KIP-858",),
)
BROKER_ENDPOINT = _kind(
    "BROKER-ENDPOINT",
    _WARNING,
    "A broker's advertised listener is an address of the machine itself or another broker's."
    " Clients on other machines cannot reach it, or reach the wrong broker.",
    "set advertised.listeners on that broker and restart it",
)

# The state: partitions.
OFFLINE = _kind(
    "OFFLINE",
    _ERROR,
    "Partitions have no leader. Clients cannot read or write them until a broker in their ISR"
    " or ELR returns.",
    "start the brokers named. An unclean election loses records that only these brokers have",
    references=("KIP-966",),
)
LOST_REPLICAS = _kind(
    "LOST-REPLICAS",
    _ERROR,
    "The only in-sync replicas of partitions are on brokers that are no longer registered."
    " Unless such a broker returns with its disk, their records are lost.",
    "if the disk still exists, start a broker with that node id on it. Otherwise delete the"
    " topic, or elect a leader uncleanly if another replica is left",
    references=("KIP-966",),
)
RECOVERING = _kind(
    "RECOVERING",
    _WARNING,
    "A leader was elected uncleanly. Records that were acknowledged may be lost. This state"
    " ends with the next change of the ISR.",
    "compare what producers sent with the records on disk. Find out why the other replicas do not"
    " join the ISR",
    references=("KIP-704",),
)
MIN_ISR = _kind(
    "MIN-ISR",
    _WARNING,
    "min.insync.replicas of a topic is larger than its number of replicas. Every produce"
    " request with acks=all fails.",
    "lower the setting, or add replicas with kafka-reassign-partitions.sh",
)
STUCK_REASSIGNMENT = _kind(
    "STUCK-REASSIGNMENT",
    _WARNING,
    "A reassignment can never complete: the same replicas are to be added and removed. A"
    " request to go back to the old replicas leaves this.",
    "cancel it, or reassign the partition once more",
    references=("KIP-455",),
)
LAST_KNOWN_ELR = _kind(
    "LAST-KNOWN-ELR",
    _INFO,
    "lastKnownElr names broker -1. Kafka writes that if it knew no last leader. It is harmless.",
    references=("KIP-966",),
)
ELR_MIN_ISR = _kind(
    "ELR-MIN-ISR",
    _WARNING,
    "A broker sets its own min.insync.replicas while eligible leader replicas are enabled."
    " They use only the topic's and the cluster's setting, so the ISR is kept by another"
    " number than acks=all requires.",
    "set it for the cluster or the topic, and remove it from the broker",
    references=("KIP-966",),
)
STRAY = _kind(
    "STRAY",
    _WARNING,
    "The broker renamed partitions to -stray: the metadata that it loaded does not have them,"
    " as after a recovery that lost topics.",
    "copy these folders elsewhere before anything deletes them",
)
