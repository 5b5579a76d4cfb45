"""Problems of a directory other than log and snapshots: state files, voters, leftovers.

Owns codes, default severities and advice. It never tells to delete quorum-state, since a node that
forgets its vote may vote twice.
"""

from __future__ import annotations

from kraftool.reports.findings.finding import Remedy, Severity, Stake
from kraftool.reports.findings.kinds import Area

_kind = Area("KT-DIR").kind
_ERROR, _WARNING, _INFO = Severity.ERROR, Severity.WARNING, Severity.INFO
_NO_EVIDENCE = (
    "appliedOffset in a file of version 0 is always 0 and Kafka never reads it, so it proves"
    " nothing. The same is true of clusterId and, at kraft.version 1, of currentVoters."
)

# What could not be read.
UNREADABLE = _kind(
    "READ",
    _ERROR,
    "A file could not be opened or read.",
    "run kraftool as the user that Kafka runs as, and check the disk",
    undecoded=True,
)
PASSED_OVER = _kind(
    "SKIPPED", _INFO, "kraftool skipped something in the PATH.", concerns_voters=False
)
NOTHING = _kind(
    "EMPTY",
    _ERROR,
    "No Kafka file was found here.",
    "name a directory of log.dirs, its __cluster_metadata-0, or one file of it",
    undecoded=True,
)
UNKNOWN_FILE = _kind(
    "UNKNOWN-FILE",
    _INFO,
    "Kafka does not know this file. It ignores such files.",
    concerns_voters=False,
)
UNKNOWN_KIND = _kind(
    "UNKNOWN-KIND",
    _ERROR,
    "kraftool cannot tell the kind of this file from its name or its content.",
    "name its kind with --as KIND",
    undecoded=True,
)
TOO_LARGE = _kind(
    "TOO-LARGE",
    _WARNING,
    "A file is larger than a file of its kind can be. kraftool read only its beginning.",
    "find out what wrote it. Compare it with another node's",
)

