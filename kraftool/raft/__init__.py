"""The KRaft protocol as a pure state machine: events in, effects out.

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
