"""A tar stream read once from front to back; nothing of it is ever written to disk.

Owns the walk over members: long names, pax records, sparse files, padding, and what to do when the
archive is damaged or cut. A member is offered as a forward-only source while it passes; memory
stays flat whatever sizes the archive claims. Archives may follow one another in one stream, as
`(kubectl exec A -- tar c D; kubectl exec B -- tar c D) | kraftool …` writes them.
"""

from __future__ import annotations

from collections.abc import Iterator

from kraftool.decoders.errors import DecodeError, KraftoolError
from kraftool.storage import tarheader
from kraftool.storage.entry import (
    METADATA_PARTITION,
    Entry,
    EntryPlace,
    EntryProblem,
    FolderCounts,
    FolderKind,
    Severity,
    folder_kind,
    is_partition_file,
    split_member,
)
from kraftool.storage.inflate import CountingFeed, Feed, is_shell_pipe
from kraftool.storage.tarheader import BLOCK, Pieces, TarHeader
from kraftool.storage.tarmember import Extra, MemberBytes, PassingSource, TarMember

_LARGEST_EXTRA = 1 << 20
"""A long name or a set of pax records above this is damage."""
_LARGEST_HOLES = 4 << 30
"""Zeros that a sparse file may add: above a segment's largest size they are an attack."""
_MOST_ZEROS = 16 << 20
"""Zeros behind an archive's end that are passed over for the sake of another archive."""
_MOST_DIRECTORIES = 1000
"""Data directories in one stream whose folders are counted."""
_PIPE_HINT = (
    "it is made by `tar cf - DIR`; kubectl exec and docker exec need -i, and must not have -t"
)


