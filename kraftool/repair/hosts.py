"""The part of a plan that a data directory is.

Owns the comparison of what meta.properties says with what it said when the plan was made. Hashes
are `edits.py`'s: they decide whether the right directory is still the same.
"""

from __future__ import annotations

from collections.abc import Iterator

from kraftool.repair.disk import DataDirectory, RepairRefused
from kraftool.repair.plan import DirectoryIdentity, HostPlan, Plan


def host_for(plan: Plan, directory: DataDirectory, name: str = "") -> HostPlan:
    """The plan's part for a directory; `name` where somebody told. Raises RepairRefused."""
    identity = directory.identity()
    if name:
        host = plan.host(name)
        if host is None:
            known = ", ".join(host_plan.name for host_plan in plan.hosts)
            raise RepairRefused(f"the plan has no host {name}", hint=f"its hosts are {known}")
        if not _may_be(host, identity):
            raise RepairRefused(
                f"{directory.name} is {_words(identity)}, but {name} is {_words(host.identity)}"
            )
        return host
    if _is_nameless(identity):
        unknown = [
            host
            for host in plan.hosts
            if _is_nameless(host.identity)
            and all(one == other for one, other in _pairs(host.identity, identity))
        ]
        if len(unknown) == 1:
            return unknown[0]
        if not directory.inventory():
            raise RepairRefused(
                f"{directory.name} does not show which node it belongs to: nothing in it is a"
                " node's metadata",
                hint=f"is it the right directory? {'; '.join(_places(plan))}. If it is, name its"
                " host with --host",
            )
        raise RepairRefused(
            f"{directory.name} does not show which node it belongs to: meta.properties is"
            " missing or damaged",
            hint=f"name its host with --host, one of {', '.join(host.name for host in plan.hosts)}",
        )
    fitting = [host_plan for host_plan in plan.hosts if _is(host_plan, identity)]
    if len(fitting) == 1:
        return fitting[0]
    if fitting:
        raise RepairRefused(
            f"{directory.name} may be {' or '.join(plan.name for plan in fitting)}",
            hint="name its host with --host",
        )
    known = "; ".join(f"{host.name} is {_words(host.identity)}" for host in plan.hosts)
    raise RepairRefused(
        f"the plan is not for {directory.name}, which is {_words(identity)}",
        hint=f"in the plan {known}" if known else "",
    )


def _is_nameless(identity: DirectoryIdentity) -> bool:
    """True if neither the node nor the directory is known; a cluster has many of both."""
    return identity.node_id is None and not identity.directory_id


def _places(plan: Plan) -> Iterator[str]:
    """Yield where the plan's directories were read."""
    for host in plan.hosts:
        yield f"{host.name}'s was {host.path or 'not recorded'}"


def _pairs(one: DirectoryIdentity, other: DirectoryIdentity) -> list[tuple[object, object]]:
    """Return what both know."""
    pairs: list[tuple[object, object]] = []
    if one.node_id is not None and other.node_id is not None:
        pairs.append((one.node_id, other.node_id))
    if one.directory_id and other.directory_id:
        pairs.append((one.directory_id, other.directory_id))
    if one.cluster_id and other.cluster_id:
        pairs.append((one.cluster_id, other.cluster_id))
    return pairs


def _is(host: HostPlan, identity: DirectoryIdentity) -> bool:
    """True if both know the node or the directory, and all that both know is the same."""
    directory_identity = host.identity
    same_node = (
        directory_identity.node_id is not None and directory_identity.node_id == identity.node_id
    )
    same_directory = (
        bool(directory_identity.directory_id)
        and directory_identity.directory_id == identity.directory_id
    )
    return (same_node or same_directory) and all(
        a == b for a, b in _pairs(directory_identity, identity)
    )


def _may_be(host: HostPlan, identity: DirectoryIdentity) -> bool:
    """True if nothing speaks against it. The plan itself may change ids in meta.properties."""
    directory_identity = host.identity
    changes_meta = any(edit.target.path == "meta.properties" for edit in host.edits)
    return changes_meta or all(a == b for a, b in _pairs(directory_identity, identity))


def _words(identity: DirectoryIdentity) -> str:
    node = "an unknown node" if identity.node_id is None else f"node {identity.node_id}"
    directory = f", directory id {identity.directory_id}" if identity.directory_id else ""
    cluster = f", cluster {identity.cluster_id}" if identity.cluster_id else ""
    return f"{node}{directory}{cluster}"
