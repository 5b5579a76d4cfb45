"""Bytes that can be read at a position: a file, a piece of memory, a stream that only moves on.

Owns every `open` of a data file in kraftool's reading half: read-only, never mapped into memory
(a running Kafka truncates its files under us), in bounded chunks. It refuses whatever is not a
regular file, and to interpret any byte.
"""

import errno
import os
import stat
import sys
from collections.abc import Callable, Iterator
from types import TracebackType
from typing import BinaryIO, Protocol, Self

from kraftool.decoders.errors import KraftoolError

CHUNK = 1 << 20
_BEYOND = 1 << 12
"""Bytes to read beyond the end: a file may grow meanwhile."""


class ByteSource(Protocol):
    """The source from which scanners read; `position` counts bytes from the start of the file."""

    @property
    def name(self) -> str:
        """The path as the user gave it, with whatever lies below it joined on."""

    def size(self) -> int | None:
        """The present size; None when only reading to the end would tell."""

    def read_at(self, position: int, size: int) -> bytes:
        """Read `size` bytes at `position`; fewer only where the source ends."""

    def close(self) -> None: ...

    def __enter__(self) -> Self: ...

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None: ...


class ReadsAt(Protocol):
    """A file of which any part can be read."""

    def read_at(self, position: int, size: int) -> bytes:
        """Read `size` bytes at `position`; fewer only where the file ends."""


def chunks_of(file: ReadsAt, start: int = 0, end: int = sys.maxsize) -> Iterator[bytes]:
    """Read a file in pieces, up to `end` or to where it ends before that."""
    while start < end and (chunk := file.read_at(start, min(CHUNK, end - start))):
        yield chunk
        start += len(chunk)


class ClosingSource:
    """A source that a with-statement closes."""

    def close(self) -> None:
        raise NotImplementedError

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.close()


class FileSource(ClosingSource):
    """A regular file, read with pread, so that several readers may share it."""

    def __init__(self, path: str, *, name: str = "") -> None:
        self._name = name or path
        self._fd = _open_regular(path, self._name)

    @property
    def name(self) -> str:
        return self._name

    def size(self) -> int:
        return os.fstat(self._fd).st_size

    def fileno(self) -> int:
        """The descriptor, for processes that inherit it."""
        return self._fd

    def identity(self) -> tuple[int, int]:
        """Device and inode: two opens with the same identity read the same file."""
        status = os.fstat(self._fd)
        return status.st_dev, status.st_ino

    def read_at(self, position: int, size: int) -> bytes:
        assert position >= 0, position
        assert size >= 0, size
        try:
            chunks: list[bytes] = []
            read = 0
            # A buffer for more than the file has costs more than reading a small file.
            room = size if size <= _BEYOND else max(self.size() - position, 0) + _BEYOND
            while read < size:
                most = min(size - read, max(room - read, _BEYOND), CHUNK)
                # A file system may answer with less than was asked for, also before the end.
                data = os.pread(self._fd, most, position + read)
                if not data:
                    break
                chunks.append(data)
                read += len(data)
        except OSError as error:
            raise KraftoolError(
                f"{self._name}: cannot be read at position {position}: {_strerror(error)}",
                hint="the disk or the file system reports this; its own log may say more"
                if error.errno == errno.EIO
                else "",
            ) from error
        return chunks[0] if len(chunks) == 1 else b"".join(chunks)

    def close(self) -> None:
        if self._fd >= 0:
            os.close(self._fd)
            self._fd = -1


class HeldFile(FileSource):
    """A file that somebody else keeps open, under a name of its own; it may have none on disk."""

    def __init__(self, fd: int, name: str) -> None:
        self._name = name
        self._fd = os.dup(fd)


class BytesSource(ClosingSource):
    """Bytes at hand under a name."""

    def __init__(self, name: str, data: bytes) -> None:
        self._name = name
        self._data = data

    @property
    def name(self) -> str:
        return self._name

    def size(self) -> int:
        return len(self._data)

    def read_at(self, position: int, size: int) -> bytes:
        assert position >= 0, position
        assert size >= 0, size
        return self._data[position : position + size]

    def close(self) -> None:
        pass


