"""A tar stream read once from front to back; nothing of it is ever written to disk.

Owns the walk over members: long names, pax records, sparse files, padding, and what to do when the
archive is damaged or cut. A member is offered as a forward-only source while it passes; memory
stays flat whatever sizes the archive claims.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from kraftool.decoders.errors import DecodeError
from kraftool.storage import tarheader
from kraftool.storage.entry import (
    Entry,
    FolderCounts,
    FolderKind,
    Problem,
    Severity,
    split_member,
)
from kraftool.storage.inflate import (
    CountingFeed,
    Feed,
    GzipFeed,
    PipeFeed,
    Readable,
    SourceFeed,
)
from kraftool.storage.source import FileSource, StreamSource
from kraftool.storage.tarheader import BLOCK, Pieces, TarHeader

_LARGEST_EXTRA = 1 << 20
"""A long name or a set of pax records above this is damage."""
_LARGEST_HOLES = 4 << 30
"""Zeros that a sparse file may add: above a segment's largest size they are an attack."""


def open_feed(path: str, stdin: Readable) -> Feed:
    """The plain bytes of an archive: of a file or of stdin, unzipped where they are gzip."""
    below: Feed = PipeFeed(stdin) if path == "-" else SourceFeed(FileSource(path))
    start = below.read(2)
    while len(start) < 2 and (more := below.read(2 - len(start))):
        start += more
    whole = CountingFeed(below, ahead=start)
    return GzipFeed(whole) if start == b"\x1f\x8b" else whole


@dataclass(slots=True)
class _Extra:
    """What extension headers say about the member that follows them."""

    name: str | None = None
    size: int | None = None
    mtime_ns: int | None = None
    sparse: Pieces | None = None
    sparse_in_data: bool = False
    real_size: int | None = None


class _Member:
    """The bytes of one member, in order; holes of a sparse file come as zeros."""

    def __init__(self, feed: CountingFeed, stored: int, pieces: Pieces, size: int) -> None:
        self._feed = feed
        self.left = stored
        self._pieces = list(pieces)
        self._size = size
        self._at = 0

    def read(self, wanted: int) -> bytes:
        wanted = min(wanted, self._size - self._at)
        if wanted <= 0:
            return b""
        while self._pieces and self._at >= sum(self._pieces[0]):
            del self._pieces[0]
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


