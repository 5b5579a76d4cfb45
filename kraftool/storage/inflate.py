"""Sequential byte feeds below a tar stream: plain, gzip, and one that buffers, counts and ends.

Owns the opening of pipes, the unpacking of gzip in bounded steps, whatever the ratio, and the rule
that damage comes after every byte that precedes it. It refuses to seek back and to know what the
bytes mean.
"""

import io
import os
import stat
import zlib
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Protocol

from kraftool.decoders.errors import DecodeError, KraftoolError
from kraftool.storage.source import CHUNK, ByteSource, FileSource, cannot_open, standard_input

GZIP_MAGIC = b"\x1f\x8b"
STEP = 1 << 16


class Feed(Protocol):
    """Bytes in order. `read` gives at most n of them and b"" at the end."""

    def read(self, size: int) -> bytes: ...

    def skip(self, size: int) -> int:
        """Pass over `size` bytes; gives how many there were."""


class SourceFeed:
    """A feed over a source that can be read anywhere, so that skipping costs nothing."""

    def __init__(self, source: ByteSource) -> None:
        self._source = source
        self._position = 0

    def read(self, size: int) -> bytes:
        data = self._source.read_at(self._position, size)
        self._position += len(data)
        return data

    def skip(self, size: int) -> int:
        present = self._source.size()
        assert present is not None, "a feed over a source needs its size"
        skipped = min(size, max(0, present - self._position))
        self._position += skipped
        return skipped


class ReadableStream(Protocol):
    """The methods that a pipe must have, as `sys.stdin.buffer` does."""

    def read(self, size: int, /) -> bytes | None: ...


class PipeFeed:
    """A feed over a pipe: anything with `read`, which may give less than asked before the end."""

    def __init__(self, stream: ReadableStream) -> None:
        self._stream = stream

    def read(self, size: int) -> bytes:
        return self._stream.read(size) or b""

    def skip(self, size: int) -> int:
        return _skip_by_reading(self, size)


class GzipFeed:
    """The plain bytes of gzip members one after another (`cat a.gz b.gz` is one stream).

    Raises DecodeError at damage or a missing end, once all bytes before it were given; its
    position counts compressed bytes. The module `gzip` would drop the last chunk before damage.
    """

    def __init__(self, below: Feed) -> None:
        self._below = below
        self._engine: zlib._Decompress | None = None
        self._pending = b""
        self._taken = 0
        self._members = 0
        self._damage: DecodeError | None = None

    @property
    def compressed_position(self) -> int:
        return self._taken - len(self._pending)

    def read(self, size: int) -> bytes:
        size = min(size, STEP)
        while True:
            if self._damage is not None:
                raise self._damage
            if self._engine is None and not self._begin_member():
                return b""
            engine = self._engine
            assert engine is not None, "a member has begun"
            if not self._pending:
                self._pull()
            ended = not self._pending
            out = self._inflate(engine, size)
            if engine.eof:
                self._pending = engine.unused_data
                self._engine = None
            else:
                self._pending = engine.unconsumed_tail
            if out:
                return out
            if ended:
                raise DecodeError("the gzip data ends early", position=self.compressed_position)

    def skip(self, size: int) -> int:
        return _skip_by_reading(self, size)

    def _pull(self) -> None:
        data = self._below.read(STEP)
        self._taken += len(data)
        self._pending += data

    def _begin_member(self) -> bool:
        if self._members:
            # Zero bytes may pad the end of a gzip file.
            self._pending = self._pending.lstrip(b"\0")
            while len(self._pending) < len(GZIP_MAGIC):
                before = self._taken
                self._pull()
                if self._taken == before:
                    break
                self._pending = self._pending.lstrip(b"\0")
            if not self._pending:
                return False
            if not self._pending.startswith(GZIP_MAGIC):
                raise DecodeError(
                    "bytes that are not gzip data follow it",
                    position=self.compressed_position,
                    expected="1f8b or the end",
                    found=self._pending[:2].hex(),
                )
        self._members += 1
        self._engine = zlib.decompressobj(wbits=31)
        return True

    def _inflate(self, engine: "zlib._Decompress", size: int) -> bytes:
        before = engine.copy()
        try:
            return engine.decompress(self._pending, size)
        except zlib.error as error:
            return self._inflate_up_to_damage(before, size, error)

    def _inflate_up_to_damage(
        self, engine: "zlib._Decompress", size: int, error: zlib.error
    ) -> bytes:
        """Go through the failing input again byte by byte, and keep what it yields until then."""
        out = bytearray()
        position = self.compressed_position
        for index in range(len(self._pending)):
            try:
                out += engine.decompress(self._pending[index : index + 1], size)
            except zlib.error:
                position += index
                break
        self._damage = DecodeError(f"the gzip data is damaged ({error})", position=position)
        if not out:
            raise self._damage
        return bytes(out)


