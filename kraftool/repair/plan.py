"""A plan: what is done about a quorum, exactly, host by host, as values.

Owns the shape, and what no plan may say whoever wrote it: a target is a file that a plan may name
(`plan_file.py`); content is made of bytes, of slices of files that are there with the hashes they
must have, or of a state that is computed where the plan is applied. It refuses to decide
(`cases/`), to read or write YAML (`plan_yaml.py`) and to touch a file.
"""

from __future__ import annotations

import hashlib
import re
from dataclasses import dataclass
from enum import StrEnum

import orjson

from kraftool.decoders.names import (
    parse_checkpoint_name,
)
from kraftool.raft.names import NO_VOTERS, VoterSet
from kraftool.repair.document import DocumentError, to_document
from kraftool.repair.flipped_bit import FlippedBit
from kraftool.repair.plan_file import PlanFile, PlanFileKind
from kraftool.reports.election.assessment import LossBound
from kraftool.reports.text.words import offsets

SCHEMA_VERSION = 1
KAFKA_EXITS = "kafka-exits"
RECORD_STOPS = "record-stops"
"""The case of a directory on which Kafka exits for a reason that no plan repairs."""
UNREADABLE = "unreadable"
"""The type of records whose bytes are damaged."""
SHORT_ID = 12
"""So many digits of a plan's id are enough to type."""
_MOST_BYTES = 256 << 10
_HASH = re.compile(r"[0-9a-f]{64}\Z")
_HOST = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]{0,63}\Z")


class Method(StrEnum):
    """The way in which the quorum is brought back."""

    NONE = "none"
    """Nothing is to be done."""
    MEND = "mend"
    """Single files are mended; the voters stay as they are."""
    APPEND = "append"
    SNAPSHOT_JUMP = "snapshot-jump"
    STATIC_PROPERTIES = "static-properties"
    REBUILD = "rebuild"
    """A directory is made from another node's."""


class HostRole(StrEnum):
    """The role of a host in the plan."""

    SEED = "seed"
    VOTER = "voter"
    OLD_VOTER = "old voter"
    OBSERVER = "observer"
    BROKER = "broker"


class Action(StrEnum):
    """The action of a person, on one host or on several."""

    STOP = "stop"
    CONFIGURE = "configure"
    COPY = "copy"
    APPLY = "apply"
    START = "start"
    CHECK = "check"
    RUN = "run"
    KEEP_STOPPED = "keep stopped"
    RESTART = "restart"


@dataclass(frozen=True, slots=True, kw_only=True)
class Fingerprint:
    """The content that a file must have, byte for byte."""

    size: int
    sha256: str

    def __post_init__(self) -> None:
        _check_hash(self.sha256)
        if self.size < 0:
            raise DocumentError("a size is not negative")

    @classmethod
    def of(cls, data: bytes) -> Fingerprint:
        return cls(size=len(data), sha256=hashlib.sha256(data).hexdigest())


@dataclass(frozen=True, slots=True, kw_only=True)
class Expected:
    """A file that must be as it was when the plan was made."""

    target: PlanFile
    fingerprint: Fingerprint


@dataclass(frozen=True, slots=True, kw_only=True)
class Piece:
    """A stretch of a new file's content: bytes, or a slice of a file as it was before the plan.

    The slice is of this directory, or of the host named `source`, whose directory apply is then
    given with `--source HOST=PATH`. If that host's part of the plan restores the file, the slice is
    of the restored one. The pieces of a restored file itself are of what the disks have.
    """

    data: bytes = b""
    file: PlanFile | None = None
    source: str = ""
    start: int = 0
    end: int = 0

    def __post_init__(self) -> None:
        if self.file is None and (self.source or self.start or self.end):
            raise DocumentError("a slice names its file")
        if self.file is not None and (self.data or not 0 <= self.start <= self.end):
            raise DocumentError("a slice is of a file, from a position to one that is not before")
        if len(self.data) > _MOST_BYTES:
            raise DocumentError(f"a plan carries at most {_MOST_BYTES} bytes in one piece")
        _check_host(self.source, may_be_empty=True)

    @property
    def size(self) -> int:
        return len(self.data) if self.file is None else self.end - self.start


@dataclass(frozen=True, slots=True, kw_only=True)
class RestoredRun:
    """Good batches of another host's log that belong where a log is damaged."""

    source: str
    """The host."""
    first_offset: int
    end_offset: int

    def describe(self) -> str:
        if self.end_offset - self.first_offset == 1:
            return f"offset {self.first_offset} from {self.source}"
        return f"offsets {self.first_offset} to {self.end_offset - 1} from {self.source}"


