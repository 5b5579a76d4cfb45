"""How `node run --dry-run` tells what would run."""

from __future__ import annotations

from typing import TYPE_CHECKING

from kraftool.commands.output import Output
from kraftool.reports.voters.read import read_sources
from kraftool.storage.lock import LockState, lock_holder

if TYPE_CHECKING:
    from kraftool.node.config import NodeConfig
    from kraftool.node.identity import Identity


def write_plan(
    to: Output, config: NodeConfig, identity: Identity, *, wanted: str | None, stands: bool
) -> None:
    """Say who would run where, as what, and what stands in the way."""
    [source] = read_sources([config.metadata_directory])
    told = source.told
    voters = tuple(told.voters or ()) if told is not None else ()
    if not voters:
        static = ", ".join(str(each.key.id) for each in config.static_voters)
        known = static or "none in its log yet"
        is_voter = identity.node_id in config.static_voters.ids
    else:
        known = ", ".join(str(each.id) for each in voters)
        is_voter = any(
            each.id == identity.node_id and each.directory_id in ("", None, identity.directory_id)
            for each in voters
        )
    part = wanted or ("voter" if is_voter else "observer")
    lock = lock_holder(config.metadata_directory)
    log = source.log
    rows = [
        ("node", f"{identity.node_id}, directory {identity.directory_id}"),
        ("cluster", identity.cluster_id),
        ("directory", config.metadata_directory),
        ("lock", "held by another process" if lock.state is LockState.HELD else "free"),
        ("log", f"offsets {log.start} to {log.end}" if log is not None else "empty"),
        ("voters", known),
        ("runs as", part + (", stands for election" if stands else ", never stands for election")),
        ("listens", ", ".join(f"{each.name} {each.host}:{each.port}" for each in config.bound)),
    ]
    width = max(len(name) for name, _ in rows)
    for name, value in rows:
        to.line(f"{name:<{width}}  {value}")
    if lock.state is LockState.HELD:
        to.note("kraftool: it would not start: stop the process that holds the lock")
