"""The outcome of a step, in the same form for both nodes, so that it can be compared.

Owns that form, and how the files of a directory are read for it.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from kraftool.decoders import quorum_state
from kraftool.decoders.names import METADATA_FOLDER
from kraftool.raft.names import VoterSet


@dataclass(slots=True, kw_only=True)
class Sent:
    """A request that the node sent."""

    destination: int
    name: str
    host: str
    port: int
    correlation_id: int
    data: bytes
    at_ms: int = 0


@dataclass(slots=True, kw_only=True)
class Replied:
    """A request that the node answered."""

    name: str
    version: int
    data: bytes


@dataclass(slots=True, kw_only=True)
class Outcome:
    sends: list[Sent] = field(default_factory=list)
    replies: dict[int, Replied] = field(default_factory=dict)
    leader: tuple[int, int] | None = None
    """The last leader that the state machine was given, as epoch and id; None if no change."""
    refused: str | None = None
    """Why an append, a resignation, an upgrade or a snapshot was refused."""
    is_down: bool = False
    fatal: str | None = None
    """Why the node stopped."""
    impossible: str | None = None
    """Why kraftool refused a message and went on."""
    ignored_after_ms: int | None = None
    """If kraftool ignored an answer: the age of its request."""
    accepts_answer: bool | None = None
    """True if the node waits for the answer that the step is; None in other steps."""
    has_truncated: bool = False
    """True if kraftool's log was truncated since the start."""
    state: dict[str, Any] = field(default_factory=dict)


def voters_of(voters: VoterSet) -> list[str]:
    """Return a voter set in an order that does not depend on the node."""
    return sorted(
        f"{voter.key} {sorted((name, *at) for name, at in voter.endpoints.items())}"
        f" {voter.kraft_version.min}-{voter.kraft_version.max}"
        for voter in voters
    )


class Folder:
    """The metadata folder of one data directory."""

    def __init__(self, directory: Path) -> None:
        self.path = directory / METADATA_FOLDER
        self._snapshots: dict[str, bytes] = {}

    def content(self) -> dict[str, Any]:
        """Return quorum-state, the segments and the snapshots."""
        names = sorted(path.name for path in self.path.iterdir())
        snapshots = [name for name in names if name.endswith(".checkpoint")]
        for name in snapshots:
            if name not in self._snapshots:  # a snapshot never changes
                self._snapshots[name] = (self.path / name).read_bytes()
        return {
            "quorumState": self._quorum_state(),
            "log": b"".join(
                (self.path / name).read_bytes() for name in names if name.endswith(".log")
            ),
            "snapshots": {name: self._snapshots[name] for name in snapshots},
        }

    def _quorum_state(self) -> Any:
        path = self.path / quorum_state.FILE_NAME
        if not path.exists():
            return None
        return quorum_state.decode(path.read_bytes())[0].quorum_state