class CountingFeed:
    """Buffers a feed for small reads, counts its bytes, and turns an error into an early end.

    `damage` says why the feed ended; None means that it simply ended.
    """

    def __init__(self, below: Feed, *, ahead: bytes = b"") -> None:
        self._below = below
        self._buffer = ahead
        self._at = 0
        self.position = 0
        self.damage: KraftoolError | None = None

    def read(self, size: int) -> bytes:
        if self._at == len(self._buffer):
            self._buffer, self._at = self._pull(max(STEP, min(size, CHUNK))), 0
        data = self._buffer[self._at : self._at + size]
        self._at += len(data)
        self.position += len(data)
        return data

    def read_exactly(self, size: int) -> bytes:
        """Read `size` bytes, fewer only at the end. The caller has bounded `size`."""
        data = self.read(size)
        if len(data) == size or not data:
            return data
        parts = [data]
        missing = size - len(data)
        while missing:
            data = self.read(missing)
            if not data:
                break
            parts.append(data)
            missing -= len(data)
        return b"".join(parts)

    def put_back(self, data: bytes) -> None:
        """Undo the read that gave `data`, so that the next one gives it again."""
        self._buffer = data + self._buffer[self._at :]
        self._at = 0
        self.position -= len(data)

    def skip(self, size: int) -> int:
        buffered = min(size, len(self._buffer) - self._at)
        self._at += buffered
        skipped = buffered
        if skipped < size and self.damage is None:
            try:
                skipped += self._below.skip(size - skipped)
            except KraftoolError as error:
                self.damage = error
        self.position += skipped
        return skipped

    def _pull(self, size: int) -> bytes:
        if self.damage is not None:
            return b""
        try:
            return self._below.read(size)
        except KraftoolError as error:
            self.damage = error
        except OSError as error:
            self.damage = KraftoolError(f"the stream cannot be read: {error.strerror or error}")
        return b""


@contextmanager
def opened_feed(path: str, stdin: ReadableStream | None = None) -> Iterator[Feed]:
    """The plain bytes of an archive: of a file or a pipe, unzipped where they are gzip."""
    if path == "-":
        yield _unzipped(PipeFeed(stdin or standard_input()))
    elif is_shell_pipe(path):
        try:
            pipe = io.FileIO(path)
        except OSError as error:
            raise cannot_open(path, error) from error
        with pipe:
            yield _unzipped(PipeFeed(pipe))
    else:
        with FileSource(path) as source:
            yield _unzipped(SourceFeed(source))


def is_shell_pipe(path: str) -> bool:
    """True if a PATH is what a shell makes of `<(tar c DIR)`.

    A pipe elsewhere in the file system is none: to open it could wait for ever for its writer.
    """
    if not path.startswith(("/dev/fd/", "/dev/stdin", "/proc/")):
        return False
    try:
        return stat.S_ISFIFO(os.stat(path).st_mode)
    except OSError:
        return False


def _unzipped(below: Feed) -> Feed:
    start = below.read(len(GZIP_MAGIC))
    while len(start) < len(GZIP_MAGIC) and (more := below.read(len(GZIP_MAGIC) - len(start))):
        start += more
    whole = CountingFeed(below, ahead=start)
    return GzipFeed(whole) if start == GZIP_MAGIC else whole


def _skip_by_reading(feed: Feed, size: int) -> int:
    skipped = 0
    while skipped < size:
        data = feed.read(min(STEP, size - skipped))
        if not data:
            break
        skipped += len(data)
    return skipped
