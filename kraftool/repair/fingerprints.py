"""SHA-256 of files and of stretches of them, as a plan names what it was made for.

Owns reading in chunks, and taking bytes that another reads.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Iterator

from kraftool.decoders.walk import Item, batch_of
from kraftool.repair.plan import Fingerprint
from kraftool.storage.source import ByteSource

MOST_OFFSETS = (1 << 31) - 1
"""A segment has no more: its indexes count in 32 bits."""
_CHUNK = 1 << 20
_RECENT = 1 << 16


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


class PassingHash:
    """The hash of a file from the items of a walk over it, which have all of its bytes.

    Only bytes that are no batch are read again: a fault does not have them.
    """

    def __init__(self, open_file: Callable[[], ByteSource]) -> None:
        self._open = open_file
        self._digest, self._at = hashlib.sha256(), 0
        self._recent = bytearray()
        """What follows the bytes in the digest: the last item at least."""

    def take(self, item: Item) -> None:
        batch = batch_of(item)
        if batch is None and not item.size:
            return
        if batch is None or len(self._recent) >= _RECENT:
            self._settle(self._recent)
            self._recent.clear()
        if batch is not None:
            self._recent += batch.data
            return
        with self._open() as source:
            for data in _chunks(source, item.position, item.position + item.size):
                self._settle(data)

    def take_plain(self, data: bytes, at: int, end: int) -> None:
        """Take sound batches. Another item must follow them."""
        self._settle(self._recent)
        self._recent.clear()
        self._settle(memoryview(data)[at:end])

    def _settle(self, data: bytes | bytearray | memoryview) -> None:
        self._digest.update(data)
        self._at += len(data)

    def up_to(self, position: int) -> Fingerprint:
        """Of what comes before the last item that was taken, or of all that was."""
        assert position >= self._at, "before the last item"
        digest = self._digest.copy()
        digest.update(self._recent[: position - self._at])
        return Fingerprint(size=position, sha256=digest.hexdigest())

    def whole(self) -> Fingerprint:
        """Of all items."""
        return self.up_to(self._at + len(self._recent))
