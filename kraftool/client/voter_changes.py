"""Adding, removing and moving voters: what is looked at before, and the change itself.

Owns the preflight of each: what Kafka would refuse or let time out is found before it is asked, and
what would leave no majority is not asked at all.
"""

from __future__ import annotations

from dataclasses import replace
from functools import partial

from kraftool.client import asking_changes
from kraftool.client.asking import question
from kraftool.client.asking_changes import once_committed, with_leader
from kraftool.client.change import (
    ChangeOutcome,
    Check,
    QuorumChange,
    blocked,
    caution,
    fine,
    finished,
    is_dynamic,
    keeping,
    leadership,
    majority_after,
    of,
    parity,
)
from kraftool.client.listeners import NewVoter, words
from kraftool.client.model import NodeAnswer, QuorumView, leader_end
from kraftool.client.registration_changes import can_unregister, is_stopped, registration_of
from kraftool.client.target import Target
from kraftool.client.thresholds import LAG_RECORDS
from kraftool.image.metadata_version import KRAFT_VERSION
from kraftool.raft.endpoints import shown_endpoint
from kraftool.raft.messages import ReplicaState
from kraftool.raft.names import Endpoint, Endpoints, ReplicaKey, VersionRange

_LOOPBACK = ("localhost", "127.0.0.1", "::1")
_UNREGISTER = "kraftool quorum unregister-controller"
_RECENT_MS = 60 * 60 * 1000
"""Kafka adds only a controller that has fetched within the last hour."""


async def add_controller(target: Target, candidate: NewVoter, *, dry_run: bool) -> QuorumChange:
    """Make an observing controller a voter."""
    return await with_leader(target, partial(_add, target, candidate, dry_run))


async def _add(
    target: Target, candidate: NewVoter, dry_run: bool, view: QuorumView
) -> QuorumChange:
    assert candidate.node_id is not None, "somebody in particular is to be added"
    checks = [*leadership(view), *is_dynamic(view)]
    endpoints, unknown = candidate.endpoints, ""
    if not endpoints and view.quorum is not None:
        endpoints, unknown = await _registered(target, view, candidate.node_id)
    voter = of(view.voters, candidate.node_id)
    observer = _observer(view, candidate)
    directory_id = candidate.directory_id
    if directory_id is None and observer is not None:
        directory_id = observer.replica.directory_id
    key = ReplicaKey(candidate.node_id, directory_id)
    change = QuorumChange(
        kind="add-controller",
        subject=f"controller {candidate.node_id} with directory id {directory_id or 'unknown'}"
        f" and endpoints {words(endpoints) or 'unknown'}",
        checks=(),
        is_needed=voter is None or voter.replica != key,
    )
    if view.quorum is not None and change.is_needed:
        checks += _addable(view, key, voter, observer)
        checks += _endpoints(view, endpoints, unknown)
        if candidate.cluster_id not in (None, view.cluster_id):
            checks.append(
                blocked(
                    f"its directory belongs to cluster {candidate.cluster_id}, not"
                    f" {view.cluster_id}"
                )
            )
        voters = [replica.replica.id for replica in view.voters]
        checks.append(
            majority_after((*voters, key.id), (*keeping(view), *([key.id] if observer else [])))
        )
        checks += parity(len(voters) + 1)
        checks += await _answers(target, view, endpoints)
    change = replace(change, checks=tuple(checks))
    if dry_run or not change.is_possible or not change.is_needed:
        return change
    answer = await asking_changes.add_voter(view, target.access, key, endpoints)
    return finished(change, answer)


async def _registered(target: Target, view: QuorumView, node_id: int) -> tuple[Endpoints, str]:
    """Every endpoint with which a controller has registered, or why there is none.

    Kafka's tool takes the same ones from the controller's own configuration.
    """
    registration, unknown = await registration_of(target, view, node_id)
    if unknown:
        return {}, unknown
    if registration is None or not registration.listeners:
        return {}, f"node {node_id} has not registered as a controller (Kafka 3.7 and newer do)"
    return {
        listener.name: Endpoint(listener.host, listener.port) for listener in registration.listeners
    }, ""


def _observer(view: QuorumView, candidate: NewVoter) -> ReplicaState | None:
    """The candidate among those that observe; its directory id decides where it is given."""
    replicas = [observer for observer in view.observers if observer.replica.id == candidate.node_id]
    if candidate.directory_id is not None:
        replicas = [
            replica
            for replica in replicas
            if replica.replica.directory_id == candidate.directory_id
        ]
    return replicas[0] if len(replicas) == 1 else None


