"""The KRaft protocol as a pure state machine: events in, effects out.

`raft/core.py` is one function: `step(raft, now_ms, event)` returns the effects in their order. It
handles the event, gives the role its turn (Kafka's poll), and then shows the state machine what it
may see. `raft.py` has the state of a node and what every family does with it: emit, send, wake.
Each family of requests is a file (`vote.py`, `fetch.py`, `voter_changes.py` …) with checks in
Kafka's order, and a function of that state. `roles.py` has the six roles and the transition table,
`transitions.py` what is durable before each. The log's bytes stay outside: the core knows epochs,
ends and snapshots (`log_view.py`), and the history of voter sets (`control_history.py`).
`raft/wire/` turns its messages into Kafka's. Time and chance come from outside. Events and messages
are values by `values.py`: mypy refuses to change one, and Python does not spend time on it.
`names.py` has the nouns for every layer: voter sets, endpoints, offsets with epochs, and what a
majority is. A report's `SeenVoters` is such a voter set with where it was seen.
`tests/test_vocabulary.py` refuses a second class of the same name and a second place that counts a
majority.

Kafka's own client is the judge. `tests/differential/` gives the core, over a real metadata log, and
a KafkaRaftClient of a released Kafka, over its KafkaRaftLog, the same random messages, time, faults
and restarts (`make differential`). It compares requests, replies, role, timers and the files of
both directories after each step. `tolerated.py` is the table of known differences; after one of
them both nodes start again from Kafka's directory, and the trial continues. The transcripts of
`tests/raft/testdata/` run on both, too.

A host does the effects in their order, and hands back what comes of them as the next events. This
one is a voter alone, and time passes for it at once:

>>> import random
>>> from collections import deque
>>> from kraftool.raft import core, events
>>> from kraftool.raft.control_history import ControlHistory
>>> from kraftool.raft.log_view import LogView
>>> from kraftool.raft.names import ElectionState, ReplicaKey, Voter, VoterSet
>>> from kraftool.raft.raft import Raft
>>> from kraftool.raft.settings import NodeSettings
>>> alone = VoterSet.of(Voter(key=ReplicaKey(1)))
>>> settings = NodeSettings(node_id=1, directory_id="d1", cluster_id="c", static_voters=alone)
>>> history = ControlHistory(static_voters=alone)
>>> raft = Raft(settings, random.Random(1), LogView(), history, ElectionState())
>>> waiting = deque(core.start(raft, now_ms=0))
>>> while waiting:
...     match waiting.popleft():
...         case events.PersistElection(state=state):
...             print("quorum-state:", state.epoch, "vote", state.voted, "leader", state.leader_id)
...         case events.AppendBatches(batches=batches):
...             print("log: offset", batches[0].base_offset, *batches[0].control)
...         case events.Flush(end_offset=end):
...             waiting += core.step(raft, 1, events.LogFlushed(end_offset=end))
...         case events.Deliver(from_offset=start, to_offset=end):
...             print("committed: offsets", start, "to", end - 1)
quorum-state: 0 vote None leader None
quorum-state: 1 vote 1@d1 leader None
quorum-state: 1 vote None leader 1
log: offset 0 LeaderChange(leader_id=1, voters=(1,), granting_voters=(1,))
committed: offsets 0 to 0

The hosts of the product are `node/runner.py`, which has disks, connections and a clock, and
`sim/node.py`, which has neither.
"""