# State files.
QUORUM_STATE = _kind(
    "QUORUM-STATE",
    _ERROR,
    "Kafka refuses to start on this quorum-state.",
    "never delete it on a node that has other voters: the node would forget its vote and"
    " could vote twice in one epoch. Write the file again, with the highest epoch of all"
    " voters + 1 and no vote",
    undecoded=True,
    references=("KIP-595",),
    note=_NO_EVIDENCE,
    remedy=Remedy.WRITE_QUORUM_STATE,
    keeps_from_starting=True,
    observed=(
        (
            "4.3.0: data_version is narrowed to a short: 65537 reads as 1; a string, null or true "
            "read as 0. Invalid UTF-8 on any line refuses the file; text behind the object is "
            "ignored."
        ),
    ),
)
QUORUM_STATE_ODD = _kind(
    "QUORUM-STATE-ODD",
    _WARNING,
    "Kafka accepts this quorum-state, but ignores part of it.",
    "nothing to do: Kafka writes the file again at the next election",
    references=(
        "KIP-595",
        "apache/kafka #15859",
    ),
    note=_NO_EVIDENCE,
)
QUORUM_STATE_MISSING = _kind(
    "QUORUM-STATE-MISSING",
    _WARNING,
    "There is a log but no quorum-state. Kafka starts and does not know whether this node"
    " voted before.",
    "restore the file if you have a copy. Otherwise write it with the highest epoch of all"
    " voters + 1 and no vote",
    references=("KIP-595",),
    remedy=Remedy.WRITE_QUORUM_STATE,
    concerns_voters=False,
)
QUORUM_STATE_BEHIND = _kind(
    "QUORUM-STATE-BEHIND",
    _WARNING,
    "quorum-state has an earlier epoch than the log. A running Kafka never leaves that behind.",
    "the files were copied at different times, or somebody edited one. Kafka raises the epoch"
    " when it starts",
    remedy=Remedy.WRITE_QUORUM_STATE,
)
QUORUM_LEADER = _kind(
    "QUORUM-LEADER",
    _ERROR,
    "quorum-state and the log's LeaderChange name different leaders for the same epoch.",
    "there were two leaders in one epoch, or the files are from different nodes. Compare the"
    " directories of all nodes",
    remedy=Remedy.TIMELINE,
)
QUORUM_VERSION = _kind(
    "QUORUM-VERSION",
    _INFO,
    "quorum-state has the format of another kraft.version than the log. Kafka accepts it, and"
    " rewrites it at its next change.",
)
META_MISSING = _kind(
    "META-MISSING",
    _ERROR,
    "Without meta.properties Kafka treats the directory as unformatted and does not start.",
    "write it again with cluster.id, node.id and the directory.id that the voters have for"
    " this node",
    remedy=Remedy.WRITE_META_PROPERTIES,
    keeps_from_starting=True,
)
META = _kind(
    "META",
    _ERROR,
    "Kafka refuses to start on this meta.properties.",
    "write it again with cluster.id, node.id and the directory.id that the voters have for"
    " this node",
    undecoded=True,
    remedy=Remedy.WRITE_META_PROPERTIES,
    keeps_from_starting=True,
)
META_ODD = _kind(
    "META-ODD",
    _WARNING,
    "Kafka starts with this meta.properties, but never writes a file like it.",
    "find out who edited it. Compare it with another node's",
)
META_V0 = _kind(
    "META-V0",
    _INFO,
    "meta.properties has version 0. A broker that was migrated from ZooKeeper keeps it.",
    "nothing to do: Kafka starts with it and leaves it unchanged",
    observed=("3.9.1 and 4.3.0: Kafka starts with it and leaves it at version 0.",),
    concerns_voters=False,
)
CLUSTER_ID = _kind(
    "CLUSTER-ID",
    _ERROR,
    "Directories belong to different clusters.",
    "a node of one cluster refuses to start with them, and the nodes refuse each other's requests",
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
    "cluster.id in meta.properties is empty. Kafka starts with it, but no other node accepts"
    " its requests: each one fails with INCONSISTENT_CLUSTER_ID, and retries do not help.",
    "with Kafka stopped, write the cluster.id from the other nodes' meta.properties",
    references=("apache/kafka #17504",),
    remedy=Remedy.WRITE_META_PROPERTIES,
    observed=(
        (
            "4.3.0: the controller starts, and sends and receives INCONSISTENT_CLUSTER_ID on each "
            "VOTE, FETCH and BEGIN_QUORUM_EPOCH, forever."
        ),
    ),
)
NODE_ID = _kind(
    "NODE-ID",
    _ERROR,
    "The directory belongs to another node than the one in the configuration.",
    "Kafka refuses to start. Put each node's own disk back. Do not edit node.id or"
    " meta.properties: the log and directory.id belong to another node",
    references=("apache/kafka #22319",),
    remedy=Remedy.SHOW_STORAGE,
    keeps_from_starting=True,
)
NODE_ID_EDITED = _kind(
    "NODE-ID-EDITED",
    _ERROR,
    "The metadata log knows the directory.id of meta.properties under another node.id. Somebody"
    " edited the node.id, or the directory is a copy. Kafka refuses to start if server.properties"
    " has the other node.id. If it has this one, Kafka starts as another node, and a quorum lacks"
    " its voter.",
    "with Kafka stopped, write the other node.id back. If this is a copy of that node's"
    " directory, do not start it",
    references=("KIP-853",),
    remedy=Remedy.SHOW_STORAGE,
)
LOG_DIR = _kind(
    "LOG-DIR",
    _ERROR,
    "Kafka checks meta.properties in every directory of log.dirs before it starts. It exits"
    " because one is missing or belongs to another node.",
    "put back the directory that belongs there. Do not edit its meta.properties: its topics"
    " belong to another node or another cluster",
    remedy=Remedy.SHOW_STORAGE,
    keeps_from_starting=True,
)
METADATA_PLACE = _kind(
    "METADATA-PLACE",
    _ERROR,
    "A log directory in which Kafka does not look for the metadata has __cluster_metadata-0. Kafka"
    " exits when it starts.",
    "find out which of the two is this node's metadata log (kraftool dump shows the end of each),"
    " and move the other folder out of log.dirs",
    remedy=Remedy.SHOW_STORAGE,
    keeps_from_starting=True,
)
LOG_DIR_OFFLINE = _kind(
    "LOG-DIR-OFFLINE",
    _WARNING,
    "Kafka cannot read meta.properties in another directory of log.dirs. It starts without"
    " that directory, and the partitions there are offline.",
    "repair the disk, or write meta.properties with the cluster.id and node.id of the other"
    " directories",
)
SAME_DIRECTORY_ID = _kind(
    "SAME-DIRECTORY-ID",
    _WARNING,
    "Two directories have the same directory.id: one directory is a copy of the other, or its"
    " meta.properties is.",
    "never run both",
    stake=Stake.MIXED_UP,
    remedy=Remedy.COMPARE_VOTERS,
)
EPOCHS = _kind(
    "EPOCHS",
    _ERROR,
    "Kafka refuses to start on this leader-epoch-checkpoint.",
    "with Kafka stopped, delete it: Kafka recreates it from the log",
    undecoded=True,
    remedy=Remedy.MOVE_ASIDE,
    keeps_from_starting=True,
    concerns_voters=False,
)
EPOCHS_DIFFER = _kind(
    "EPOCHS-DIFFER",
    _WARNING,
    "leader-epoch-checkpoint and the log's batches differ. Kafka trusts the file, and adds"
    " only epochs above the file's last one from the log.",
    "with Kafka stopped, delete it: Kafka recreates it from the log",
    remedy=Remedy.MOVE_ASIDE,
    observed=(
        (
            "3.9.1 and 4.3.0: Kafka keeps the file's entries, and adds the log's epochs above its "
            "last one."
        ),
    ),
    concerns_voters=False,
)
EPOCHS_EMPTY = _kind(
    "EPOCHS-EMPTY",
    _INFO,
    "leader-epoch-checkpoint is empty. Kafka recreates it from the log when it starts.",
    observed=(
        (
            "3.9.1 and 4.3.0: Kafka recreates it from the log; 4.3.0 from a file of 0 bytes too. "
            "Kafka writes the file under another name and renames it, so that it never leaves one "
            "of 0 bytes: kraftool warns of that."
        ),
    ),
    concerns_voters=False,
)
EPOCHS_MISSING = _kind(
    "EPOCHS-MISSING",
    _WARNING,
    "There is a log but no leader-epoch-checkpoint. Kafka recreates it from the log when it"
    " starts.",
    "nothing to do if you deleted it. Otherwise a failed copy or a damaged file system may have"
    " lost other files, too: compare this directory with another node's",
    concerns_voters=False,
)
TOPIC_ID = _kind(
    "TOPIC-ID",
    _ERROR,
    "partition.metadata names another topic than the metadata topic: Kafka refuses to start.",
    "with Kafka stopped, delete it: Kafka recreates it",
    undecoded=True,
    remedy=Remedy.MOVE_ASIDE,
    keeps_from_starting=True,
    concerns_voters=False,
)
OFFSETS = _kind(
    "OFFSETS",
    _ERROR,
    "An offset checkpoint is damaged. A broker takes the log directory offline when it"
    " starts, and exits if it has no other. A controller does not read the file.",
    "with Kafka stopped, delete it: the broker writes it again",
    undecoded=True,
    remedy=Remedy.MOVE_ASIDE,
    observed=(
        (
            "3.9.1 and 4.3.0: a broker takes the log directory offline on a damaged "
            "recovery-point-, replication-, log-start- or cleaner-offset-checkpoint, and exits if "
            "it has no other. Without the file it starts. A controller does not read it."
        ),
    ),
    concerns_voters=False,
)
TEXT = _kind(
    "TEXT",
    _WARNING,
    "A text file does not have the form that Kafka gives it.",
    "compare it with another node's",
    undecoded=True,
    concerns_voters=False,
)