class TarStream:
    """Iterates over an archive once. `folders` is whole when the iteration is."""

    def __init__(self, feed: Feed, name: str) -> None:
        self._feed = CountingFeed(feed)
        self._name = "" if name == "-" else f"{name}:"
        self._shown = "the tar stream" if name == "-" else name
        self._seen: dict[str, dict[FolderKind, set[str]]] = {}
        self._extra = _Extra()

    @property
    def folders(self) -> dict[str, FolderCounts]:
        return {
            directory: FolderCounts(
                topics=len(kinds.get(FolderKind.TOPIC, ())),
                deleted=len(kinds.get(FolderKind.DELETED, ())),
                stray=len(kinds.get(FolderKind.STRAY, ())),
                future=len(kinds.get(FolderKind.FUTURE, ())),
                other=len(kinds.get(FolderKind.OTHER, ())),
            )
            for directory, kinds in self._seen.items()
        }

    def entries(self) -> Iterator[Entry | Problem]:
        """The regular files, each to be read before the next is asked for; and what is wrong."""
        members = 0
        while True:
            position = self._feed.position
            block = self._feed.read_exactly(BLOCK)
            if len(block) < BLOCK or block == tarheader.ZERO_BLOCK:
                if block and len(block) < BLOCK:
                    yield self._problem("the archive ends inside a member's header", position)
                elif not block and members == 0:
                    yield self._problem("there is no tar archive: no bytes", position)
                break
            members += 1
            try:
                header = tarheader.parse_header(block, position)
                yield from self._member(header, position)
            except DecodeError as error:
                yield self._problem(error.reason, error.position)
                self._extra = _Extra()
                if not self._resync():
                    break
        if self._feed.damage is not None:
            yield self._problem(self._feed.damage.message, self._feed.position)

    def _problem(self, reason: str, position: int, name: str = "") -> Problem:
        return Problem(name=name or self._shown, reason=reason, position=position)

    def _resync(self) -> bool:
        """Pass over blocks until one is a header, and put that one back."""
        while len(block := self._feed.read_exactly(BLOCK)) == BLOCK:
            if tarheader.is_header(block):
                self._feed.put_back(block)
                return True
        return False

    def _member(self, header: TarHeader, position: int) -> Iterator[Entry | Problem]:
        kind = header.kind
        if kind in (tarheader.PAX, tarheader.PAX_GLOBAL, tarheader.GNU_LONG_NAME):
            data = self._extension(header, position)
            if kind == tarheader.PAX:
                self._pax(data, position + BLOCK)
            elif kind == tarheader.GNU_LONG_NAME:
                self._extra.name = tarheader.text(data.split(b"\0", 1)[0])
            return
        extra, self._extra = self._extra, _Extra()
        stored = header.size if extra.size is None else extra.size
        name = extra.name if extra.name is not None else header.name
        if kind not in (tarheader.REGULAR, tarheader.GNU_SPARSE):
            if kind in tarheader.KIND_WORDS:
                words = tarheader.KIND_WORDS[kind]
                yield Problem(
                    name=self._name + name,
                    reason=f"it is {words}; passed over",
                    severity=Severity.INFO,
                    position=position,
                )
            elif kind == tarheader.DIRECTORY:
                self._count(name.rstrip("/") + "/.")
            self._skip(stored)
            return
        pieces: Pieces = ((0, stored),)
        size = stored
        if kind == tarheader.GNU_SPARSE:
            pieces, size = self._old_sparse(header)
        elif extra.sparse is not None and extra.real_size is not None:
            pieces, size = extra.sparse, extra.real_size
        elif extra.sparse_in_data and extra.real_size is not None:
            pieces, used = self._sparse_in_data(stored)
            stored, size = stored - used, extra.real_size
        yield from self._file(header, name, stored, pieces, size, extra, position)

    def _file(
        self,
        header: TarHeader,
        name: str,
        stored: int,
        pieces: Pieces,
        size: int,
        extra: _Extra,
        position: int,
    ) -> Iterator[Entry | Problem]:
        if pieces != ((0, stored),):
            tarheader.check_pieces(pieces, stored, size, position)
        member = _Member(self._feed, stored, pieces, size)
        entry = self._entry(header, name, size, extra, member)
        if size - sum(length for _, length in pieces) > _LARGEST_HOLES:
            yield self._problem("a sparse file with absurd holes", position, self._name + name)
        elif entry is not None:
            yield entry
        member.finish()
        if member.left:
            yield self._problem(
                f"the archive ends inside this file: {member.left} of {stored} bytes are missing",
                self._feed.position,
                self._name + name,
            )
        # The next block, counted from the member's own header.
        self._feed.skip(-(self._feed.position - position) % BLOCK)

    def _entry(
        self, header: TarHeader, name: str, size: int, extra: _Extra, member: _Member
    ) -> Entry | None:
        directory, path, place = split_member(name)
        if isinstance(place, FolderKind):
            self._seen.setdefault(directory, {}).setdefault(place, set()).add(path)
            return None
        shown = self._name + name
        mtime_ns = header.mtime * 10**9 if extra.mtime_ns is None else extra.mtime_ns
        return Entry(
            directory=self._name + directory,
            path=path,
            name=shown,
            place=place,
            size=size,
            mode=header.mode,
            mtime_ns=mtime_ns,
            uid=header.uid,
            gid=header.gid,
            opener=lambda: StreamSource(shown, member.read, size=size),
        )

    def _count(self, name: str) -> None:
        directory, path, place = split_member(name)
        if isinstance(place, FolderKind) and place is not FolderKind.METADATA:
            self._seen.setdefault(directory, {}).setdefault(place, set()).add(path)

    def _extension(self, header: TarHeader, position: int) -> bytes:
        if header.size > _LARGEST_EXTRA:
            raise DecodeError(
                "an extension header of absurd size",
                position=position,
                expected=f"at most {_LARGEST_EXTRA} bytes",
                found=str(header.size),
            )
        data = self._feed.read_exactly(header.size)
        self._feed.skip(-header.size % BLOCK)
        return data

    def _pax(self, data: bytes, position: int) -> None:
        numbers: list[int] = []
        extra = self._extra
        for key, value in tarheader.parse_pax(data, position):
            match key:
                case "path":
                    if extra.name is None:
                        extra.name = tarheader.text(value)
                case "GNU.sparse.name":
                    extra.name = tarheader.text(value)
                case "size":
                    extra.size = tarheader.pax_number(value, key, position)
                case "mtime":
                    extra.mtime_ns = tarheader.pax_time_ns(value)
                case "GNU.sparse.realsize" | "GNU.sparse.size":
                    extra.real_size = tarheader.pax_number(value, key, position)
                case "GNU.sparse.major":
                    extra.sparse_in_data = value == b"1"
                case "GNU.sparse.offset" | "GNU.sparse.numbytes":
                    numbers.append(tarheader.pax_number(value, key, position))
                case "GNU.sparse.map":
                    numbers += [
                        tarheader.pax_number(each, key, position) for each in value.split(b",")
                    ]
        if numbers:
            extra.sparse = tarheader.pair_up(numbers, position)

    def _old_sparse(self, header: TarHeader) -> tuple[Pieces, int]:
        pieces, more = header.sparse, header.sparse_continues
        while more:
            at = self._feed.position
            block = self._feed.read_exactly(BLOCK)
            if len(block) < BLOCK:
                raise DecodeError("the archive ends inside a sparse map", position=at)
            added, more = tarheader.parse_sparse_extension(block, at)
            pieces += added
            if len(pieces) > 100_000:
                raise DecodeError("a sparse map of absurd length", position=at)
        return pieces, header.real_size if header.real_size is not None else header.size

    def _sparse_in_data(self, stored: int) -> tuple[Pieces, int]:
        """The map of the pax 1.0 form: decimal lines at the head of the data, in whole blocks."""
        at, text, used = self._feed.position, b"", 0
        wanted = None
        while wanted is None or text.count(b"\n") < wanted:
            block = self._feed.read_exactly(BLOCK)
            used += len(block)
            text += block
            if len(block) < BLOCK or used > min(stored, _LARGEST_EXTRA):
                raise DecodeError("a sparse map that does not end", position=at)
            if wanted is None and b"\n" in text:
                count = tarheader.pax_number(text.split(b"\n", 1)[0], "sparse map", at)
                wanted = 2 * count + 1
        lines = text.split(b"\n")[1:wanted]
        numbers = [tarheader.pax_number(line, "sparse map", at) for line in lines]
        return tarheader.pair_up(numbers, at), used

    def _skip(self, size: int) -> None:
        self._feed.skip(size + -size % BLOCK)
