"""What is wrong with a running quorum, by the answers of its nodes.

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
    "No node that could be asked leads: nothing can be committed, brokers cannot register, and"
    " voters can be neither added nor removed.",
    "look at the nodes that could not be reached, and run kraftool simulate-election on the"
    " controllers' directories to see who could win",
)
TWO_LEADERS = _kind(
    "TWO-LEADERS",
    _WARNING,
    "Two nodes answer as leaders, of different epochs: the older one is cut off from the majority,"
    " and resigns when its time has run out. In one epoch this would be two separate quorums.",
    "ask again after a few seconds; if it stays, compare the voter sets with kraftool diff-voters",
)
NO_CONTROLLER = _kind(
    "NO-CONTROLLER",
    _ERROR,
    "The leader runs no controller: topics cannot be created, brokers that start exit, and brokers"
    " that fail are not fenced. kraftool node run --witness leads so, as a last resort,"
    " until a voter that runs a controller has caught up.",
    "make sure that a voter runs a controller and catches up, and that a majority remains. The"
    " leader hands over to it. If it leads after a minute, restart it without --witness",
)
ONE_CONTROLLER = _kind(
    "ONE-CONTROLLER",
    _WARNING,
    "Only one of the voters that keep up runs a controller; the others are witnesses. If that one"
    " fails, no active controller can be elected.",
    "start a controller in place of a witness, or bring back the voters that do not keep up",
)
UNREACHED = _kind(
    "UNREACHED",
    _WARNING,
    "A controller of this quorum could not be asked: it is down, unreachable from here, or rejects"
    " our credentials.",
    "check that the process is running, then the network on the way. Outside the node's network,"
    " name a port-forward with --resolve ID=HOST:PORT",
)
REFUSED = _kind(
    "REFUSED",
    _WARNING,
    "A node did not answer everything that it was asked, so that less can be said of it.",
    "look for the error in the node's own log",
)
BROKER = _kind(
    "BROKER",
    _INFO,
    "An address of --bootstrap-controller is a broker's. A broker passes questions on to the"
    " leader, so that its answers are about the leader. kraftool asks a broker only for the"
    " controllers' addresses, and never sends it a change.",
    "name the controllers with --bootstrap-controller: they answer while no node leads, too",
)
DISAGREE = _kind(
    "DISAGREE",
    _WARNING,
    "Nodes do not name the same leader of the same epoch. During an election that is so for a"
    " moment; if it stays, a node does not hear of the others.",
    "ask again; then look at the network between the nodes named",
)
CLUSTER_ID = _kind(
    "CLUSTER-ID",
    _ERROR,
    "The nodes asked are of different clusters, or one was formatted with another cluster id.",
    "name the controllers of one cluster with --bootstrap-controller",
)
NO_SPARE = _kind(
    "NO-SPARE",
    _WARNING,
    "A bare majority of the voters is keeping up: if one more of them fails nothing can be"
    " committed.",
    "bring back the voters that do not keep up before anything else is stopped",
)
NO_MAJORITY = _kind(
    "NO-MAJORITY",
    _ERROR,
    "Fewer than a majority of the voters are keeping up: nothing is committed, and the leader is"
    " about to resign.",
    "bring back the voters that do not keep up",
)
SILENT = _kind(
    "SILENT",
    _WARNING,
    "A replica has not fetched from the leader for longer than three fetch timeouts.",
    "look whether it runs and reaches the leader's controller listener",
)
LAG = _kind(
    "LAG",
    _WARNING,
    "A replica fetches, but is behind the leader's log.",
    "a replica that was away catches up by itself; look at its disk and network if the lag grows",
)
STUCK = _kind(
    "STUCK",
    _ERROR,
    "The leader's log has grown and the high watermark has not: records are written, and no"
    " majority has them.",
    "bring back the voters that do not keep up",
)
IDLE = _kind(
    "IDLE",
    _INFO,
    "The log did not grow between two looks. An active controller writes a record at least every"
    " metadata.max.idle.interval.ms, unless that is 0.",
)
ELECTION = _kind(
    "ELECTION",
    _WARNING,
    "The epoch changed between two looks: there was an election.",
    "kraftool timeline on the controllers' directories shows how often that happens",
)
FEATURE_RANGE = _kind(
    "FEATURE-RANGE",
    _ERROR,
    "A level is finalized that a node does not support: it cannot lead, and stops when it reads"
    " of it.",
    "upgrade the software of the node named",
)
FEATURES_DIFFER = _kind(
    "FEATURES-DIFFER",
    _WARNING,
    "Nodes tell different finalized levels, in two looks: one of them does not apply the metadata.",
    "kraftool features on their directories tells which records they have",
)
FEW_VOTERS = _kind(
    "FEW-VOTERS",
    _INFO,
    "With one or two voters no failure is survived.",
    "add controllers until there are three or five voters",
)
EVEN_VOTERS = _kind(
    "EVEN-VOTERS",
    _INFO,
    "An even number of voters survives no more failures than one fewer would.",
    "three or five voters are usual",
)
STANDBY = _kind(
    "STANDBY",
    _INFO,
    "A controller is registered and is no voter: it takes no part in elections.",
    "kraftool quorum add-controller makes it a voter",
)
OTHER_DIRECTORY = _kind(
    "OTHER-DIRECTORY",
    _ERROR,
    "A voter's node fetches with another directory id than the voters know: it runs on another"
    " directory, observes, and its vote does not count.",
    "look for the directory with the id that the voters have, and start that one. Only where it is"
    " lost: kraftool quorum remove-controller with that id, then add-controller",
)
ENDPOINT = _kind(
    "ENDPOINT",
    _WARNING,
    "Nobody answers where a voter is recorded, and a controller of this cluster that no recorded"
    " endpoint leads to answers elsewhere: it may be that voter, moved.",
    "where it is: set its advertised.listeners and restart it, or tell the leader with kraftool"
    " quorum endpoints",
)
FALSE_UPGRADE = _kind(
    "FALSE-UPGRADE",
    _WARNING,
    "A metadata record claims a kraft.version that the quorum does not have: Kafka 3.9 answers an"
    " upgrade with success and writes only that record. The voters are still static.",
    "leave controller.quorum.voters as it is, and upgrade kraft.version again from Kafka 4.1 on",
)
STATIC = _kind(
    "STATIC",
    _INFO,
    "The voters are static (kraft.version 0): they are read from controller.quorum.voters, and can"
    " be changed by no command.",
    "kraftool quorum upgrade --dry-run tells what stands in the way of kraft.version 1",
)

# What the committed metadata says of the cluster, beside who fetches it.
UNOBSERVED = _kind(
    "UNOBSERVED",
    _WARNING,
    "The committed metadata could not be read, so that nothing is said of what it holds. Only a"
    " leader that has committed in its epoch tells it; other controllers answer"
    " NOT_LEADER_OR_FOLLOWER.",
    "ask again once there is a leader; an authorizer wants ClusterAction on the cluster for it",
)
FENCED = _kind(
    "FENCED",
    _WARNING,
    "A registered broker is fenced: it leads no partition and takes no clients. Its heartbeats do"
    " not come, or it has not caught up since it started.",
    "look at the broker's own log; kafka-cluster unregister removes one that is gone for good",
)
SHUTTING_DOWN = _kind(
    "SHUTTING-DOWN",
    _INFO,
    "A broker is in controlled shutdown: it hands over what it leads, and then stops.",
)
BROKER_ABSENT = _kind(
    "BROKER-ABSENT",
    _WARNING,
    "A broker counts as active and does not fetch metadata from the leader: the active controller"
    " is about to fence it, or the broker sends only heartbeats and works with old metadata.",
    "look whether the broker reaches the leader's controller listener",
)
UNDER_MIN_ISR = _kind(
    "UNDER-MIN-ISR",
    _ERROR,
    "Partitions have fewer replicas in sync than min.insync.replicas: producers with acks=all are"
    " refused. Only what topic and dynamic broker configs say of it is known here; where they say"
    " nothing, Kafka's default of 1 is taken.",
    "bring back the brokers that their other replicas are on",
)
UNDER_REPLICATED = _kind(
    "UNDER-REPLICATED",
    _WARNING,
    "Partitions have replicas that are not in sync: of brokers that are fenced or slow.",
    "bring back the brokers named; where none is fenced, look at their disks and network",
)
IMBALANCE = _kind(
    "IMBALANCE",
    _INFO,
    "More than a tenth of the partitions that a broker is the first replica of are led by others."
    " With auto.leader.rebalance.enable the controller mends that within five minutes.",
    "kafka-leader-election --election-type preferred --all-topic-partitions does it at once",
)
REASSIGNING = _kind(
    "REASSIGNING",
    _INFO,
    "Partitions are being reassigned to other brokers.",
    "kafka-reassign-partitions --list shows how far they are",
)
ELECTIONS = _kind(
    "ELECTIONS",
    _WARNING,
    "New leaders within an hour, during whose elections nothing is committed. It is a warning where"
    " they are more than one restart of every voter explains.",
    "kraftool timeline on the controllers' directories shows who lost the leadership and when",
)
SNAPSHOT_AGE = _kind(
    "SNAPSHOT-AGE",
    _INFO,
    "The leader's newest snapshot is older than twice the default of"
    " metadata.log.max.snapshot.interval.ms: a node that starts has to replay all that came since.",
    "look at that setting, and at SnapshotEmitter's metrics and the log of the controllers",
)
TRANSACTION_OPEN = _kind(
    "TRANSACTION-OPEN",
    _INFO,
    "A metadata transaction is open: what it changed is visible to nobody until it ends. That lasts"
    " for a moment; the next active controller aborts one that was left open.",
)
