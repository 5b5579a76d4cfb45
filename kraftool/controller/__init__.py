"""The active controller: what Kafka's QuorumController decides, without disk, network or clock.

A request and the time go in; records, an answer and the time of the next task come out
(`controller.py`). Whoever runs it (the node, the simulator) appends the records and says what is
committed.

An `ActiveController` (`controller/controller.py`) exists for one claim: from an election until the
node leads no longer. `turn` decides on requests and due tasks, up to the records that one step may
have. `committed` gives the answers that waited. A decision is made on `state.py`, which is all that
was appended, committed or not; its records are encoded and read again before they are replayed
there, so that the controller sees what all other nodes will see. `partition_index.py` makes a
broker's failure cost what it changes. `partition_changes.py` is the one place that works out
leaders, ISR and ELR; `fencing.py`, `alter_partition.py`, `assign_directories.py` and `elections.py`
ask it. `new_partitions.py` serves new topics and topics that get more partitions;
`alter_configs.py` checks configs by `topic_configs.py`, `group_configs.py` and the ConfigDefs that
`tools/resource_configs.py` wrote down, and `describe_configs.py` says where each value comes from.
`acls.py` and `scram_credentials.py` serve ACLs and users; `authorizer.py` decides what ACLs let a
client do, and `permissions.py` carries that to decisions on single topics and resources.
`update_features.py` decides on levels; kraft.version is the raft log's (`raft/kraft_upgrade.py`),
whose records come before the controller's. `answers.py` has the answers that take no decision.
`client_quotas.py` and `delegation_tokens.py` decide on what they are named after.
`mutation_quota.py` is a node's and no claim's: what a client was charged it stays charged.
`heartbeats.py` has what no record has: sessions, and how far each broker has read. Nothing of a
claim survives it: the next claim begins with the committed state.

`node/controlling.py` runs it: all requests that wait are decided in one turn, at the offset that
comes next. A thread works it out (`controller_turn.py`), or the loop itself if it takes some
milliseconds at most (`is_light`). A turn is private until it is over; heartbeats and commits come
in by two deques. Its records are appended with nothing in between: until then the runner keeps back
the events that may append (`appends.may_append`), and an UpdateRaftVoter is refused, because a
follower does not fetch before its answer. If the claim ends first, the turn is dropped.
`process.py` has the interpreter switch threads every 0.5 ms. `sim/controllers.py` runs the same
class in virtual time, on request with other events during its turns.

`tests/differential/controller/` is the judge: a QuorumController of the released jars, with a clock
and a log that move on request, takes the same steps.
"""