@dataclass(frozen=True, slots=True, kw_only=True)
class FlippedFile:
    """A file with flipped bits, as an earlier kraftool wrote it."""

    target: PlanFile
    before: Fingerprint
    after: Fingerprint
    bits: tuple[FlippedBit, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class RestoredFile:
    """A restored segment, as an earlier kraftool wrote it."""

    target: PlanFile
    before: Fingerprint
    after: Fingerprint
    pieces: tuple[Piece, ...]
    runs: tuple[RestoredRun, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class SnapshotRecipe:
    """A checkpoint that is computed where the plan is applied: the state of a directory at an
    offset, as records that must have this hash, under another name and with other voters.

    `state_records.py` computes both; the frame is fixed here, so that all bytes are.
    """

    offset: int
    epoch: int
    timestamp_ms: int
    """Stands in its batches."""
    last_contained_log_timestamp_ms: int
    kraft_version: int
    voters: VoterSet = NO_VOTERS
    """Empty with kraft.version 0."""
    state_offset: int
    """The state has seen the records below it."""
    records: int
    records_sha256: str
    source: str = ""
    """The host whose directory the state is of; empty for the one that is written to."""
    log_start: Piece | None = None
    """The slice of a segment with which the log begins for the state: before it is damage that the
    newest snapshot covers."""
    flipped: tuple[FlippedFile, ...] = ()
    restored: tuple[RestoredFile, ...] = ()
    """Both of an earlier kraftool: such a plan can be verified and undone, and is not applied."""

    def __post_init__(self) -> None:
        _check_hash(self.records_sha256)
        _check_host(self.source, may_be_empty=True)
        if not (0 <= self.state_offset <= self.offset and 0 <= self.epoch < 1 << 31):
            raise DocumentError("a checkpoint holds what is below its offset")
        if bool(self.voters) != (self.kraft_version > 0):
            raise DocumentError("a checkpoint has voters from kraft.version 1 on, and only then")


@dataclass(frozen=True, slots=True, kw_only=True)
class Edit:
    """One file, before and after.

    `before` is None for one that is not there, `after` for one that is then gone. With `snapshot`
    the bytes are not known where the plan is made: `after` is None, and the recipe says what holds.
    """

    target: PlanFile
    before: Fingerprint | None = None
    after: Fingerprint | None = None
    pieces: tuple[Piece, ...] = ()
    snapshot: SnapshotRecipe | None = None
    why: str = ""
    flipped: tuple[FlippedBit, ...] = ()
    """The evidence, if the edit puts flipped bits back."""
    runs: tuple[RestoredRun, ...] = ()
    """The batches of other hosts, if the edit restores a damaged segment with them."""

    def __post_init__(self) -> None:
        name = self.target.name
        if self.snapshot is not None:
            if self.target.kind is not PlanFileKind.SNAPSHOT or self.after or self.pieces:
                raise DocumentError(f"{name}: only a checkpoint is made by a recipe")
            if self.before is not None:
                raise DocumentError(f"{name}: a recipe never replaces a file")
            parsed = parse_checkpoint_name(name)
            if parsed is None or (parsed.offset, parsed.epoch) != (
                self.snapshot.offset,
                self.snapshot.epoch,
            ):
                raise DocumentError(f"{name}: the recipe is of another checkpoint")
            return
        if self.after is None:
            if self.before is None or self.pieces:
                raise DocumentError(f"{name}: what is removed is there, and has no new content")
            return
        if self.target.kind is PlanFileKind.OTHER:
            raise DocumentError(f"{name}: such files are removed or read from, never written")
        if not self.pieces or sum(piece.size for piece in self.pieces) != self.after.size:
            raise DocumentError(f"{name}: its pieces do not add up to its size")

    @property
    def is_removal(self) -> bool:
        return self.after is None and self.snapshot is None

    @property
    def sources(self) -> frozenset[str]:
        """The other hosts whose files its pieces are of."""
        return frozenset(piece.source for piece in self.pieces if piece.source)


@dataclass(frozen=True, slots=True, kw_only=True)
class RequiredSetting:
    """A line that a host's server.properties must have before the node is started.

    kraftool does not write that file: it is most often another tool's. An empty value stands for a
    key that must not be there.
    """

    key: str
    value: str


@dataclass(frozen=True, slots=True, kw_only=True)
class DirectoryIdentity:
    """The identity of a directory, as its meta.properties says before the plan."""

    node_id: int | None = None
    directory_id: str = ""
    cluster_id: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class HostPlan:
    """The changes of one data directory, in apply's order: what is read is kept until all that is
    made from it is there under a passing name. Checkpoints get their names before the log goes."""

    name: str
    """In this plan, as `node-1`."""
    role: HostRole
    identity: DirectoryIdentity
    path: str = ""
    """Where it was read; it may lie elsewhere on its host."""
    origin: str = ""
    """The pod, its namespace and kubectl's context; empty for a directory of a host."""
    expected: tuple[Expected, ...] = ()
    """Files that are read or relied on, and stay."""
    restored: tuple[Edit, ...] = ()
    """Edits that restore damaged files from what the disks have. All other edits, of this host and
    of others, are made from the restored files."""
    edits: tuple[Edit, ...] = ()
    settings: tuple[RequiredSetting, ...] = ()

    def __post_init__(self) -> None:
        _check_host(self.name)
        for edits in (self.restored, self.edits):
            targets = [edit.target.path for edit in edits]
            if len(targets) != len(set(targets)):
                raise DocumentError(f"{self.name}: two edits of one file")
        if any(edit.before is None or edit.after is None for edit in self.restored):
            raise DocumentError(f"{self.name}: what is restored is a file before and after")

    def restoration(self, target: PlanFile) -> Edit | None:
        """The edit that restores a file; None if it is read as it is."""
        return next((edit for edit in self.restored if edit.target == target), None)


@dataclass(frozen=True, slots=True, kw_only=True)
class Ranked:
    """A directory as a possible seed, best first."""

    host: str
    end_offset: int
    """One beyond the last record that can be trusted."""
    last_epoch: int
    voter: bool
    intact: bool
    note: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class RecordCount:
    """The number of records of a type."""

    type: str
    count: int


@dataclass(frozen=True, slots=True, kw_only=True)
class LostObjects:
    """Objects of one kind that lost records concern."""

    kind: str
    """As `topics`."""
    count: int
    names: tuple[str, ...] = ()
    """The first of them."""


@dataclass(frozen=True, slots=True, kw_only=True)
class LostRecords:
    """Records that one directory has and the outcome has not."""

    host: str
    first_offset: int
    end_offset: int
    types: tuple[RecordCount, ...] = ()
    objects: tuple[LostObjects, ...] = ()
    """What the readable ones of them concern."""
    has_names: bool = False
    """True if the log was read for the objects. A collect file has no names."""

    @property
    def has_readable(self) -> bool:
        """True if at least one of them is known to be readable."""
        return any(count.type != UNREADABLE for count in self.types)

    def describe(self) -> str:
        """Return the host and the offsets: `node-2 may have records at offset 5`."""
        # Bytes after the last batch that form no batch may never have been records.
        has = "may have" if self.types and not self.has_readable else "has"
        return f"{self.host} {has} records at {offsets(self.first_offset, self.end_offset)}"


@dataclass(frozen=True, slots=True, kw_only=True)
class PlannedLoss:
    """The loss that a plan may cause."""

    verdict: LossBound
    text: str
    records: tuple[LostRecords, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Quarantined:
    """A node that could lead a quorum of its own, or die of the new one, and how it comes back."""

    node_id: int
    directory_id: str = ""
    why: str
    returns: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Risk:
    """A risk that was accepted by its word when the plan was made; apply asks for the word
    again."""

    word: str
    text: str


@dataclass(frozen=True, slots=True, kw_only=True)
class PlanStep:
    """A person's next step, on the hosts that it names."""

    action: Action
    hosts: tuple[str, ...] = ()
    text: str
    commands: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Plan:
    """All of it."""

    schema_version: int
    created_ms: int
    tool: str
    """kraftool's version."""
    method: Method
    cases: tuple[str, ...] = ()
    """The words of what was found (`cases/`)."""
    summary: tuple[str, ...]
    cluster_id: str = ""
    kraft_version: int = 0
    kafka_version: str = ""
    seed: str = ""
    """The host that the quorum goes on from; empty where the voters stay as they are."""
    why_seed: str = ""
    ranking: tuple[Ranked, ...] = ()
    loss: PlannedLoss
    voters_before: VoterSet = NO_VOTERS
    voters_after: VoterSet = NO_VOTERS
    risks: tuple[Risk, ...] = ()
    steps: tuple[PlanStep, ...] = ()
    quarantine: tuple[Quarantined, ...] = ()
    hosts: tuple[HostPlan, ...] = ()

    def __post_init__(self) -> None:
        if self.schema_version != SCHEMA_VERSION:
            raise DocumentError(
                f"version {self.schema_version} of plans is not known here",
                hint="use the kraftool that made it",
            )
        names = [host.name for host in self.hosts]
        if len(names) != len(set(names)):
            raise DocumentError("two hosts of one name")

    @property
    def id(self) -> str:
        """The SHA-256 of the canonical form."""
        return hashlib.sha256(canonical(self)).hexdigest()

    @property
    def changes(self) -> bool:
        """True if any host has something to be done to its files or settings, also by hand."""
        by_hand = any(step.action is Action.RUN for step in self.steps)
        return by_hand or any(host.edits or host.settings for host in self.hosts)

    def host(self, name: str) -> HostPlan | None:
        return next((host for host in self.hosts if host.name == name), None)


def canonical(plan: Plan) -> bytes:
    """Return what the id is of: the plan's document as JSON, keys sorted, without blanks."""
    return orjson.dumps(to_document(plan), option=orjson.OPT_SORT_KEYS)


def _check_hash(text: str) -> None:
    if _HASH.match(text) is None:
        raise DocumentError("a SHA-256 has 64 digits, 0 to 9 and a to f")


def _check_host(name: str, *, may_be_empty: bool = False) -> None:
    if not (may_be_empty and not name) and _HOST.match(name) is None:
        raise DocumentError(f"{name[:80]!r} is not a name of a host in a plan")
