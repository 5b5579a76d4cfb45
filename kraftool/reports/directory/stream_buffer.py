"""The logs and snapshots of a tar stream, kept in memory so that a state can be made of them.

Owns the bound: beyond it a directory's files are not kept, and its state is not looked at. It
refuses what is no part of a metadata log.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace

from kraftool.decoders.errors import KraftoolError
from kraftool.reports.logs.source import LogFile, kind_of
from kraftool.reports.state.files import MOST_STREAMED, StateFiles, files_of
from kraftool.storage.entry import Entry
from kraftool.storage.paths import Location
from kraftool.storage.source import BytesSource

_CHUNK = 1 << 20


class _Claimed(BytesSource):
    """A member's bytes with the size that the archive claims, which a cut archive does not have."""

    def __init__(self, name: str, data: bytes, size: int) -> None:
        super().__init__(name, data)
        self._size = size

    def size(self) -> int:
        return self._size


@dataclass(slots=True)
class KeptFiles:
    """The files that were kept of one location, by directory."""

    location: Location
    _files: dict[str, list[LogFile]] = field(default_factory=dict)
    _left: int = MOST_STREAMED
    _too_large: set[str] = field(default_factory=set)

    def keep(self, entry: Entry) -> Entry:
        """The entry, to be read as often as one likes if it was kept."""
        kind = kind_of(entry, self.location)
        if kind is None or entry.directory in self._too_large:
            return entry
        if entry.size > self._left:
            self._too_large.add(entry.directory)
            for file in self._files.pop(entry.directory, ()):
                self._left += file.size
            return entry
        kept = replace(entry, opener=_opener(entry))
        self._left -= entry.size
        self._files.setdefault(entry.directory, []).append(LogFile(kept, kind, self.location))
        return kept

    def is_too_large(self, directory: str) -> bool:
        return directory in self._too_large

    def state_files(self, directory: str) -> StateFiles:
        """Return what a directory's state is made of. Raises KraftoolError where there is
        nothing.
        """
        files = self._files.get(directory)
        if not files:
            raise KraftoolError(f"{directory}: no log and no snapshot in it")
        return files_of(directory, files)


def _opener(entry: Entry) -> _Opener:
    data = bytearray()
    with entry.open() as source:
        while piece := source.read_at(len(data), min(_CHUNK, entry.size - len(data))):
            data += piece
    return _Opener(entry.name, bytes(data), entry.size)


@dataclass(frozen=True, slots=True)
class _Opener:
    name: str
    data: bytes
    size: int

    def __call__(self) -> BytesSource:
        return _Claimed(self.name, self.data, self.size)
