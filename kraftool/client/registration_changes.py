"""Removing and renewing the registration of a controller that is gone.

Owns the preflight: a controller that votes or runs keeps its registration. Kafka removes one from
metadata.version 4.4-IV2 on. Before that, a gone controller can only be registered again with
another range, as a node with its id would be that is started for a moment.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from functools import partial
from typing import Any

from kraftool.client import asking_changes
from kraftool.client.asking_changes import with_leader
from kraftool.client.change import (
    Check,
    QuorumChange,
    blocked,
    caution,
    fine,
    finished,
    leadership,
    of,
)
from kraftool.client.model import QuorumView
from kraftool.client.observer import observe
from kraftool.client.observing import UnobservableError
from kraftool.client.target import Target
from kraftool.client.thresholds import fetching
from kraftool.image.cluster import (
    ControllerRegistration,
    FeatureRange,
    listeners_and_features,
)
from kraftool.image.metadata_version import METADATA_VERSION, level_name, level_of
from kraftool.storage.random_ids import random_uuid

UNREGISTER_LEVEL = "4.4-IV2"
"""The first metadata.version with a record for it (KIP-1312)."""
_API = "UnregisterController"


async def registration_of(
    target: Target, view: QuorumView, node_id: int
) -> tuple[ControllerRegistration | None, str]:
    """Return a controller's committed registration, or None with the reason if it is not known."""
    try:
        observed = await observe(view, target.access)
    except UnobservableError as error:
        return None, f"its registration cannot be read: {error.message}"
    return observed.image.cluster.controllers.get(node_id), ""


async def unregister_controller(target: Target, node_id: int, *, dry_run: bool) -> QuorumChange:
    """Remove the registration of a controller that is gone."""
    return await with_leader(target, partial(_unregister, target, node_id, dry_run))


async def _unregister(
    target: Target, node_id: int, dry_run: bool, view: QuorumView
) -> QuorumChange:
    change = QuorumChange(
        kind="unregister-controller", subject=f"the registration of controller {node_id}", checks=()
    )
    checks = leadership(view)
    if view.quorum is not None:
        registration, unknown = await registration_of(target, view, node_id)
        checks += [blocked(unknown)] if unknown else []
        checks += [*_is_gone(view, node_id), *can_unregister(view)]
        is_needed = registration is not None or bool(unknown)
        change = replace(change, is_needed=is_needed)
    change = replace(change, checks=tuple(checks))
    if dry_run or not change.is_possible or not change.is_needed:
        return change
    return finished(change, await asking_changes.unregister(view, target.access, node_id))


async def renew_registration(target: Target, node_id: int, *, dry_run: bool) -> QuorumChange:
    """Register a controller that is gone with the levels that the leader supports."""
    return await with_leader(target, partial(_renew, target, node_id, dry_run))


async def _renew(target: Target, node_id: int, dry_run: bool, view: QuorumView) -> QuorumChange:
    change = QuorumChange(
        kind="renew-registration", subject=f"the registration of controller {node_id}", checks=()
    )
    checks = leadership(view)
    registration: ControllerRegistration | None = None
    if view.leader is not None and view.quorum is not None:
        levels = {
            name: FeatureRange(*supported)
            for name, supported in sorted(view.leader.offered.supported.items())
        }
        registration, unknown = await registration_of(target, view, node_id)
        checks += _is_gone(view, node_id)
        if registration is None:
            checks.append(blocked(unknown or f"controller {node_id} is not registered"))
        elif not levels:
            checks.append(blocked("the leader does not report which levels it supports"))
        else:
            checks.append(fine(_words(registration.features, levels)))
            change = replace(change, is_needed=dict(registration.features) != levels)
            registration = replace(registration, features=levels, incarnation_id=random_uuid())
        if all(check.verdict.value != "blocked" for check in can_unregister(view)):
            checks.append(
                caution(
                    f"metadata.version {UNREGISTER_LEVEL} can remove it instead",
                    f"run kraftool quorum unregister-controller {node_id}",
                )
            )
        checks.append(
            caution(
                f"Kafka then takes it for granted that controller {node_id} supports these levels",
                "do not start it again with older software after an upgrade: it would exit",
            )
        )
    change = replace(change, checks=tuple(checks))
    if dry_run or not change.is_possible or not change.is_needed:
        return change
    assert registration is not None, "without one a check blocks"
    body = _request(registration)
    return finished(change, await asking_changes.register(view, target.access, body))


def _words(before: Mapping[str, FeatureRange], after: Mapping[str, FeatureRange]) -> str:
    """Say how the range of metadata.version changes."""
    old, new = before.get(METADATA_VERSION), after.get(METADATA_VERSION)
    return f"{METADATA_VERSION} {_range(old)} becomes {_range(new)}, as the leader supports it"


def _range(levels: FeatureRange | None) -> str:
    return "none" if levels is None else f"{levels.min} to {levels.max}"


def _is_gone(view: QuorumView, node_id: int) -> list[Check]:
    """Check that the node neither votes nor runs: a running node registers itself again."""
    if of(view.voters, node_id) is not None:
        return [
            blocked(
                f"node {node_id} is a voter",
                f"kraftool quorum remove-controller --controller-id {node_id} removes it first",
            )
        ]
    return is_stopped(view, node_id)


def is_stopped(view: QuorumView, node_id: int) -> list[Check]:
    """Check that a node, which may still be a voter, does not run."""
    assert view.quorum is not None, "it was checked"
    node = view.node(node_id)
    if node is not None and node.is_reached:
        return [
            blocked(
                f"node {node_id} runs: it answers at {node.endpoint}",
                "stop it first. A controller that runs registers itself again",
            )
        ]
    if node_id in fetching(view.quorum, (*view.voters, *view.observers)):
        return [
            blocked(
                f"node {node_id} fetches from the leader, so it runs",
                "stop it first, and wait for 6 seconds",
            )
        ]
    return [fine(f"node {node_id} does not answer and does not fetch")]


def can_unregister(view: QuorumView) -> list[Check]:
    """Check that the leader and the level know the request."""
    assert view.leader is not None, "it was checked"
    offered = view.leader.offered
    level = offered.finalized.get(METADATA_VERSION, 0)
    renew = "kraftool quorum renew-registration gives it the levels that the leader supports"
    if _API not in offered.apis:
        return [blocked("the leader runs software that cannot remove a registration", renew)]
    if level < (level_of(UNREGISTER_LEVEL) or 0):
        words = f"{level} ({level_name(level)})" if level_name(level) else str(level)
        return [blocked(f"metadata.version is {words}, and {UNREGISTER_LEVEL} is needed", renew)]
    return [fine(f"metadata.version {level_name(level) or level} can remove a registration")]


def _request(registration: ControllerRegistration) -> dict[str, Any]:
    return {
        "controllerId": registration.id,
        "incarnationId": registration.incarnation_id,
        "zkMigrationReady": registration.zk_migration_ready,
        **listeners_and_features(registration, "listeners"),
    }
