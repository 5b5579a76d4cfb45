"""How `node run --dry-run` tells what would run."""

from __future__ import annotations

from typing import TYPE_CHECKING

from kraftool.commands.output import ExitCode, Output
from kraftool.node.identity import at_rest
from kraftool.storage.lock import LockState, lock_holder

if TYPE_CHECKING:
    from kraftool.node.config import NodeConfig
    from kraftool.node.identity import Identity


def write_plan(
    to: Output, config: NodeConfig, identity: Identity, *, wanted: str | None, stands: bool
) -> None:
    """Say who would run where, as what, and what stands in the way."""
    found = at_rest(config, identity)
    part = wanted or ("voter" if found.is_voter else "observer")
    lock = lock_holder(config.metadata_directory)
    rows = [
        ("node", f"{identity.node_id}, directory {identity.directory_id}"),
        ("cluster", identity.cluster_id),
        ("directory", config.metadata_directory),
        ("lock", "held by another process" if lock.state is LockState.HELD else "free"),
        ("log", "offsets {} to {}".format(*found.log) if found.log is not None else "empty"),
        ("voters", ", ".join(found.voters) or "none in its log yet"),
        ("runs as", part + (", stands for election" if stands else ", never stands for election")),
        ("listens", ", ".join(f"{each.name} {each.host}:{each.port}" for each in config.bound)),
    ]
    width = max(len(name) for name, _ in rows)
    for name, value in rows:
        to.line(f"{name:<{width}}  {value}")
    if lock.state is LockState.HELD:
        to.problem(
            "it would not start: stop the process that holds the lock", code=ExitCode.FINDING
        )
    for each in found.unread:
        to.problem(each)
