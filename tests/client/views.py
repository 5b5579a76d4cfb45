"""Views of quorums that nobody runs, for what is judged by them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace

from kraftool.client.model import NodeAnswer, QuorumView
from kraftool.net.api_versions import Offered
from kraftool.raft.messages import DescribeQuorumResponse, ReplicaState
from kraftool.raft.names import Endpoint, ReplicaKey

NOW = 1_000_000
DIRECTORIES = {number: f"directory-{number:012}" for number in range(1, 10)}
FINALIZED = {"kraft.version": 1, "metadata.version": 30}
SUPPORTED = {"kraft.version": (0, 1), "metadata.version": (7, 30)}


def replica(
    number: int, *, end: int = 100, fetched: int = NOW, caught_up: int | None = None
) -> ReplicaState:
    return ReplicaState(
        replica=ReplicaKey(number, DIRECTORIES[number]),
        log_end_offset=end,
        last_fetch_timestamp=fetched,
        last_caught_up_timestamp=fetched if caught_up is None else caught_up,
    )


def endpoint(number: int) -> Endpoint:
    return Endpoint(f"ctl-{number}", 9093)


def node(
    number: int,
    *,
    leader: int | None = 1,
    epoch: int = 5,
    quorum: DescribeQuorumResponse | None = None,
    finalized: Mapping[str, int] = FINALIZED,
    supported: Mapping[str, tuple[int, int]] = SUPPORTED,
    controllers: Sequence[int] = (),
    runs_controller: bool | None = None,
) -> NodeAnswer:
    """What a node said that was reached."""
    offered = () if runs_controller is None else ("Vote", *["CreateTopics"] * runs_controller)
    return NodeAnswer(
        endpoint=endpoint(number),
        node_id=number,
        asked_ms=NOW,
        cluster_id="cluster",
        offered=Offered(
            apis=dict.fromkeys(offered, (0, 1)),
            supported=supported,
            finalized=finalized,
            finalized_epoch=9,
        ),
        epoch=epoch,
        leader_id=leader,
        quorum=quorum,
        controllers={controller: endpoint(controller) for controller in controllers},
    )


def gone(number: int) -> NodeAnswer:
    """A node that was not reached."""
    return replace(
        node(number), is_reached=False, epoch=None, leader_id=None, problem="refused",
        cluster_id=None, offered=Offered(apis={}),
    )  # fmt: skip


def described(
    voters: Sequence[ReplicaState],
    observers: Sequence[ReplicaState] = (),
    *,
    mark: int = 100,
    epoch: int = 5,
    leader: int = 1,
) -> DescribeQuorumResponse:
    return DescribeQuorumResponse(
        leader_id=leader,
        leader_epoch=epoch,
        high_watermark=mark,
        voters=tuple(voters),
        observers=tuple(observers),
        nodes={voter.replica.id: {"CONTROLLER": endpoint(voter.replica.id)} for voter in voters},
    )


def view(quorum: DescribeQuorumResponse, *others: NodeAnswer) -> QuorumView:
    """A leader that says this, and what the others say."""
    leader = node(quorum.leader_id, quorum=quorum, epoch=quorum.leader_epoch)
    nodes = sorted((leader, *others), key=lambda answer: answer.node_id or 0)
    return QuorumView(nodes=tuple(nodes))


def well(*, mark: int = 100, at: int = NOW) -> QuorumView:
    """Three voters that keep up."""
    voters = [replica(number, end=mark, fetched=at) for number in (1, 2, 3)]
    return view(described(voters, mark=mark), node(2), node(3))


def without_controller(*, leader: int = 3, end: int = 100, at: int = NOW) -> QuorumView:
    """Two Kafkas, one of ours, which is node 3, and a broker; all keep up."""
    voters = [replica(number, end=end, fetched=at) for number in (1, 2, 3)]
    observers = [replica(4, end=end, fetched=at)]
    quorum = described(voters, observers, mark=end, leader=leader)
    return QuorumView(
        nodes=tuple(
            node(
                number,
                leader=leader,
                quorum=quorum if number == leader else None,
                runs_controller=number != 3,
            )
            for number in (1, 2, 3)
        )
    )
