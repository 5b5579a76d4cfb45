"""What can be odd about a directory beside log and snapshots: state files, voters, leftovers.

Owns codes, default severities and advice. It never tells to delete quorum-state, since a node that
forgets its vote may vote twice.
"""

from __future__ import annotations

from kraftool.reports.findings.finding import Remedy, Severity, Stake
from kraftool.reports.findings.kinds import Area

_kind = Area("KT-DIR").kind
_ERROR, _WARNING, _INFO = Severity.ERROR, Severity.WARNING, Severity.INFO
_NO_EVIDENCE = (
    "appliedOffset in a file of version 0 is always 0 and never read: it is no evidence of"
    " anything. Neither are clusterId and, at kraft.version 1, currentVoters."
)

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

# State files.
QUORUM_STATE = _kind(
    "QUORUM-STATE",
    _ERROR,
    "Kafka refuses to start on this quorum-state.",
    "never delete it on a node of several voters: it would forget its vote and may vote twice in"
    " one epoch. Write it anew with the highest epoch of all voters + 1 and no vote",
    undecoded=True,
    references=("KIP-595",),
    note=_NO_EVIDENCE,
    remedy=Remedy.WRITE_QUORUM_STATE,
    keeps_from_starting=True,
)
QUORUM_STATE_ODD = _kind(
    "QUORUM-STATE-ODD",
    _WARNING,
    "Kafka takes this quorum-state but not all that stands in it.",
    references=(
        "KIP-595",
        "apache/kafka #15859",
    ),
    note=_NO_EVIDENCE,
)
QUORUM_STATE_MISSING = _kind(
    "QUORUM-STATE-MISSING",
    _WARNING,
    "There is a log but no quorum-state: Kafka starts without the vote that it may have given.",
    "put the file back if there is a copy; else write it with the highest epoch of all voters + 1"
    " and no vote",
    references=("KIP-595",),
    remedy=Remedy.WRITE_QUORUM_STATE,
)
QUORUM_STATE_BEHIND = _kind(
    "QUORUM-STATE-BEHIND",
    _WARNING,
    "quorum-state is of an earlier epoch than the log, which no running Kafka leaves behind.",
    "the files were copied at different times, or one was edited; Kafka raises it at its start",
    remedy=Remedy.WRITE_QUORUM_STATE,
)
QUORUM_LEADER = _kind(
    "QUORUM-LEADER",
    _ERROR,
    "quorum-state names another leader of its epoch than the log's LeaderChange.",
    "two leaders in one epoch, or files of different nodes: compare all nodes' directories",
    remedy=Remedy.TIMELINE,
)
QUORUM_VERSION = _kind(
    "QUORUM-VERSION",
    _INFO,
    "quorum-state has the form of another kraft.version than the log's; Kafka takes it, and"
    " rewrites it at its next change.",
)
META_MISSING = _kind(
    "META-MISSING",
    _ERROR,
    "Without meta.properties Kafka takes the directory for unformatted and does not start.",
    "write it anew with cluster.id, node.id and the directory.id of the voters",
    remedy=Remedy.WRITE_META_PROPERTIES,
    keeps_from_starting=True,
)
META = _kind(
    "META",
    _ERROR,
    "Kafka refuses to start on this meta.properties.",
    "write it anew with cluster.id, node.id and the directory.id of the voters",
    undecoded=True,
    remedy=Remedy.WRITE_META_PROPERTIES,
    keeps_from_starting=True,
)
META_ODD = _kind(
    "META-ODD",
    _WARNING,
    "Kafka starts with this meta.properties, although it never writes one like it.",
)
META_V0 = _kind(
    "META-V0",
    _WARNING,
    "meta.properties is of version 0, from before KRaft.",
    "nothing to do: Kafka starts with it and leaves it as it is",
)
CLUSTER_ID = _kind(
    "CLUSTER-ID",
    _ERROR,
    "Directories belong to different clusters.",
    "a node of one cluster refuses to start with them, and nodes refuse each other",
    stake=Stake.MIXED_UP,
    references=(
        "apache/kafka #17504",
        "apache/kafka #20551",
    ),
    remedy=Remedy.SHOW_STORAGE,
)
CLUSTER_ID_EMPTY = _kind(
    "CLUSTER-ID-EMPTY",
    _ERROR,
    "cluster.id in meta.properties is empty. Kafka starts with it, and no other node speaks with"
    " this one: each request ends with INCONSISTENT_CLUSTER_ID, for good.",
    "with Kafka stopped, write the cluster.id of the other nodes' meta.properties",
    references=("apache/kafka #17504",),
    remedy=Remedy.WRITE_META_PROPERTIES,
)
NODE_ID = _kind(
    "NODE-ID",
    _ERROR,
    "The directory belongs to another node than the configuration says.",
    "Kafka refuses to start. Put each node's own disk back; do not edit node.id or meta.properties,"
    " since log and directory.id are another node's",
    references=("apache/kafka #22319",),
    remedy=Remedy.SHOW_STORAGE,
    keeps_from_starting=True,
)
LOG_DIR = _kind(
    "LOG-DIR",
    _ERROR,
    "Kafka looks at meta.properties of every directory of log.dirs before it starts, and exits: one"
    " is missing, or is not of this node.",
    "put back the directory that belongs there; do not edit its meta.properties, since the topics"
    " in it are another node's or another cluster's",
    remedy=Remedy.SHOW_STORAGE,
    keeps_from_starting=True,
)
LOG_DIR_OFFLINE = _kind(
    "LOG-DIR-OFFLINE",
    _WARNING,
    "meta.properties of another directory of log.dirs cannot be read: Kafka starts without that"
    " directory, and its partitions are offline.",
    "repair the disk, or write meta.properties with the cluster.id and node.id of the others",
)
SAME_DIRECTORY_ID = _kind(
    "SAME-DIRECTORY-ID",
    _WARNING,
    "Directories have the same directory.id: one is a copy of the other, or its meta.properties"
    " is.",
    "never let both run",
    stake=Stake.MIXED_UP,
    remedy=Remedy.COMPARE_VOTERS,
)
EPOCHS = _kind(
    "EPOCHS",
    _ERROR,
    "Kafka refuses to start on this leader-epoch-checkpoint.",
    "with Kafka stopped, delete it: it is made anew from the log",
    undecoded=True,
    remedy=Remedy.MOVE_ASIDE,
    keeps_from_starting=True,
)
EPOCHS_DIFFER = _kind(
    "EPOCHS-DIFFER",
    _WARNING,
    "leader-epoch-checkpoint and the log's batches differ. Kafka believes the file, and adds only"
    " epochs above its last one from the log.",
    "with Kafka stopped, delete it: it is made anew from the log",
    remedy=Remedy.MOVE_ASIDE,
)
EPOCHS_EMPTY = _kind(
    "EPOCHS-EMPTY",
    _INFO,
    "leader-epoch-checkpoint is empty; Kafka makes it anew from the log at its start.",
)
TOPIC_ID = _kind(
    "TOPIC-ID",
    _ERROR,
    "partition.metadata is not that of the metadata topic: Kafka refuses to start.",
    "with Kafka stopped, delete it: it is made anew",
    undecoded=True,
    remedy=Remedy.MOVE_ASIDE,
    keeps_from_starting=True,
)
OFFSETS = _kind(
    "OFFSETS",
    _ERROR,
    "An offset checkpoint is damaged: a broker takes the log directory offline at its start, and"
    " exits if it has no other. A controller does not read the file.",
    "with Kafka stopped, delete it: the broker writes it again",
    undecoded=True,
    remedy=Remedy.MOVE_ASIDE,
)
TEXT = _kind("TEXT", _WARNING, "A text file of Kafka's is not as Kafka writes it.", undecoded=True)

