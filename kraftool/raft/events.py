"""The events of a node, and the effects that it asks for: the core's input and output.

Owns their form and the duty of order. Effects are done one after the other: nothing that follows a
`PersistElection` or a `Flush` leaves the node before those are durable. (A leader's own `Flush` is
told back by `LogFlushed`, and only then counts towards the high watermark.)
"""

from __future__ import annotations

from typing import Any

from kraftool.decoders.error_codes import Error
from kraftool.raft.messages import Request, Response
from kraftool.raft.names import ElectionState, Endpoint, OffsetAndEpoch, VoterSet
from kraftool.raft.records import Batch
from kraftool.raft.values import value


@value
class RequestReceived:
    """Another node, or an operator, asks."""

    request_id: int
    """By which the answer finds its way."""
    request: Request
    listener: str = "CONTROLLER"
    """The name of the listener that it came in on, in upper case."""


@value
class ResponseReceived:
    """An answer, or what the network has instead of one as its `top_error`."""

    source_id: int
    correlation_id: int
    response: Response


@value
class TimePassed:
    """Nothing but time."""


@value
class LogFlushed:
    """Everything below an offset is on the disk for good."""

    end_offset: int


@value
class Append:
    """The leader's own state machine has records for the log; they stay in one batch."""

    epoch: int
    records: tuple[Any, ...]
    size: int = 0
    """Of their bytes."""
    base_offset: int | None = None
    """Where the first of them must come to stand, if the state machine relies on that."""


@value
class SnapshotWritten:
    """The node's state machine has frozen a snapshot."""

    snapshot_id: OffsetAndEpoch


@value
class SnapshotInstalled:
    """A downloaded snapshot is in its place, durable; what its control records say."""

    snapshot_id: OffsetAndEpoch
    kraft_version: int
    voters: VoterSet | None


@value
class LogCleaned:
    """Old segments are gone; the log starts at a snapshot."""

    start_offset: int


@value
class StateMachineAt:
    """The node's state machine has consumed everything below an offset."""

    next_offset: int


@value
class Resign:
    """The node's state machine wants to lead no more in an epoch."""

    epoch: int
    preferred: frozenset[int] = frozenset()
    """Voters that are to be asked first to take over, if they have the whole log."""


@value
class Shutdown:
    """The node shall end in an orderly way."""


@value
class UpgradeKRaftVersion:
    """The controller finalizes a level of kraft.version."""

    epoch: int
    level: int
    validate_only: bool = False


Event = (
    RequestReceived
    | ResponseReceived
    | TimePassed
    | LogFlushed
    | Append
    | SnapshotWritten
    | SnapshotInstalled
    | LogCleaned
    | StateMachineAt
    | Resign
    | Shutdown
    | UpgradeKRaftVersion
)


@value
class PersistElection:
    """Write quorum-state, durably, before anything that follows."""

    state: ElectionState
    kraft_version: int
    """Which decides the version of the file."""


@value
class AppendBatches:
    """Append to the log as it is."""

    batches: tuple[Batch, ...]


@value
class Flush:
    """Make the log durable up to an offset."""

    end_offset: int


@value
class Truncate:
    """Drop everything from an offset on."""

    offset: int


@value
class Send:
    """Send a request to a node; ids below -1 are bootstrap servers."""

    destination_id: int
    endpoint: Endpoint
    correlation_id: int
    request: Request


@value
class Reply:
    """Answer a request."""

    request_id: int
    response: Response


@value
class StartSnapshotDownload:
    """Begin a partial file for a snapshot."""

    snapshot_id: OffsetAndEpoch


@value
class AppendToSnapshot:
    """Append to the partial file of a snapshot."""

    snapshot_id: OffsetAndEpoch
    chunk: bytes


@value
class InstallSnapshot:
    """Make the partial file durable and whole, and begin the log anew after it; then tell
    `SnapshotInstalled`."""

    snapshot_id: OffsetAndEpoch


@value
class DropSnapshotDownload:
    """Remove the partial file of a snapshot."""

    snapshot_id: OffsetAndEpoch


@value
class Deliver:
    """The state machine may have everything committed below an offset; from a snapshot first where
    it is behind the log."""

    from_offset: int
    to_offset: int
    snapshot_id: OffsetAndEpoch | None = None


@value
class LeaderChanged:
    """Tell the state machine who leads."""

    epoch: int
    leader_id: int | None


@value
class Appended:
    """The append got offsets; it is not committed yet."""

    last_offset: int


@value
class Refused:
    """An append, a resignation or an upgrade was refused."""

    error: Error | None
    reason: str


@value
class Stopped:
    """The shutdown is complete."""


@value
class SetDeadline:
    """Call `step` again at this time at the latest; always the last effect."""

    at_ms: int


Effect = (
    PersistElection
    | AppendBatches
    | Flush
    | Truncate
    | Send
    | Reply
    | StartSnapshotDownload
    | AppendToSnapshot
    | InstallSnapshot
    | DropSnapshotDownload
    | Deliver
    | LeaderChanged
    | Appended
    | Refused
    | Stopped
    | SetDeadline
)
