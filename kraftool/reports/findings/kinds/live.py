"""Problems of a running quorum, by the answers of its nodes.

Owns codes, default severities and advice. Thresholds are those of `client/health.py`.
"""

from __future__ import annotations

from kraftool.reports.findings.finding import Severity
from kraftool.reports.findings.kinds import Area

_kind = Area("KT-LIVE").kind
_ERROR, _WARNING, _INFO = Severity.ERROR, Severity.WARNING, Severity.INFO

NO_LEADER = _kind(
    "NO-LEADER",
    _ERROR,
    "None of the nodes that answered is the leader. Nothing can be committed, brokers cannot"
    " register, and voters can be neither added nor removed.",
    "check the nodes that did not answer. Run kraftool simulate-election on the controllers'"
    " directories to see who can win",
)
NO_ANSWER = _kind(
    "NO-ANSWER",
    _ERROR,
    "None of the addresses that were given answered, so nothing is known of the quorum: it may be"
    " healthy.",
    "name the other controllers with --bootstrap-controller",
)
TWO_LEADERS = _kind(
    "TWO-LEADERS",
    _WARNING,
    "Two nodes answer as leaders, in different epochs. The older one is cut off from the"
    " majority and resigns when its timeout expires. Two leaders in one epoch would be two"
    " separate quorums.",
    "ask again after a few seconds. If there are still two, compare the voter sets with"
    " kraftool diff-voters",
)
NO_CONTROLLER = _kind(
    "NO-CONTROLLER",
    _ERROR,
    "The leader runs no controller. Topics cannot be created, brokers that start exit, and"
    " brokers that fail are not fenced. A node started with kraftool node run --witness leads"
    " like this as a last resort, until a voter that runs a controller has caught up.",
    "make sure that a voter runs a controller and catches up, and that a majority remains."
    " The witness then hands over the leadership. If it still leads after a minute, restart"
    " it without --witness",
)
ONE_CONTROLLER = _kind(
    "ONE-CONTROLLER",
    _WARNING,
    "Only one of the voters that are ready runs a controller. The others are witnesses. If that"
    " one fails, no active controller can be elected.",
    "replace a witness with a controller, or bring back the voters that do not keep up",
)
UNREACHED = _kind(
    "UNREACHED",
    _WARNING,
    "A controller of this quorum did not answer.",
    "check that the process is running, then check the network between here and there. From"
    " outside the node's network, name a port-forward with --resolve ID=HOST:PORT",
)
REFUSED = _kind(
    "REFUSED",
    _WARNING,
    "A node answered only some of the requests, so the report on it is incomplete.",
    "look for the error in that node's own log",
)
BROKER = _kind(
    "BROKER",
    _INFO,
    "An address of --bootstrap-controller belongs to a broker. A broker forwards requests to"
    " the leader, so its answers are about the leader. kraftool asks a broker only for the"
    " controllers' addresses, and never sends it a change.",
    "name the controllers with --bootstrap-controller: they also answer when there is no leader",
)
DISAGREE = _kind(
    "DISAGREE",
    _WARNING,
    "Nodes name different leaders or epochs. That is normal for a moment during an election."
    " If it stays, a node does not receive the others' messages.",
    "ask again. If they still differ, check the network between the nodes named",
)
CLUSTER_ID = _kind(
    "CLUSTER-ID",
    _ERROR,
    "The nodes that answered belong to different clusters, or one was formatted with another"
    " cluster id.",
    "name the controllers of one cluster with --bootstrap-controller",
)
NO_SPARE = _kind(
    "NO-SPARE",
    _WARNING,
    "Only just a majority of the voters is ready. If one more of them fails, nothing can be"
    " committed. A voter is ready if it answers kraftool, knows the leader, fetches from it, and"
    " has what was committed. A voter that fetches but cannot be reached does not count: if the"
    " leader fails, it may not get the other votes.",
    "bring back the voters that are not ready before you stop anything else",
)
NO_MAJORITY = _kind(
    "NO-MAJORITY",
    _ERROR,
    "Fewer than a majority of the voters keep up. Nothing is committed. The leader resigns soon,"
    " and no other one can be elected.",
    "bring back the voters that do not keep up",
)
SILENT = _kind(
    "SILENT",
    _WARNING,
    "A replica has not fetched from the leader for longer than three fetch timeouts.",
    "check that it runs and can reach the leader's controller listener",
)
LAG = _kind(
    "LAG",
    _WARNING,
    "A replica fetches, but it is behind the leader's log.",
    "a replica that was away catches up by itself. Check its disk and network if the lag grows",
)
STUCK = _kind(
    "STUCK",
    _ERROR,
    "The leader has records to commit, but the high watermark does not move: a majority does not"
    " have them.",
    "bring back the voters that do not keep up",
)
IDLE = _kind(
    "IDLE",
    _INFO,
    "The log did not grow between two polls. An active controller writes a record at least"
    " every metadata.max.idle.interval.ms, unless that is 0.",
)
ELECTION = _kind(
    "ELECTION",
    _WARNING,
    "The epoch changed between two polls: there was an election.",
    "run kraftool timeline on the controllers' directories to see how often that happens",
)
FEATURE_RANGE = _kind(
    "FEATURE-RANGE",
    _ERROR,
    "A finalized feature level is one that a node does not support. The node cannot lead, and"
    " it stops when it reads the record.",
    "upgrade the software of the node named",
)
FEATURES_DIFFER = _kind(
    "FEATURES-DIFFER",
    _WARNING,
    "Nodes report different finalized levels in two polls: one of them does not apply the"
    " metadata.",
    "run kraftool features on their directories to see which records they have",
)
FEW_VOTERS = _kind(
    "FEW-VOTERS",
    _INFO,
    "A quorum with one or two voters cannot tolerate any failure. This is an info for one voter,"
    " which is a choice, and a warning for two, which fail more often than one.",
    "add controllers until there are three or five voters",
)
EVEN_VOTERS = _kind(
    "EVEN-VOTERS",
    _INFO,
    "An even number of voters tolerates no more failures than one voter fewer would.",
    "use three or five voters",
)
STANDBY = _kind(
    "STANDBY",
    _INFO,
    "A controller is registered but is not a voter. It takes no part in elections.",
    "to make it a voter, run kraftool quorum add-controller",
)
UNEXPECTED_VOTERS = _kind(
    "UNEXPECTED-VOTERS",
    _WARNING,
    "The voters are not those that quorum health --expect-voters names. A voter too many"
    " or too few changes how many failures the quorum tolerates.",
    "run kraftool timeline to see who changed the voters. Then correct them, or correct the"
    " list in the monitor",
)
STALE_REGISTRATION = _kind(
    "STALE-REGISTRATION",
    _INFO,
    "A controller is registered but is not a voter and does not fetch: it was removed, or it is"
    " stopped. Kafka keeps the registration. It does not disturb the quorum, but Kafka refuses"
    " an upgrade to a level that a registered controller does not support. It is an error if the"
    " registration excludes the next metadata.version.",
    "if the node should run, start it. If it is gone for good, run kraftool quorum"
    " unregister-controller (metadata.version 4.4-IV2 or newer) or kraftool quorum"
    " renew-registration (older levels)",
    references=("KIP-1312",),
)
OTHER_DIRECTORY = _kind(
    "OTHER-DIRECTORY",
    _ERROR,
    "A voter fetches with another directory id than the voter set has. It runs on another"
    " directory, so it only observes and its vote does not count.",
    "find the directory with the id in the voter set, and start the node on that one. Only if"
    " it is lost: run kraftool quorum remove-controller with that id, then add-controller",
)
ENDPOINT = _kind(
    "ENDPOINT",
    _WARNING,
    "No node answers at the endpoint recorded for a voter. Another controller of this cluster"
    " answers at an endpoint that no voter is recorded with: it may be that voter at a new"
    " address.",
    "if it is: set its advertised.listeners and restart it, or report the new endpoint to the"
    " leader with kraftool quorum endpoints",
)
ENDPOINT_NOBODY = _kind(
    "ENDPOINT-NOBODY",
    _WARNING,
    "No process answers at an address that the metadata records for a node. The node runs, but"
    " clients and other nodes are sent to that address.",
    "check that the node listens at this address, and check the network in between. Correct"
    " advertised.listeners if the address is wrong; kraftool quorum endpoints corrects a voter's",
)
ENDPOINT_OTHER = _kind(
    "ENDPOINT-OTHER",
    _ERROR,
    "Another node answers at an address that the metadata records for a node. It has another id, or"
    " is of another cluster, or a broker listens there in place of a controller.",
    "find out which process listens there. Correct the address in advertised.listeners, in DNS or"
    " in the load balancer",
)
CERTIFICATE_EXPIRES = _kind(
    "CERTIFICATE-EXPIRES",
    _WARNING,
    "The certificate of a listener is valid for less than two weeks. After that clients and other"
    " nodes refuse the connection: a voter without a valid certificate cannot take part.",
    "renew the certificate now. Kafka reloads a keystore when its config is altered, and at a"
    " restart",
)
CERTIFICATE_EXPIRED = _kind(
    "CERTIFICATE-EXPIRED",
    _ERROR,
    "The certificate of a listener has expired. Open connections stay. Clients and other nodes"
    " refuse new ones.",
    "renew the certificate, and restart the node or reload its keystore",
)
FALSE_UPGRADE = _kind(
    "FALSE-UPGRADE",
    _WARNING,
    "A metadata record names a kraft.version that the quorum does not have. Kafka 3.9 reports"
    " an upgrade as successful but writes only that record. The voters are still static.",
    "keep controller.quorum.voters as it is, and upgrade kraft.version again with Kafka 4.1"
    " or later",
)
STATIC = _kind(
    "STATIC",
    _INFO,
    "The voters are static (kraft.version 0): nodes read them from controller.quorum.voters,"
    " and no command can change them.",
    "run kraftool quorum upgrade --dry-run to see what prevents kraft.version 1",
)