def _addable(
    view: QuorumView, key: ReplicaKey, voter: ReplicaState | None, observer: ReplicaState | None
) -> list[Check]:
    if voter is not None:
        return [
            blocked(
                f"node {key.id} already votes, with directory id {voter.replica.directory_id}",
                "a disk that was formatted again is another voter: first remove the old one"
                f" with kraftool quorum remove-controller --controller-id {key.id}",
            )
        ]
    several = [replica for replica in view.observers if replica.replica.id == key.id]
    if observer is None and key.directory_id is None and len(several) > 1:
        ids = ", ".join(str(replica.replica.directory_id) for replica in several)
        return [
            blocked(
                f"node {key.id} fetches with several directory ids: {ids}",
                "name the one that it uses now with --controller-directory-id: directory.id"
                " in its meta.properties",
            )
        ]
    if observer is None:
        return [
            blocked(
                f"the leader does not see node {key.id}"
                + (f" with directory id {key.directory_id}" if key.directory_id else "")
                + " fetch",
                "start it first, formatted with --no-initial-controllers and with"
                " controller.quorum.bootstrap.servers set. It must catch up as an observer",
            )
        ]
    if key.directory_id is None:
        return [
            blocked(
                f"node {key.id} does not report a directory id", "name --controller-directory-id"
            )
        ]
    lag = leader_end(view) - observer.log_end_offset
    assert view.quorum is not None, "observers are told by a leader"
    own = of(view.voters, view.quorum.leader_id)
    clock = own.last_fetch_timestamp if own is not None else observer.last_fetch_timestamp
    if observer.last_caught_up_timestamp < 0 or lag > LAG_RECORDS:
        return [blocked(f"node {key.id} is {lag} records behind", "wait until it has caught up")]
    if clock - observer.last_fetch_timestamp > _RECENT_MS:
        return [blocked(f"node {key.id} has not fetched for an hour", "check that it is running")]
    return [fine(f"node {key.id} observes, {lag} records behind")]


def _endpoints(view: QuorumView, endpoints: Endpoints, unknown: str = "") -> list[Check]:
    """Check that others can reach it: on the listener that they use, at its own address."""
    if not endpoints:
        return [
            blocked(
                unknown or "kraftool knows no endpoint for it",
                "give its endpoints with --endpoint LISTENER://HOST:PORT, one for each"
                " controller listener. Or use --config on its own host",
            )
        ]
    checks = []
    known = [set(voter_endpoint) for voter_endpoint in view.voter_endpoints.values()]
    common = set.intersection(*known) if known else set()
    if common and not common & set(endpoints):
        checks.append(
            blocked(
                f"none of its listeners ({', '.join(endpoints)}) is one that the voters use"
                f" ({', '.join(sorted(common))})"
            )
        )
    hosts = {endpoint.host for one in view.voter_endpoints.values() for endpoint in one.values()}
    for name, endpoint in endpoints.items():
        if endpoint.host in ("0.0.0.0", "::"):
            checks.append(
                blocked(
                    f"{shown_endpoint(name, endpoint)} is not an address at which other nodes can"
                    " reach a node"
                )
            )
        elif endpoint.host in _LOOPBACK and any(host not in _LOOPBACK for host in hosts):
            checks.append(caution(f"at {shown_endpoint(name, endpoint)} every node reaches itself"))
        for other, theirs in view.voter_endpoints.items():
            if endpoint in theirs.values():
                checks.append(caution(f"{endpoint} is the endpoint of voter {other}"))
    return checks


async def _answers(target: Target, view: QuorumView, endpoints: Endpoints) -> list[Check]:
    """Check that a node of this cluster answers there that supports the finalized levels."""
    level = view.kraft_version
    checks = []
    for name, endpoint in endpoints.items():
        answer = await question(endpoint, target.access)
        if not answer.is_reached:
            checks.append(
                caution(
                    f"{shown_endpoint(name, endpoint)} cannot be reached from here:"
                    f" {answer.problem}",
                    "the other controllers must be able to reach it",
                )
            )
            continue
        if other := _is_other(answer, view):
            checks.append(blocked(f"{endpoint} {other}"))
            continue
        low, high = answer.offered.supported.get(KRAFT_VERSION, (0, 0))
        if not low <= level <= high:
            checks.append(
                blocked(f"{endpoint} supports kraft.version {low} to {high}, not {level}")
            )
        else:
            checks.append(fine(f"{shown_endpoint(name, endpoint)} answers"))
    return checks


async def remove_controller(
    target: Target,
    node_id: int,
    directory_id: str | None,
    *,
    unregister: bool = False,
    dry_run: bool,
) -> QuorumChange:
    """Let a voter vote no more. With `unregister` its registration is removed too."""
    change = partial(_remove, target, node_id, directory_id, unregister, dry_run)
    return await with_leader(target, change)


async def _remove(
    target: Target,
    node_id: int,
    directory_id: str | None,
    unregister: bool,
    dry_run: bool,
    view: QuorumView,
) -> QuorumChange:
    checks = [*leadership(view), *is_dynamic(view)]
    voter = of(view.voters, node_id)
    known = voter.replica.directory_id if voter is not None else None
    key = ReplicaKey(node_id, directory_id or known)
    change = QuorumChange(
        kind="remove-controller",
        subject=f"controller {node_id} with directory id {key.directory_id or 'unknown'}"
        + (" and its registration" if unregister else ""),
        checks=(),
    )
    if view.quorum is not None:
        checks += _removable(view, key, voter)
        if unregister and voter is not None:
            checks += [*is_stopped(view, node_id), *can_unregister(view)]
    change = replace(change, checks=tuple(checks))
    if dry_run or not change.is_possible:
        return change
    removed = finished(change, await asking_changes.remove_voter(view, target.access, key))
    if not unregister or removed.outcome is not ChangeOutcome.DONE:
        return removed
    return await _without_registration(target, removed, node_id)


