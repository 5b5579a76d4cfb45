"""The log of a live leader as the files of a directory, so that it is read like any other.

Owns the form: what the leader says of itself as meta.properties and quorum-state, its snapshot and
its log behind that as a checkpoint and a segment. The bytes of both are as it sent them; they lie
in temporary files without a name, which are gone with the process however that ends.
"""

from __future__ import annotations

import os
import tempfile
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from functools import partial
from typing import IO

from kraftool.client.asking import Access
from kraftool.client.earlier_log import Taker
from kraftool.client.model import QuorumView
from kraftool.client.observer import ImageTaker, Observation
from kraftool.client.observing import LIMIT_S, Progress, Reached, read_log, silent
from kraftool.decoders import meta_properties, quorum_state
from kraftool.decoders.meta_properties import MetaProperties
from kraftool.decoders.names import META_PROPERTIES, write_checkpoint_name, write_segment_name
from kraftool.net.errors import NetError
from kraftool.raft.names import OffsetAndEpoch
from kraftool.raft.records import Batch
from kraftool.storage.entry import METADATA_PARTITION, Entry, EntryPlace
from kraftool.storage.paths import Location, LocationKind
from kraftool.storage.source import ByteSource, BytesSource, HeldFile


@dataclass(frozen=True, slots=True, kw_only=True)
class Captured:
    """The content of a leader's log at a moment."""

    location: Location
    """Its files, as long as the capture is open; its path is the node's name."""
    end: OffsetAndEpoch
    """One beyond its last record, and the epoch of that."""
    observation: Observation | None = None
    """The image of what is committed in it, if it was asked for."""
    not_earlier: str = ""
    """The reason why the log before the newest snapshot is missing, if it was asked for."""

    @property
    def lacking(self) -> str:
        """Return why the older log is missing, in words; empty if nothing is missing."""
        if not self.not_earlier:
            return ""
        return f"the leader did not send the log before its newest snapshot: {self.not_earlier}"


class Capturing:
    """The place of captured files; it is gone when this is closed."""

    def __init__(self) -> None:
        self._taker, self._earlier = _FileTaker(), _FileTaker()

    def __enter__(self) -> Capturing:
        return self

    def __exit__(self, *_: object) -> None:
        self._taker.begin()
        self._earlier.begin()

    async def capture(
        self,
        view: QuorumView,
        access: Access,
        *,
        with_image: bool = False,
        committed: bool = False,
        with_history: bool = False,
        progress: Progress = silent,
        limit_s: float = LIMIT_S,
    ) -> Captured:
        """Read the leader's log. It includes uncommitted records, unless `committed` is true.
        With `with_history` it includes the log before the newest snapshot. Raises
        UnobservableError."""
        end = max((voter.log_end_offset for voter in view.voters), default=0)
        image = ImageTaker()
        taker = _Both(self._taker, image) if with_image else self._taker
        upto = None if committed else end
        reached = await read_log(
            view,
            access,
            taker,
            upto=upto,
            earlier=self._earlier if with_history else None,
            progress=progress,
            limit_s=limit_s,
        )
        observation = image.observation(reached) if with_image else None
        files = (*self._earlier.files(), *self._taker.files())
        return _captured(view, reached, files, observation)


def _captured(
    view: QuorumView,
    reached: Reached,
    logs: Sequence[tuple[str, IO[bytes]]],
    observation: Observation | None,
) -> Captured:
    leader = reached.leader
    name = leader.name
    entries = []
    if leader.node_id is not None and leader.cluster_id is not None:
        meta = MetaProperties(
            node_id=leader.node_id,
            cluster_id=leader.cluster_id,
            directory_id=view.directory_id(leader.node_id),
        )
        data = meta_properties.encode(meta, written_at=datetime.now(UTC))
        entries.append(_entry(name, META_PROPERTIES, data))
    files: list[tuple[str, bytes | IO[bytes]]] = [
        (quorum_state.FILE_NAME, quorum_state.encode(leader.election)),
        *logs,
    ]
    entries += [
        _entry(name, f"{METADATA_PARTITION}/{file_name}", content) for file_name, content in files
    ]
    return Captured(
        location=Location(
            path=name,
            kind=LocationKind.LIVE,
            directory=name,
            held=tuple(entries),
            high_watermark=reached.high_watermark,
        ),
        end=reached.end,
        observation=observation,
        not_earlier=reached.not_earlier,
    )


def _entry(directory: str, path: str, content: bytes | IO[bytes]) -> Entry:
    name = f"{directory}/{path}"
    opener: Callable[[], ByteSource]
    if isinstance(content, bytes):
        size, opener = len(content), partial(BytesSource, name, content)
    else:
        size, opener = os.fstat(content.fileno()).st_size, partial(HeldFile, content.fileno(), name)
    return Entry(
        directory=directory,
        path=path,
        name=name,
        place=EntryPlace.PARTITION if "/" in path else EntryPlace.ROOT,
        size=size,
        mtime_ns=time.time_ns(),
        opener=opener,
    )


class _Both:
    """Two takers of one reading."""

    def __init__(self, *takers: Taker) -> None:
        self._takers = takers

    def begin(self) -> None:
        for taker in self._takers:
            taker.begin()

    def snapshot(self, id: OffsetAndEpoch, position: int, chunk: bytes, size: int) -> None:
        for taker in self._takers:
            taker.snapshot(id, position, chunk, size)

    def log(self, batches: Sequence[Batch], high_watermark: int) -> None:
        for taker in self._takers:
            taker.log(batches, high_watermark)


class _FileTaker:
    """Keeps what is read in temporary files, until it begins anew."""

    def __init__(self) -> None:
        self._snapshot: tuple[OffsetAndEpoch, IO[bytes]] | None = None
        self._log: tuple[int, IO[bytes]] | None = None

    def begin(self) -> None:
        for kept_file in (self._snapshot, self._log):
            if kept_file is not None:
                kept_file[1].close()
        self._snapshot = self._log = None

    def files(self) -> Iterator[tuple[str, IO[bytes]]]:
        """Name and content of each, complete."""
        if self._snapshot is not None:
            id, file = self._snapshot
            yield write_checkpoint_name(*id), file
        if self._log is None and self._snapshot is not None:
            self._log = self._snapshot[0].offset, _temporary()  # as Kafka begins a segment there
        if self._log is not None:
            offset, file = self._log
            yield write_segment_name(offset, ".log"), file

    def snapshot(self, id: OffsetAndEpoch, position: int, chunk: bytes, size: int) -> None:
        if self._snapshot is None:
            self._snapshot = id, _temporary()
        _write(self._snapshot[1], chunk)

    def log(self, batches: Sequence[Batch], high_watermark: int) -> None:
        if self._log is None:
            self._log = batches[0].base_offset, _temporary()
        for batch in batches:
            _write(self._log[1], batch.data)


def _temporary() -> IO[bytes]:
    try:
        return tempfile.TemporaryFile(buffering=0, prefix="kraftool-")
    except OSError as error:
        raise _full(error) from None


def _write(file: IO[bytes], data: bytes) -> None:
    try:
        while data:  # unbuffered, so that what is written is there for every reader
            data = data[file.write(data) :]
    except OSError as error:
        raise _full(error) from None


def _full(error: OSError) -> NetError:
    return NetError(
        f"kraftool cannot write what it sends to {tempfile.gettempdir()}:"
        f" {error.strerror or error}",
        hint="set TMPDIR to another folder",
    )