# Voters.
NOT_A_VOTER = _kind(
    "NOT-A-VOTER",
    _WARNING,
    "A controller that is not among the voters runs as an observer; one that was removed or is yet"
    " to be added, as it should.",
    "kraftool quorum add-controller, with that node's own configuration, makes it one",
    references=("KIP-853",),
    remedy=Remedy.ADD_CONTROLLER,
)
STALE_VOTER = _kind(
    "STALE-VOTER",
    _ERROR,
    "The voters name this node with another directory id, as after a change of disks:"
    " it does not vote.",
    "remove-controller with the old directory id, then add-controller; writing the old id back"
    " is right only with that node's own old log",
    references=(
        "KIP-853",
        "apache/kafka #15671",
    ),
    remedy=Remedy.REPLACE_VOTER,
)
NO_DIRECTORY_ID = _kind(
    "NO-DIRECTORY-ID",
    _WARNING,
    "Voters are known by directory id, and meta.properties has none.",
    "before it starts, write the directory.id that the voters have for this node: else Kafka writes"
    " a random one, and a voter loses its vote. A node that is no voter may start without",
)

# What is left over.
LEFTOVER = _kind("LEFTOVER", _INFO, "A file that Kafka removes by itself when it starts.")

# voters
VOTERS_DIFFER = _kind(
    "VOTERS-DIFFER",
    _ERROR,
    "Sources name different voters, and none of them is merely behind.",
    "find out which history is committed before any of them starts; verify-log and timeline on"
    " both directories show where they part",
    stake=Stake.TWO_HISTORIES,
    references=(
        "KIP-853",
        "apache/kafka #20136",
    ),
    remedy=Remedy.COMPARE_VOTERS,
)
VOTERS_BEHIND = _kind(
    "VOTERS-BEHIND",
    _INFO,
    "A source ends before the newest change of voters: it has an earlier set of that history.",
)
VOTERS_CONFLICT = _kind(
    "VOTERS-CONFLICT",
    _WARNING,
    "A log has a change of voters or kraft.version that is not in the log of another node, which"
    " parted from it there or before.",
    "at most one of them can be committed; a node with the other truncates it when it follows the"
    " leader. Do not let nodes with different voters elect by themselves",
    remedy=Remedy.COMPARE_VOTERS,
)
VOTE_STRANGER = _kind(
    "VOTE-STRANGER",
    _WARNING,
    "quorum-state names a leader or a vote that is in no known voter set.",
    "the directory is from another time or place than the log beside it, or was edited",
    remedy=Remedy.COMPARE_VOTERS,
)
CURRENT_VOTERS = _kind(
    "CURRENT-VOTERS",
    _WARNING,
    "currentVoters in quorum-state are other voters than those of the quorum.",
    "Kafka before 3.9 refuses to start if they differ from controller.quorum.voters; later ones"
    " rewrite them",
    references=("KIP-595",),
    remedy=Remedy.COMPARE_VOTERS,
)
LEADER_VOTERS = _kind(
    "LEADER-VOTERS",
    _WARNING,
    "A LeaderChange lists other voters than the set in force when that leader was elected.",
    "records between the two are missing or the log was edited",
    remedy=Remedy.COMPARE_VOTERS,
)
SAME_NODE_ID = _kind(
    "SAME-NODE-ID",
    _WARNING,
    "Several directories claim the same node id with different directory ids.",
    "only the one that the voters name may vote; never let two processes run with one node id",
    remedy=Remedy.COMPARE_VOTERS,
)
STATIC_IGNORED = _kind(
    "STATIC-IGNORED",
    _WARNING,
    "controller.quorum.voters is set while kraft.version is 1: Kafka ignores it, and says so by"
    " the metric IgnoredStaticVoters.",
    "take it out of the configuration and set controller.quorum.bootstrap.servers",
    references=(
        "KIP-853",
        "apache/kafka #20071",
    ),
    remedy=Remedy.SET_BOOTSTRAP_SERVERS,
)
STATIC_DIFFER = _kind(
    "STATIC-DIFFER",
    _ERROR,
    "At kraft.version 0 the settings are the voter set, and they differ.",
    "make controller.quorum.voters the same on every controller and broker before any starts",
    stake=Stake.NO_QUORUM,
    references=("KIP-853",),
    remedy=Remedy.SET_STATIC_VOTERS,
)
ENDPOINT_DIFFERS = _kind(
    "ENDPOINT-DIFFERS",
    _WARNING,
    "A controller's settings advertise another endpoint than the voters have for it.",
    "at kraft.version 1 a voter tells the leader its new endpoints by itself once it can reach it;"
    " change one controller at a time, since with a majority changed at once nobody finds a leader",
    references=(
        "KIP-853",
        "KIP-1347",
    ),
    remedy=Remedy.COMPARE_VOTERS,
)
NO_BOOTSTRAP = _kind(
    "NO-BOOTSTRAP",
    _WARNING,
    "controller.quorum.bootstrap.servers is not set on a dynamic quorum.",
    "set it to the endpoints of several controllers",
    references=("KIP-853",),
    remedy=Remedy.SET_BOOTSTRAP_SERVERS,
)
BOOTSTRAP_FORM = _kind(
    "BOOTSTRAP-FORM",
    _ERROR,
    "An entry of controller.quorum.bootstrap.servers is not host:port: Kafka refuses to start.",
    "write host:port entries with commas between them, an IPv6 address in brackets",
    references=("KIP-853",),
)
NO_QUORUM = _kind(
    "NO-QUORUM",
    _ERROR,
    "The settings name neither voters nor bootstrap servers: the node cannot find its quorum.",
    "set controller.quorum.bootstrap.servers, or at kraft.version 0 controller.quorum.voters",
    stake=Stake.NO_QUORUM,
    references=("KIP-853",),
    remedy=Remedy.SET_BOOTSTRAP_SERVERS,
)