class StreamSource(ClosingSource):
    """A source over something that can only be read onwards, such as a member of a tar stream.

    `read(n)` gives at most n bytes and b"" at the end. A reader may always go back by
    `back_window` bytes from where its latest read began, and read that read's bytes again; memory
    is bounded by that window plus the largest single read.
    """

    def __init__(
        self,
        name: str,
        read: Callable[[int], bytes],
        *,
        size: int | None = None,
        back_window: int = CHUNK,
    ) -> None:
        self._name = name
        self._read = read
        self._size = size
        self._back_window = back_window
        self._buffer = bytearray()
        self._start = 0  # the position of the buffer's first byte
        self._ended = False
        self._closed = False

    @property
    def name(self) -> str:
        return self._name

    def size(self) -> int | None:
        """The size that the archive promised, or the true one once the end was seen."""
        return self._start + len(self._buffer) if self._ended else self._size

    def read_at(self, position: int, size: int) -> bytes:
        assert position >= 0, position
        assert size >= 0, size
        if self._closed:
            raise KraftoolError(f"{self._name}: the stream has moved on past this file")
        if position < self._start:
            raise KraftoolError(
                f"{self._name}: position {position} has passed; this stream is only read onwards",
                hint="unpack the archive, or give the file itself, to read it in any order",
            )
        wanted = position + size
        self._forget_before(position)
        while not self._ended and self._start + len(self._buffer) < wanted:
            chunk = self._read(min(CHUNK, wanted - self._start - len(self._buffer)))
            if not chunk:
                self._ended = True
                break
            self._buffer += chunk
            self._forget_before(position)
        with memoryview(self._buffer) as view:
            return bytes(view[position - self._start : wanted - self._start])

    def _forget_before(self, position: int) -> None:
        # A reader that asked beyond the end may still come back to what lies before the end.
        latest = min(position, self._start + len(self._buffer))
        surplus = latest - self._back_window - self._start
        if surplus > 0:
            del self._buffer[:surplus]
            self._start += surplus

    def close(self) -> None:
        self._closed = True
        self._buffer = bytearray()


def read_whole(source: ByteSource, *, limit: int) -> bytes:
    """Read a small file at once; raises KraftoolError when it holds more than `limit` bytes."""
    data = source.read_at(0, limit + 1)
    if len(data) > limit:
        raise KraftoolError(f"{source.name}: larger than the {limit} bytes such a file may have")
    return data


def cannot_open(name: str, error: OSError, *, owner: int | None = None) -> KraftoolError:
    """Say in one sentence why `name` could not be opened, with what to do about it."""
    hint = ""
    if error.errno in (errno.EACCES, errno.EPERM):
        who = f"user id {owner}" if owner is not None else "the user that Kafka runs as"
        hint = f"it can be read by {who} or by root; run kraftool as that user, or on a copy"
    elif error.errno == errno.ENOENT and os.path.islink(name):
        hint = f"it is a symbolic link to {os.readlink(name)}: check that the disk is mounted"
    elif error.errno == errno.ELOOP:
        hint = "a symbolic link leads to itself"
    elif error.errno in (errno.EMFILE, errno.ENFILE):
        hint = "raise the limit on open files (ulimit -n)"
    return KraftoolError(f"{name}: {_strerror(error)}", hint=hint)


def describe_type(mode: int) -> str:
    """Return what a thing that is no regular file is, in words."""
    for test, word in (
        (stat.S_ISDIR, "a directory"),
        (stat.S_ISLNK, "a symbolic link"),
        (stat.S_ISFIFO, "a pipe"),
        (stat.S_ISSOCK, "a socket"),
        (stat.S_ISCHR, "a device"),
        (stat.S_ISBLK, "a device"),
    ):
        if test(mode):
            return word
    return "no regular file"


def _open_regular(path: str, name: str) -> int:
    owner: int | None = None
    try:
        status = os.stat(path)
        owner = status.st_uid
        # ReadTail at before the open, since opening a device can act on it.
        _refuse_irregular(status.st_mode, name)
        # NONBLOCK: should a pipe take the file's place in between, open must not wait for a writer.
        fd = os.open(path, os.O_RDONLY | os.O_CLOEXEC | os.O_NONBLOCK)
    except ValueError as error:
        raise KraftoolError(f"{name!r}: no path can hold a NUL character") from error
    except OSError as error:
        raise cannot_open(name, error, owner=owner) from error
    try:
        _refuse_irregular(os.fstat(fd).st_mode, name)
    except KraftoolError:
        os.close(fd)
        raise
    return fd


def _refuse_irregular(mode: int, name: str) -> None:
    if not stat.S_ISREG(mode):
        raise KraftoolError(f"{name}: is {describe_type(mode)}, not a file")


def _strerror(error: OSError) -> str:
    return (error.strerror or str(error)).lower()


def standard_input() -> BinaryIO:
    """The bytes of stdin. Raises KraftoolError where it was closed."""
    if sys.stdin is None:
        raise KraftoolError("stdin is closed", hint="give it something to read, or name a file")
    return sys.stdin.buffer
