"""SHA-256 of files and of stretches of them, as a plan names what it was made for.

Owns reading in chunks. It refuses to know what the bytes mean.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterator

from kraftool.repair.plan import Fingerprint
from kraftool.storage.source import ByteSource

MOST_OFFSETS = (1 << 31) - 1
"""A segment has no more: its indexes count in 32 bits."""
_CHUNK = 1 << 20


def fingerprint(source: ByteSource, *pieces: tuple[int, int] | bytes) -> Fingerprint:
    """Of stretches of a file, with bytes between them."""
    digest, size = hashlib.sha256(), 0
    for piece in pieces:
        if isinstance(piece, bytes):
            digest.update(piece)
            size += len(piece)
            continue
        for data in _chunks(source, *piece):
            digest.update(data)
            size += len(data)
    return Fingerprint(size=size, sha256=digest.hexdigest())


def whole_fingerprint(source: ByteSource) -> Fingerprint:
    """Of all of a file, however long it turns out to be."""
    digest, size = hashlib.sha256(), 0
    while data := source.read_at(size, _CHUNK):
        digest.update(data)
        size += len(data)
    return Fingerprint(size=size, sha256=digest.hexdigest())


def _chunks(source: ByteSource, start: int, end: int) -> Iterator[bytes]:
    while start < end:
        data = source.read_at(start, min(_CHUNK, end - start))
        if not data:
            return
        yield data
        start += len(data)


class HashedSegment:
    """A segment with the hash of what lies before any position, asked for in ascending order."""

    def __init__(self, base: int, source: ByteSource) -> None:
        self.base, self._source = base, source
        self.farthest = base + (source.size() or MOST_OFFSETS)
        """Where it can end."""
        self._digest, self._at = hashlib.sha256(), 0
        self._kept: tuple[int, Fingerprint] | None = None

    def up_to(self, position: int) -> Fingerprint:
        if self._kept is not None and self._kept[0] == position:
            return self._kept[1]
        for data in _chunks(self._source, self._at, position):
            self._digest.update(data)
            self._at += len(data)
        return Fingerprint(size=self._at, sha256=self._digest.hexdigest())

    def whole(self, last: int | None) -> Fingerprint:
        """Of all of it; what lies before the last batch, if it is told, is known still."""
        if last is not None:
            self._kept = (last, self.up_to(last))
        while data := self._source.read_at(self._at, _CHUNK):
            self._digest.update(data)
            self._at += len(data)
        return Fingerprint(size=self._at, sha256=self._digest.hexdigest())
