"""A leader with fetches that wait, for tests and the bench of them."""

from __future__ import annotations

from random import Random

from kraftool.raft import core
from kraftool.raft.control_history import ControlHistory
from kraftool.raft.events import Append, Effect, LogFlushed, Reply, RequestReceived, TimePassed
from kraftool.raft.log_view import LogView
from kraftool.raft.messages import FetchRequest
from kraftool.raft.names import Endpoint, ReplicaKey, Voter, VoterSet
from kraftool.raft.raft import Raft
from kraftool.raft.settings import NodeSettings

LISTENER = "CONTROLLER"
WAIT_MS = 500


def leader() -> Raft:
    """The only voter of a quorum, with something committed in its epoch."""
    endpoint = Endpoint("n1", 9093)
    voters = VoterSet.of(Voter(key=ReplicaKey(1), endpoints={LISTENER: endpoint}))
    settings = NodeSettings(
        node_id=1,
        directory_id="d1",
        cluster_id="c",
        listeners={LISTENER: endpoint},
        static_voters=voters,
    )
    control = ControlHistory(static_voters=voters)
    raft = Raft(settings, Random(0), LogView.of([]), control, None)
    core.start(raft, 1)
    core.step(raft, 2, LogFlushed(end_offset=raft.log.end_offset))
    return raft


def park(raft: Raft, count: int, *, step_ms: int = 0) -> None:
    """Let as many observers fetch at the end of the log."""
    for number in range(count):
        asked = FetchRequest(
            replica=ReplicaKey(1_000 + number, f"d{number}"),
            current_leader_epoch=raft.epoch,
            fetch_offset=raft.log.end_offset,
            last_fetched_epoch=raft.epoch,
            max_wait_ms=WAIT_MS,
        )
        event = RequestReceived(request_id=number, listener=LISTENER, request=asked)
        core.step(raft, raft.now_ms + step_ms, event)
    assert len(raft.parked) == count


def append(raft: Raft) -> list[int]:
    """Append a record and wait until it is written; return whose fetches were answered."""
    effects = core.step(raft, raft.now_ms, Append(epoch=raft.epoch, records=(b"record",), size=100))
    effects += core.step(raft, raft.now_ms + raft.timing.append_linger_ms, TimePassed())
    return replies(effects)


def replies(effects: list[Effect]) -> list[int]:
    """The requests that were answered, in order."""
    return [effect.request_id for effect in effects if isinstance(effect, Reply)]
