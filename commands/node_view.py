"""The report of `node run --dry-run`: what would run."""

from __future__ import annotations

from typing import TYPE_CHECKING

from kraftool.commands.exit_code import ExitCode
from kraftool.commands.output import Output
from kraftool.decoders.addresses import host_and_port, shown_address
from kraftool.node.identity import AtRest, QuorumRole, at_rest, refuse_observing
from kraftool.storage.lock import LockState, lock_holder

if TYPE_CHECKING:
    from kraftool.node.config import NodeConfig
    from kraftool.node.identity import NodeIdentity


def write_plan(
    to: Output,
    config: NodeConfig,
    identity: NodeIdentity,
    *,
    wanted: QuorumRole | None,
    runs_controller: bool,
) -> None:
    """Say who would run where, as what, and what prevents it. Raises NotStarted as the run does."""
    stored = at_rest(config, identity)
    refuse_observing(identity, wanted, is_voter=stored.is_voter)
    part = wanted or (QuorumRole.VOTER if stored.is_voter else QuorumRole.OBSERVER)
    lock = lock_holder(config.metadata_directory)
    rows = [
        ("node", f"{identity.node_id}, directory {identity.directory_id}"),
        ("cluster", identity.cluster_id),
        ("directory", config.metadata_directory),
        ("lock", f"held by {lock.holder}" if lock.state is LockState.HELD else "free"),
        ("log", _offsets(stored)),
        ("voters", ", ".join(stored.voters) or "none in its log yet"),
        ("runs as", part + _candidacy(part, runs_controller=runs_controller)),
        (
            "listens",
            ", ".join(
                f"{listener.name} {shown_address(listener.host, listener.port)}"
                for listener in config.bound
            ),
        ),
    ]
    # A static voter's address has no listener, and is not recorded in the log.
    if stored.recorded and "" not in stored.recorded and part is QuorumRole.VOTER:
        rows.append(("recorded", _recorded(config, stored)))
    width = max(len(name) for name, _ in rows)
    for name, value in rows:
        to.line(f"{name:<{width}}  {value}")
    if lock.state is LockState.HELD:
        to.problem(
            "it would not start: stop the process that holds the lock", code=ExitCode.FINDING
        )
    for problem in stored.unread:
        to.problem(problem)


def _candidacy(part: QuorumRole, *, runs_controller: bool) -> str:
    """Return words for whether the node can be elected."""
    if part is QuorumRole.OBSERVER:
        return ", does not vote"
    if runs_controller:
        return ", an ordinary candidate; the active controller while it leads"
    return ", a witness: leads as a last resort only, until a controller has caught up"


def _offsets(stored: AtRest) -> str:
    """As `dump` says it."""
    if stored.log is None or stored.log[0] == stored.log[1]:
        return "empty" if stored.log is None else f"empty (end offset {stored.log[1]})"
    start, end = stored.log
    return f"offsets {start} to {end - 1} (end offset {end})"


def _recorded(config: NodeConfig, stored: AtRest) -> str:
    """Return where the voter set has this voter, and whether its leader will be told otherwise."""
    advertised = config.advertised()
    places = []
    for listener, address in sorted(stored.recorded.items()):
        now = advertised.get(listener)
        change = ""
        if now is None:
            change = ": will be removed, as no such listener is advertised"
        elif not now.port:
            change = f": will be changed to {now.host} and whichever port is free"
        elif (now.host, now.port) != host_and_port(address):
            change = f": will be changed to {shown_address(now.host, now.port)}"
        places.append(f"at {address} ({listener}){change}")
    places += [
        f"nowhere ({name}): will be added at {shown_address(endpoint.host, endpoint.port)}"
        for name, endpoint in sorted(advertised.items())
        if name not in stored.recorded
    ]
    return "; ".join(places)
