"""A reading of a data directory: what it shows at once, whatever its size.

Owns the form of it. A whole reading (`reports/`) takes as long as the log is large; a poll reads
the small files, the newest end of the log, and its control batches as time permits.
"""

from __future__ import annotations

from dataclasses import dataclass

from kraftool.decoders.quorum_state import QuorumState
from kraftool.directory.metadata_summary import LastLeaderChange, NodeIds, SeenVoters
from kraftool.raft.names import OffsetAndEpoch
from kraftool.storage.lock import LockState

NO_NODE = NodeIds()


@dataclass(frozen=True, slots=True, kw_only=True)
class DirectoryReading:
    """One data directory at a moment."""

    path: str
    """As it was given."""
    at_ms: int
    node: NodeIds = NO_NODE
    quorum_state: QuorumState | None = None
    log_end_offset: int | None = None
    """Up to the first damage, where Kafka would cut."""
    last_epoch: int | None = None
    """Of the last batch."""
    last_timestamp: int | None = None
    """Of the last batch."""
    snapshots: tuple[OffsetAndEpoch, ...] = ()
    """Offset and epoch of each, the oldest first."""
    voters: SeenVoters | None = None
    """The newest that the control records, or else quorum-state, tell."""
    previous_voters: SeenVoters | None = None
    """Those before; they hold while the newest are not committed."""
    voter_sets: tuple[SeenVoters, ...] = ()
    """Of the records that are there, the oldest first; bounded."""
    leader_changes: tuple[LastLeaderChange, ...] = ()
    """The last ones in the log, the oldest first."""
    lock: LockState = LockState.UNKNOWN
    lock_pid: int | None = None
    """The process that holds the lock, if it is one of this machine."""
    problem: str = ""
    """Why it could not be read, or what is broken in it."""
    is_readable: bool = True
    """False if nothing of it could be read."""
    damage: str = ""
    """The first damage of the log. `problem` names it too."""
    is_complete: bool = True
    """Whether the log was looked through for control records; a large one takes a while."""
    segments: int = 0
    size: int = 0
    """Of the log, in bytes."""
    stamp: tuple[object, ...] = ()
    """Changes when a file does."""
