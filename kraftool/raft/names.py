"""The protocol's nouns as values: replica keys, endpoints, voters, offsets with epochs, errors.

Owns what they mean to each other (which key is whose, which log is longer). It refuses bytes:
`wire.py` turns them into messages and records.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import NamedTuple

from kraftool.decoders.addresses import shown_address
from kraftool.decoders.errors import KraftoolError

NO_ID = -1
UNKNOWN = -1
"""Kafka's number for a high watermark or an offset that is not known."""
NO_HIGH_WATERMARK_FIELD = (1 << 63) - 1
"""What a fetch says whose version, or sender, knows of no high watermark to send."""


class ProtocolError(KraftoolError):
    """An invariant of the protocol is broken. A node that meets one stops; it never limps on."""


class ImpossibleMessage(ProtocolError):
    """A message that no honest node sends. Kafka's raft thread ends at it, as at any ProtocolError;
    whoever would rather go on refuses it (`core.refuse`): it is noticed before anything is changed
    that it would have broken."""


class CommittedTruncation(ProtocolError):
    """Dropping records from an offset on would drop committed ones. The node stops and keeps its
    log, as Kafka does: it cannot know whether its leader or its own log is wrong."""

    def __init__(self, offset: int, committed_offset: int, *, leader: str = "the caller") -> None:
        super().__init__(
            f"{leader} requested a truncation of the metadata log to offset {offset}, but all"
            f" records below offset {committed_offset} are committed; nothing was truncated",
            hint="Copy the data directory before you restart this node: after a restart only its"
            " newest snapshot protects committed records. Then compare the copy with the leader's"
            " directory with kraftool diff-state",
        )


def majority_of(count: int) -> int:
    """So many of `count` voters are a majority."""
    return count // 2 + 1


class OffsetAndEpoch(NamedTuple):
    """A place in the log with the epoch before it; also the id of a snapshot."""

    offset: int
    epoch: int

    @property
    def rank(self) -> tuple[int, int]:
        """The order of log ends in an election: the epoch first."""
        return self.epoch, self.offset

    def is_at_least(self, other: OffsetAndEpoch) -> bool:
        """True if a log that ends here is as long as one that ends there."""
        return self.rank >= other.rank


BOOTSTRAP_SNAPSHOT = OffsetAndEpoch(0, 0)
"""Written by a format; never sent to anyone."""


class ReplicaKey(NamedTuple):
    """A node and the directory with its log. If it is formatted again, it is another replica."""

    id: int
    directory_id: str | None = None

    def is_known_as(self, recorded: ReplicaKey) -> bool:
        """True if this replica is the recorded one; a record without a directory id fits any."""
        return self.id == recorded.id and recorded.directory_id in (None, self.directory_id)

    def __str__(self) -> str:
        return str(self.id) if self.directory_id is None else f"{self.id}@{self.directory_id}"


class Endpoint(NamedTuple):
    """The address of a listener."""

    host: str
    port: int

    def __str__(self) -> str:
        return shown_address(self.host, self.port)


Endpoints = Mapping[str, Endpoint]
"""By listener name, which is compared in upper case."""


class VersionRange(NamedTuple):
    """The levels of a feature that a node supports."""

    min: int = 0
    max: int = 0

    def holds(self, level: int) -> bool:
        return self.min <= level <= self.max


ONLY_STATIC = VersionRange(0, 0)
"""kraft.version as a voter supports it of which nothing is known."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Voter:
    """A member of the quorum."""

    key: ReplicaKey
    endpoints: Endpoints = field(default_factory=dict)
    kraft_version: VersionRange = ONLY_STATIC

    @property
    def id(self) -> int:
        return self.key.id

    @property
    def directory_id(self) -> str | None:
        return self.key.directory_id

    @property
    def endpoint(self) -> Endpoint | None:
        """The first of its endpoints; None if none is known."""
        return next(iter(self.endpoints.values()), None)


@dataclass(frozen=True, slots=True)
class VoterSet:
    """The members of the quorum, by id."""

    voters: Mapping[int, Voter] = field(default_factory=dict)

    @classmethod
    def of(cls, *voters: Voter) -> VoterSet:
        return cls({voter.key.id: voter for voter in voters})

    def __len__(self) -> int:
        return len(self.voters)

    def __iter__(self) -> Iterator[Voter]:
        return iter(self.voters.values())

    @property
    def ids(self) -> frozenset[int]:
        return frozenset(self.voters)

    @property
    def keys(self) -> frozenset[ReplicaKey]:
        return frozenset(voter.key for voter in self)

    @property
    def majority(self) -> int:
        return majority_of(len(self))

    def get(self, node_id: int | None) -> Voter | None:
        return None if node_id is None else self.voters.get(node_id)

    def has(self, key: ReplicaKey) -> bool:
        """True if a replica is a member: the id, and the directory where the record has one."""
        voter = self.voters.get(key.id)
        return voter is not None and key.is_known_as(voter.key)

    def is_only(self, key: ReplicaKey) -> bool:
        return len(self) == 1 and self.has(key)

    def endpoints_of(self, node_id: int) -> Endpoints:
        """Return where a member is reached; nothing for one who is none."""
        voter = self.voters.get(node_id)
        return voter.endpoints if voter is not None else {}

    def with_voter(self, voter: Voter) -> VoterSet | None:
        """One more member; None where the id is a member's already."""
        if voter.key.id in self.voters:
            return None
        return VoterSet({**self.voters, voter.key.id: voter})

    def without(self, key: ReplicaKey) -> VoterSet | None:
        """One member less; None for one who is none by exactly this key, and for the last."""
        voter = self.voters.get(key.id)
        if voter is None or voter.key != key or len(self) < 2:
            return None
        return VoterSet({id_: voter for id_, voter in self.voters.items() if id_ != key.id})

    def updated(self, voter: Voter) -> VoterSet | None:
        """A member's endpoints and versions renewed; None for one who is none."""
        if not self.has(voter.key):
            return None
        return VoterSet({**self.voters, voter.key.id: voter})

    def updated_ignoring_directories(self, voter: Voter) -> VoterSet | None:
        """The same by the id alone, as quorums of kraft.version 0 go by it."""
        if voter.key.id not in self.voters:
            return None
        return VoterSet({**self.voters, voter.key.id: voter})

    def overlaps(self, other: VoterSet) -> bool:
        """True if majorities of both must share a member: at most one key differs each way."""
        return len(self.keys - other.keys) <= 1 and len(other.keys - self.keys) <= 1


NO_VOTERS = VoterSet()


@dataclass(frozen=True, slots=True, kw_only=True)
class ElectionState:
    """The promises that a node must not forget: the content of quorum-state."""

    epoch: int = 0
    leader_id: int | None = None
    voted: ReplicaKey | None = None


def upper(endpoints: Mapping[str, Endpoint]) -> dict[str, Endpoint]:
    """Endpoints under the names by which they are compared."""
    return {name.upper(): endpoint for name, endpoint in endpoints.items()}
