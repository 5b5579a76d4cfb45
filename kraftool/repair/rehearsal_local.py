"""The needs of nodes that run on copies on this machine: voters that are reached here, and
settings.

Owns that nobody else is ever reached. The copies' records of the voters name the real hosts, so
that each of them is written anew with an endpoint on the loopback interface, in snapshots and in
the log, at the same offset of the same epoch; all else stays byte for byte. The server.properties
is made here and takes nothing over from a real one: no listener, no advertised address, no
security, no plugin.
"""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, replace

from kraftool.decoders import control
from kraftool.decoders.batch import RecordBatch, encode_batch
from kraftool.decoders.control import ControlRecordType
from kraftool.decoders.errors import KraftoolError
from kraftool.decoders.names import METADATA_FOLDER
from kraftool.decoders.properties import ascii_value
from kraftool.decoders.walk import Faulty, Walk
from kraftool.raft.names import Endpoint, Voter, VoterSet
from kraftool.raft.wire.batches import voter_set, voters_record
from kraftool.repair.plan_file import PlanFileKind, kind_of
from kraftool.reports.election.read import DEFAULT_LISTENER
from kraftool.storage.files import Files
from kraftool.storage.source import chunks_of

HOST = "127.0.0.1"
_WITH_VOTERS = frozenset({PlanFileKind.SEGMENT, PlanFileKind.SNAPSHOT})
_KIND = ControlRecordType.KRAFT_VOTERS
_Pair = tuple[bytes | None, bytes | None]
_INDEXES = (".index", ".timeindex")
_LISTENER = re.compile(r"[A-Za-z0-9_.-]{1,64}\Z")


@dataclass(frozen=True, slots=True, kw_only=True)
class LocalNode:
    """A node that is to run here."""

    id: int
    directory: str
    """Its copy."""
    folder: str
    """Where its settings and its log are."""
    port: int

    @property
    def endpoint(self) -> Endpoint:
        return Endpoint(HOST, self.port)

    @property
    def config(self) -> str:
        return os.path.join(self.folder, "server.properties")


def localize(directory: str, listener: str, ports: Mapping[int, int], nowhere: int) -> int:
    """Have every voter of a copy reached on this machine; how many files were written anew.

    A voter without a port here gets one where nobody listens.
    """

    def moved(voter: Voter) -> Voter:
        here = Endpoint(HOST, ports.get(voter.key.id, nowhere))
        return replace(voter, endpoints={listener: here})

    folder, changed = os.path.join(directory, METADATA_FOLDER), 0
    for name in sorted(os.listdir(folder)):
        path = os.path.join(folder, name)
        if kind_of(name) not in _WITH_VOTERS or not _has_voters(path):
            continue
        _rewrite(path, moved)
        changed += 1
        for suffix in _INDEXES if name.endswith(".log") else ():
            if os.path.exists(index := path.removesuffix(".log") + suffix):
                os.unlink(index)  # positions are others now; Kafka makes it anew
    return changed


def listener_of(directories: Iterable[str]) -> str:
    """The listener by which the voters' records reach controllers."""
    for directory in directories:
        folder = os.path.join(directory, METADATA_FOLDER)
        for name in sorted(os.listdir(folder), reverse=True):
            if kind_of(name) in _WITH_VOTERS:
                for voters in _voter_sets(os.path.join(folder, name)):
                    names = [endpoint for voter in voters for endpoint in voter.endpoints]
                    if names and _LISTENER.match(names[0]):
                        return names[0]
    return DEFAULT_LISTENER


def _has_voters(path: str) -> bool:
    return next(_voter_sets(path), None) is not None


def _voter_sets(path: str) -> Iterator[VoterSet]:
    file = Files().open_itself(path)
    try:
        for item in Walk(file.read_at):
            if isinstance(item, RecordBatch):
                for key, value in _pairs(item):
                    voters = _voters(key, value)
                    if voters is not None:
                        yield voters
    finally:
        file.close()


def _pairs(batch: RecordBatch) -> list[_Pair]:
    """The records of a control batch; none where Kafka could not read it either."""
    if not batch.is_control:
        return []
    try:
        return [(record.key, record.value) for record in batch.records()]
    except KraftoolError:
        return []


def _voters(key: bytes | None, value: bytes | None) -> VoterSet | None:
    try:
        if control.read_key(key) == _KIND.id:
            return voter_set(control.decode_value(_KIND, value)[1])
    except KraftoolError:
        """Kafka could not read it either, and goes no further than it."""
    return None


def _rewrite(path: str, moved: Callable[[Voter], Voter]) -> None:
    """The file with other endpoints, in its place; what is no whole batch stays as it is."""
    files, new = Files(), f"{path}.rehearsed"
    source, target = files.open_itself(path), files.create(new, 0o600)
    try:
        at = 0
        for item in Walk(source.read_at):
            if isinstance(item, Faulty):
                pieces: Iterable[bytes] = chunks_of(
                    source, item.position, item.position + item.size
                )
            else:
                pieces = (_with(item, moved),)
            for piece in pieces:
                target.write_at(at, piece)
                at += len(piece)
    finally:
        source.close()
        target.close()
    os.replace(new, path)


def _with(batch: RecordBatch, moved: Callable[[Voter], Voter]) -> bytes:
    """A batch whose voters have other endpoints."""
    pairs, is_changed = [], False
    for key, value in _pairs(batch):
        voters = _voters(key, value)
        if voters is not None:
            there = VoterSet.of(*map(moved, voters))
            value = control.encode_value(_KIND, voters_record(there))
            is_changed = True
        pairs.append((key, value))
    if not is_changed:
        return batch.data
    return encode_batch(
        pairs,
        base_offset=batch.base_offset,
        epoch=batch.epoch,
        timestamp=batch.header.max_timestamp,
        control=True,
    )


# --- settings ---------------------------------------------------------------------------------


def write_settings(
    nodes: Iterable[LocalNode],
    servers: Iterable[Endpoint],
    listener: str,
    static: Mapping[int, int],
) -> None:
    """A server.properties for each node; `static` are the ports of voters with kraft.version 0."""
    where = ",".join(map(str, servers))
    quorum = f"controller.quorum.bootstrap.servers={where}"
    if static:
        named = ",".join(f"{voter_id}@{HOST}:{static[voter_id]}" for voter_id in sorted(static))
        quorum = f"controller.quorum.voters={named}"
    for node in nodes:
        lines = (
            "# Made for a rehearsal on copies: nothing of it is any real node's.",
            "process.roles=controller",
            f"node.id={node.id}",
            f"controller.listener.names={listener}",
            f"listeners={listener}://{HOST}:{node.port}",
            f"listener.security.protocol.map={listener}:PLAINTEXT",
            f"log.dirs={_escaped(node.directory)}",
            quorum,
            # Without one a Kafka complains of every delegation token in the metadata.
            "delegation.token.secret.key=made-for-a-rehearsal",
        )
        with open(node.config, "x", encoding="ascii", newline="\n") as file:
            file.write("\n".join(lines) + "\n")


def _escaped(path: str) -> str:
    """A path as a value of a properties file, of which Java reads each byte as a character."""
    if "," in path:
        raise KraftoolError(
            f"{path}: Kafka treats a comma as the end of a path", hint="use --keep FOLDER"
        )
    return ascii_value(path)