# Voters.
NOT_A_VOTER = _kind(
    "NOT-A-VOTER",
    _WARNING,
    "A controller that is not a voter runs as an observer. That is correct for a controller"
    " that was removed or is yet to be added.",
    "to make it a voter, run kraftool quorum add-controller with that node's own configuration",
    references=("KIP-853",),
    remedy=Remedy.ADD_CONTROLLER,
)
STALE_VOTER = _kind(
    "STALE-VOTER",
    _ERROR,
    "The voter set has another directory id for this node, as after a change of disks. The"
    " node does not vote.",
    "run remove-controller with the old directory id, then add-controller. Write the old id"
    " back only if this directory has that node's own old log",
    references=(
        "KIP-853",
        "apache/kafka #15671",
    ),
    remedy=Remedy.REPLACE_VOTER,
)
NO_DIRECTORY_ID = _kind(
    "NO-DIRECTORY-ID",
    _WARNING,
    "The voter set identifies voters by directory id, and this meta.properties has none.",
    "before the node starts, write the directory.id that the voter set has for it. Otherwise"
    " Kafka writes a random one, and a voter loses its vote. A node that is not a voter may"
    " start without one",
)

# What is left over.
LEFTOVER = _kind(
    "LEFTOVER", _INFO, "Kafka removes this file itself when it starts.", concerns_voters=False
)

