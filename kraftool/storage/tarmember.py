"""A member of a tar stream while it passes: its bytes, forward only, and what extends its header.

Owns the holes of sparse files, which come as zeros, and that a member's bytes are gone once the
stream has moved on.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable
from dataclasses import dataclass, field

from kraftool.decoders.errors import KraftoolError
from kraftool.storage.inflate import CountingFeed
from kraftool.storage.source import StreamSource
from kraftool.storage.tarheader import Pieces


@dataclass(slots=True)
class Extra:
    """The extension headers for the member that follows them."""

    name: str | None = None
    link_name: str | None = None
    size: int | None = None
    mtime_ns: int | None = None
    sparse: Pieces | None = None
    sparse_in_data: bool = False
    real_size: int | None = None


class PassingSource(StreamSource):
    """A member's bytes, open until the stream moves on: a second look shares the first one's."""

    def __init__(self, name: str, read: Callable[[int], bytes], *, size: int) -> None:
        super().__init__(name, read, size=size)
        self._passed = False

    def read_at(self, position: int, size: int) -> bytes:
        if self._passed:
            raise KraftoolError(
                f"{self.name}: the stream has moved on past this file",
                hint="unpack the archive to read its files in any order",
            )
        return super().read_at(position, size)

    def close(self) -> None:
        """Nothing yet: whoever opens the file again goes on with the same bytes."""

    def pass_by(self) -> None:
        self._passed = True
        super().close()


class MemberBytes:
    """The bytes of one member, in order; holes of a sparse file come as zeros."""

    def __init__(self, feed: CountingFeed, stored: int, pieces: Pieces, size: int) -> None:
        self._feed = feed
        self.left = stored
        self._pieces = deque(pieces)
        self._size = size
        self._at = 0

    def read(self, wanted: int) -> bytes:
        wanted = min(wanted, self._size - self._at)
        if wanted <= 0:
            return b""
        while self._pieces and self._at >= sum(self._pieces[0]):
            self._pieces.popleft()
        start, size = self._pieces[0] if self._pieces else (self._size, 0)
        if self._at < start:
            data = bytes(min(wanted, start - self._at))
        else:
            data = self._feed.read(min(wanted, start + size - self._at, self.left))
            self.left -= len(data)
        self._at += len(data)
        return data

    def finish(self) -> None:
        """Pass over what nobody read."""
        self.left -= self._feed.skip(self.left)


@dataclass(frozen=True, slots=True, kw_only=True)
class TarMember:
    """A regular file or a hard link, under the name that the archive gives it."""

    name: str
    position: int
    """Of its header in the archive."""
    link_name: str = ""
    """The member that a hard link is another name of; empty for a file."""
    size: int = 0
    """With the holes of a sparse file."""
    mtime_ns: int = 0
    source: PassingSource | None = field(default=None, repr=False, compare=False)
    """The bytes of a file, until the next member is asked for."""