async def _without_registration(
    target: Target, removed: QuorumChange, node_id: int
) -> QuorumChange:
    """Remove the registration of a voter that was removed."""
    view = await target.survey()
    stays = f"the voter was removed, but its registration was not: run {_UNREGISTER} {node_id}"
    if view.leader is None:
        return replace(removed, outcome=ChangeOutcome.REFUSED, reason=f"no node leads; {stays}")
    answer = await asking_changes.unregister(view, target.access, node_id)
    unregistered = finished(removed, answer)
    if unregistered.outcome is ChangeOutcome.REFUSED:
        return replace(unregistered, reason=f"{unregistered.reason}; {stays}")
    return unregistered


def _removable(view: QuorumView, key: ReplicaKey, voter: ReplicaState | None) -> list[Check]:
    voters = {replica.replica.id for replica in view.voters}
    if voter is None:
        ids = ", ".join(map(str, sorted(voters)))
        return [blocked(f"node {key.id} is not a voter", f"the voters are {ids}")]
    if key.directory_id is None or voter.replica.directory_id != key.directory_id:
        return [blocked(f"voter {key.id} has directory id {voter.replica.directory_id}")]
    if len(voters) == 1:
        return [blocked("it is the only voter")]
    checks = [
        fine(f"node {key.id} is a voter"),
        majority_after(voters - {key.id}, keeping(view)),
        *parity(len(voters) - 1),
    ]
    if view.quorum is not None and view.quorum.leader_id == key.id:
        checks.append(
            caution("it leads: it resigns once it is removed, and another node is elected")
        )
    checks.append(
        caution(
            "if it keeps running with controller.quorum.auto.join.enable=true, it joins again",
            "stop it first, or set that to false",
        )
    )
    return checks


async def move_controller(
    target: Target, node_id: int, endpoints: Endpoints, *, dry_run: bool
) -> QuorumChange:
    """Tell the quorum where a voter is reached."""
    return await with_leader(target, partial(_move, target, node_id, endpoints, dry_run))


async def _move(
    target: Target, node_id: int, endpoints: Endpoints, dry_run: bool, view: QuorumView
) -> QuorumChange:
    voter = of(view.voters, node_id)
    before = view.voter_endpoints.get(node_id, {})
    change = QuorumChange(
        kind="endpoints",
        subject=f"controller {node_id} from {words(before) or 'unknown'} to {words(endpoints)}",
        checks=(),
        is_needed=dict(before) != dict(endpoints),
    )
    checks = leadership(view)
    levels = VersionRange(0, 0)
    if view.quorum is not None and change.is_needed:
        checks += is_dynamic(view)
        if voter is None:
            checks.append(blocked(f"node {node_id} is not a voter"))
        checks += _endpoints(view, endpoints)
        reach, levels = await _is_there(target, view, endpoints)
        checks += reach
        checks.append(
            caution(
                "the node itself writes back the endpoints in its own advertised.listeners",
                "change its configuration too",
            )
        )
    change = replace(change, checks=tuple(checks))
    if dry_run or not change.is_possible or not change.is_needed:
        return change
    assert voter is not None, "a voter was found"
    answer = await asking_changes.update_voter(
        view, target.access, voter.replica, endpoints, levels
    )
    return finished(change, await once_committed(target, view, answer))


def _is_other(answer: NodeAnswer, view: QuorumView) -> str:
    """Return what answers at an endpoint if it is no controller of the cluster; else empty."""
    if answer.is_broker:
        return "is a broker's listener, not a controller's"
    if answer.cluster_id not in (None, view.cluster_id):
        return f"belongs to cluster {answer.cluster_id}"
    return ""


async def _is_there(
    target: Target, view: QuorumView, endpoints: Endpoints
) -> tuple[list[Check], VersionRange]:
    """The node has to answer at its new endpoints: nobody else tells what it supports."""
    checks, levels = [], VersionRange(0, 0)
    for name, endpoint in endpoints.items():
        answer = await question(endpoint, target.access)
        if not answer.is_reached:
            checks.append(
                blocked(f"{shown_endpoint(name, endpoint)} cannot be reached: {answer.problem}")
            )
            continue
        if other := _is_other(answer, view):
            checks.append(blocked(f"{endpoint} {other}"))
            continue
        checks.append(fine(f"{shown_endpoint(name, endpoint)} answers"))
        levels = VersionRange(*answer.offered.supported.get(KRAFT_VERSION, (0, 0)))
    return checks, levels
