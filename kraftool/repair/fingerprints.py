"""SHA-256 of files and of stretches of them, as a plan names what it was made for.

Owns reading in pieces, and taking bytes that another reads.
"""

from __future__ import annotations

import hashlib
import sys
from collections.abc import Callable

from kraftool.decoders.walk import Item, batch_of
from kraftool.repair.plan import Fingerprint
from kraftool.storage.source import ByteSource, ReadsAt, chunks_of

MOST_OFFSETS = (1 << 31) - 1
"""A segment has no more: its indexes count in 32 bits."""
_RECENT = 1 << 16


def fingerprint_of(file: ReadsAt, *pieces: tuple[int, int] | bytes) -> Fingerprint:
    """Of stretches of a file, with bytes between them; of all of it where none is named.

    It is shorter than they are where the file ends before.
    """
    digest, size = hashlib.sha256(), 0
    for piece in pieces or ((0, sys.maxsize),):
        if isinstance(piece, bytes):
            digest.update(piece)
            size += len(piece)
            continue
        for data in chunks_of(file, *piece):
            digest.update(data)
            size += len(data)
    return Fingerprint(size=size, sha256=digest.hexdigest())


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
            for data in chunks_of(source, item.position, item.position + item.size):
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