class TarStream:
    """Iterates over an archive once. `folders` is whole when the iteration is."""

    def __init__(self, feed: Feed, name: str) -> None:
        self._feed = CountingFeed(feed)
        self._is_pipe = name == "-" or is_shell_pipe(name)
        self._prefix = "" if name == "-" else f"{name}:"
        self._shown = "the tar stream" if name == "-" else name
        self._counted: dict[str, dict[FolderKind, int]] = {}
        self._folder = ("", "")
        self._archives = 1
        self._extra = Extra()

    @property
    def folders(self) -> dict[str, FolderCounts]:
        """Counts by the same directory names that the entries have; `other` is not counted."""
        return {
            directory: FolderCounts(
                topics=kinds.get(FolderKind.TOPIC, 0),
                deleted=kinds.get(FolderKind.DELETED, 0),
                stray=kinds.get(FolderKind.STRAY, 0),
                future=kinds.get(FolderKind.FUTURE, 0),
            )
            for directory, kinds in self._counted.items()
        }

    def entries(self) -> Iterator[Entry | EntryProblem]:
        """The files that a data directory is read for, each to be read before the next is asked
        for; and what is wrong."""
        for member in self.members():
            if isinstance(member, EntryProblem):
                yield member
            elif member.link_name:
                words = tarheader.KIND_WORDS[tarheader.HARD_LINK]
                yield self._passed_over(member.name, words, member.position)
            elif (entry := self._entry(member)) is not None:
                yield entry

    def members(self) -> Iterator[TarMember | EntryProblem]:
        """Every regular file and hard link, each to be read before the next is asked for; and what
        is wrong."""
        headers = 0
        while True:
            position = self._feed.position
            block = self._feed.read_exactly(BLOCK)
            if block == tarheader.ZERO_BLOCK:
                if not self._next_archive():
                    break
                continue
            if len(block) < BLOCK:
                yield from self._cut(block, position, headers)
                break
            try:
                header = tarheader.parse_header(block, position)
                headers += 1
                yield from self._member(header, position)
            except DecodeError as error:
                self._extra = Extra()
                is_resynced = self._resync()
                passed = self._feed.position - position
                if headers or is_resynced:
                    yield self._problem(f"{error.reason}; {passed} bytes passed over", position)
                else:
                    yield self._problem(
                        f"this is no tar archive: {error.reason}", position, hint=_PIPE_HINT
                    )
                if not is_resynced:
                    break
        if self._feed.damage is not None:
            yield self._problem(_damage(self._feed.damage), self._feed.position)

    def _cut(self, block: bytes, position: int, headers: int) -> Iterator[EntryProblem]:
        """The stream ended where a header or the archive's end mark should have been."""
        if self._feed.damage is not None:
            return
        if not block and not headers:
            reason = "there is no tar archive: no bytes"
            yield self._problem(reason, position, hint=_PIPE_HINT)
        elif block:
            yield self._problem("the archive ends inside a member's header", position)
        else:
            yield self._problem(
                "the archive has no end mark; it may have been cut short",
                position,
                severity=Severity.WARNING,
            )

    def _next_archive(self) -> bool:
        """Behind the zeros that end an archive: whether another one follows.

        The stream is read to its end either way, lest what writes it dies of a broken pipe.
        """
        zeros = 1
        while len(block := self._feed.read_exactly(BLOCK)) == BLOCK and zeros * BLOCK < _MOST_ZEROS:
            if block == tarheader.ZERO_BLOCK:
                zeros += 1
            elif tarheader.is_header(block):
                self._feed.put_back(block)
                # A single block of zeros is a flaw of some writers and not the end.
                if zeros > 1:
                    self._archives += 1
                    self._prefix = f"{'' if self._is_pipe else self._shown}#{self._archives}:"
                return True
            else:
                break
        return False

    def _problem(
        self,
        reason: str,
        position: int,
        name: str = "",
        severity: Severity = Severity.ERROR,
        hint: str = "",
    ) -> EntryProblem:
        hint = hint if self._is_pipe else ""
        shown = name or self._shown
        return EntryProblem(
            name=shown, reason=reason, severity=severity, position=position, hint=hint
        )

    def _resync(self) -> bool:
        """Pass over blocks until one is a header, and put that one back."""
        while len(block := self._feed.read_exactly(BLOCK)) == BLOCK:
            if tarheader.is_header(block):
                self._feed.put_back(block)
                return True
        return False

    def _member(self, header: TarHeader, position: int) -> Iterator[TarMember | EntryProblem]:
        kind = header.kind
        if kind in tarheader.EXTENSIONS:
            data = self._extension(header, position)
            if kind == tarheader.PAX:
                self._pax(data, position + BLOCK)
            elif kind == tarheader.GNU_LONG_NAME:
                self._extra.name = tarheader.text(data.split(b"\0", 1)[0])
            elif kind == tarheader.GNU_LONG_LINK:
                self._extra.link_name = tarheader.text(data.split(b"\0", 1)[0])
            return
        extra, self._extra = self._extra, Extra()
        stored = header.size if extra.size is None else extra.size
        name = extra.name if extra.name is not None else header.name
        if kind == tarheader.REGULAR and name.endswith("/"):
            # Archives from before POSIX mark a directory by its name alone. The header of a file
            # with a longer name has the first 100 characters of that, which may end with a slash.
            kind, stored = tarheader.DIRECTORY, 0
        if kind not in (tarheader.REGULAR, tarheader.GNU_SPARSE):
            if kind == tarheader.HARD_LINK:
                yield self._link(header, name, extra, position)
            elif kind in tarheader.KIND_WORDS:
                yield self._passed_over(name, tarheader.KIND_WORDS[kind], position)
            elif kind in (tarheader.DIRECTORY, tarheader.GNU_DIRECTORY):
                if _is_files_name(name):
                    yield self._passed_over(name.rstrip("/"), "a directory", position)
                self._count_folder(name)
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

    def _passed_over(self, name: str, words: str, position: int) -> EntryProblem:
        """A link or the like, whose target is not in the archive under this name."""
        *_, place = split_member(name)
        basename = name.rstrip("/").rpartition("/")[2]
        matters = place in (EntryPlace.ROOT, EntryPlace.PARTITION) or basename == METADATA_PARTITION
        return self._problem(
            f"it is {words}; passed over",
            position,
            self._prefix + name,
            Severity.WARNING if matters else Severity.INFO,
        )

    def _file(
        self,
        header: TarHeader,
        name: str,
        stored: int,
        pieces: Pieces,
        size: int,
        extra: Extra,
        position: int,
    ) -> Iterator[TarMember | EntryProblem]:
        if pieces != ((0, stored),):
            tarheader.check_pieces(pieces, stored, size, position)
        content = MemberBytes(self._feed, stored, pieces, size)
        source = PassingSource(self._prefix + name, content.read, size=size)
        if size - sum(length for _, length in pieces) > _LARGEST_HOLES:
            yield self._problem("a sparse file with absurd holes", position, self._prefix + name)
        else:
            yield TarMember(
                name=name,
                position=position,
                size=size,
                mtime_ns=header.mtime * 10**9 if extra.mtime_ns is None else extra.mtime_ns,
                source=source,
            )
        source.pass_by()
        content.finish()
        if content.left:
            yield self._problem(
                f"the archive ends inside this file: {content.left} of {stored} bytes are missing",
                self._feed.position,
                self._prefix + name,
            )
        # The next block, counted from the member's own header.
        self._feed.skip(-(self._feed.position - position) % BLOCK)

    def _link(self, header: TarHeader, name: str, extra: Extra, position: int) -> TarMember:
        target = extra.link_name if extra.link_name is not None else header.link_name
        return TarMember(name=name, position=position, link_name=target or name)

    def _entry(self, member: TarMember) -> Entry | None:
        directory, path, place = split_member(member.name)
        if isinstance(place, FolderKind):
            if place is not FolderKind.OTHER:
                self._count(directory, path, place)
            return None
        source = member.source
        assert source is not None, "a regular file has bytes"
        return Entry(
            directory=self._prefix + directory,
            path=path,
            name=source.name,
            place=place,
            size=member.size,
            mtime_ns=member.mtime_ns,
            opener=lambda: source,
        )

    def _count_folder(self, name: str) -> None:
        """Count a folder that has a member of its own; an empty one has nothing else."""
        parts = [part for part in name.split("/") if part not in ("", ".")]
        if parts and METADATA_PARTITION not in parts:
            kind = folder_kind(parts[-1])
            # Nothing tells yet whether the folder around it is a data directory.
            if kind is not FolderKind.OTHER:
                self._count("/".join(parts[:-1]), parts[-1], kind)

    def _count(self, directory: str, folder: str, kind: FolderKind) -> None:
        """Count a folder once. Archives hold a folder's files together, so the last one is enough;
        a list of all would let an archive fill our memory."""
        directory = self._prefix + directory
        if (directory, folder) == self._folder:
            return
        self._folder = (directory, folder)
        if directory in self._counted or len(self._counted) < _MOST_DIRECTORIES:
            kinds = self._counted.setdefault(directory, {})
            kinds[kind] = kinds.get(kind, 0) + 1

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
                case "linkpath":
                    extra.link_name = tarheader.text(value)
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
                        tarheader.pax_number(part, key, position) for part in value.split(b",")
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


def _damage(error: KraftoolError) -> str:
    """Why the bytes below the archive ended; its own position counts unpacked bytes."""
    if isinstance(error, DecodeError):
        return f"{error.reason} at position {error.position} of the compressed bytes"
    return error.message


def _is_files_name(name: str) -> bool:
    """True if Kafka keeps a file there, and no folder."""
    _, path, place = split_member(name)
    basename = path.rpartition("/")[2]
    return place is EntryPlace.ROOT or (
        place is EntryPlace.PARTITION and is_partition_file(basename)
    )