# voters
VOTERS_DIFFER = _kind(
    "VOTERS-DIFFER",
    _ERROR,
    "Sources name different voters, and the difference is not only that one is behind.",
    "find out which history is committed before you start any of them. Run verify-log and"
    " timeline on both directories to see where they diverge",
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
    "A source ends before the newest voter change, so it has an earlier voter set of the same"
    " history.",
)
VOTERS_CONFLICT = _kind(
    "VOTERS-CONFLICT",
    _WARNING,
    "One log has a change of voters or kraft.version that another node's log does not have."
    " The two logs diverged at this record or before it.",
    "at most one of the two is committed. A node with the other truncates it when it follows"
    " the leader. Do not let nodes with different voters hold elections on their own",
    remedy=Remedy.COMPARE_VOTERS,
)
VOTE_STRANGER = _kind(
    "VOTE-STRANGER",
    _WARNING,
    "quorum-state names a leader or a voted node that is in no known voter set.",
    "the file comes from another time or place than this log, or somebody edited it",
    remedy=Remedy.COMPARE_VOTERS,
)
CURRENT_VOTERS = _kind(
    "CURRENT-VOTERS",
    _WARNING,
    "currentVoters in quorum-state differ from the voters of the quorum.",
    "Kafka before 3.9 refuses to start if they differ from controller.quorum.voters. If the setting"
    " is right, move quorum-state of a broker away: it has given no vote. Later versions rewrite"
    " them",
    references=("KIP-595",),
    remedy=Remedy.COMPARE_VOTERS,
    observed=(
        "3.7.2: refuses to start if currentVoters of version 0 differ from the configuration.",
    ),
)
LEADER_VOTERS = _kind(
    "LEADER-VOTERS",
    _WARNING,
    "A LeaderChange lists other voters than the voter set in force when that leader was elected.",
    "records between the two are missing, or somebody edited the log",
    remedy=Remedy.COMPARE_VOTERS,
)
SAME_NODE_ID = _kind(
    "SAME-NODE-ID",
    _WARNING,
    "Several directories have the same node id but different directory ids.",
    "only the directory that the voter set names may vote. Never run two processes with one"
    " node id",
    remedy=Remedy.COMPARE_VOTERS,
)
STATIC_IGNORED = _kind(
    "STATIC-IGNORED",
    _INFO,
    "controller.quorum.voters is set while kraft.version is 1. Kafka ignores it, and reports"
    " that with the metric IgnoredStaticVoters.",
    "remove it from the configuration when you next restart the node",
    references=(
        "KIP-853",
        "apache/kafka #20071",
    ),
    remedy=Remedy.SET_BOOTSTRAP_SERVERS,
)
STATIC_DIFFER = _kind(
    "STATIC-DIFFER",
    _ERROR,
    "At kraft.version 0 this setting is the voter set, and the nodes' settings differ.",
    "make controller.quorum.voters the same on every controller and broker before you start"
    " any of them",
    stake=Stake.NO_QUORUM,
    references=("KIP-853",),
    remedy=Remedy.SET_STATIC_VOTERS,
)
ENDPOINT_DIFFERS = _kind(
    "ENDPOINT-DIFFERS",
    _WARNING,
    "A controller's settings advertise another endpoint than the voter set has for it.",
    "at kraft.version 1 a voter reports its new endpoints to the leader once it can reach it."
    " Change one controller at a time: if you change a majority at once, the nodes cannot"
    " find a leader",
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
    "set it to the endpoints of several controllers, and remove controller.quorum.voters, when"
    " you next restart the node",
    references=("KIP-853",),
    remedy=Remedy.SET_BOOTSTRAP_SERVERS,
)
BOOTSTRAP_FORM = _kind(
    "BOOTSTRAP-FORM",
    _ERROR,
    "An entry of controller.quorum.bootstrap.servers is not host:port: Kafka refuses to start.",
    "write host:port entries separated by commas. Put an IPv6 address in brackets",
    references=("KIP-853",),
    keeps_from_starting=True,
    observed=(
        (
            "4.3.0, from its source: an entry that is not host:port stops the start. "
            "PLAIN://host:port, [::1]:port and an empty host pass."
        ),
    ),
)
NO_QUORUM = _kind(
    "NO-QUORUM",
    _ERROR,
    "The settings name neither voters nor bootstrap servers, so the node cannot find its quorum.",
    "set controller.quorum.bootstrap.servers. At kraft.version 0 set controller.quorum.voters",
    stake=Stake.NO_QUORUM,
    references=("KIP-853",),
    remedy=Remedy.SET_BOOTSTRAP_SERVERS,
    keeps_from_starting=True,
)