# What the committed metadata says of the cluster, beside who fetches it.
UNOBSERVED = _kind(
    "UNOBSERVED",
    _WARNING,
    "kraftool could not read the committed metadata, so it reports nothing about its content."
    " Only a leader that has committed in its epoch serves it. Other controllers answer"
    " NOT_LEADER_OR_FOLLOWER.",
    "ask again once there is a leader. If an authorizer is on, it requires ClusterAction on"
    " the cluster for this",
)
FENCED = _kind(
    "FENCED",
    _WARNING,
    "A registered broker is fenced: it leads no partition and serves no clients. Its"
    " heartbeats do not arrive, or it has not caught up since it started.",
    "look at the broker's own log. If the broker is gone for good, remove it with"
    " kafka-cluster.sh unregister",
)
SHUTTING_DOWN = _kind(
    "SHUTTING-DOWN",
    _INFO,
    "A broker is in controlled shutdown: it hands over the partitions that it leads, and then"
    " stops.",
)
BROKER_ABSENT = _kind(
    "BROKER-ABSENT",
    _WARNING,
    "A broker counts as active but does not fetch metadata from the leader. Either the active"
    " controller will fence it soon, or the broker sends only heartbeats and works with old"
    " metadata.",
    "check that the broker can reach the leader's controller listener",
)
UNDER_MIN_ISR = _kind(
    "UNDER-MIN-ISR",
    _ERROR,
    "Partitions have fewer replicas in sync than min.insync.replicas, so they refuse"
    " producers with acks=all. kraftool knows only the topic and dynamic broker configs here."
    " Where those do not set it, kraftool assumes Kafka's default of 1.",
    "bring back the brokers that have their other replicas",
)
UNDER_REPLICATED = _kind(
    "UNDER-REPLICATED",
    _WARNING,
    "Partitions have replicas that are not in sync, because their brokers are fenced or slow.",
    "bring back the brokers named. If none of them is fenced, check their disks and network",
)
IMBALANCE = _kind(
    "IMBALANCE",
    _INFO,
    "A broker is the preferred leader of partitions, but other brokers lead more than a tenth"
    " of these. With auto.leader.rebalance.enable the controller corrects that within five"
    " minutes.",
    "to correct it at once, elect the preferred leaders with kafka-leader-election.sh",
)
REASSIGNING = _kind(
    "REASSIGNING",
    _INFO,
    "Partitions are being reassigned to other brokers.",
    "see the progress with kafka-reassign-partitions.sh --list",
)
ELECTIONS = _kind(
    "ELECTIONS",
    _WARNING,
    "New leaders were elected within an hour. Nothing is committed during an election. A"
    " controller that restarts explains the elections around its start. It is a warning if"
    " restarts do not explain more of the elections than there are voters.",
    "run kraftool timeline on the controllers' directories to see who lost the leadership and when",
)
SNAPSHOT_AGE = _kind(
    "SNAPSHOT-AGE",
    _INFO,
    "The leader's newest snapshot is older than twice the default of"
    " metadata.log.max.snapshot.interval.ms. A node that starts has to replay all records"
    " since then.",
    "check that setting, the metrics of SnapshotEmitter, and the controllers' logs",
)
TRANSACTION_OPEN = _kind(
    "TRANSACTION-OPEN",
    _INFO,
    "A metadata transaction is open: its changes are not visible until it is committed. That"
    " normally takes a moment. The next active controller aborts one that was left open.",
)
VOTER_CHANGE = _kind(
    "VOTER-CHANGE",
    _WARNING,
    "A change of the voters is not committed. The leader counts by the new set already. The change"
    " is undone if a node without it is elected.",
    "bring back the voters that do not keep up, so that the change is committed",
)
STALE_DIRECTORY = _kind(
    "STALE-DIRECTORY",
    _WARNING,
    "The log of a watched directory is older than the quorum's. It is a copy, or its node is down,"
    " does not follow, or was removed as a voter.",
    "start the node of the directory, or leave the directory out",
)
BEYOND_LEADER = _kind(
    "BEYOND-LEADER",
    _WARNING,
    "A watched directory has records beyond the end of the leader's log. The quorum does not have"
    " them: they were never committed, or the quorum lost them.",
    "keep a copy of the directory before its node starts: Kafka truncates these records. Compare"
    " it with the voters' directories: kraftool doctor",
)
