"""Segments and checkpoints as a run of batches, read forward in bounded chunks.

Owns finding the batches, telling a torn tail from damage, and resyncing at the next plausible
batch. It refuses to judge what batches say: offsets, epochs and snapshot rules are verification.
Reading is by a function (position, size) -> bytes that returns fewer bytes at the end only.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from enum import Enum
from struct import Struct
from typing import NamedTuple

from kraftool.decoders.batch import (
    CRC_START,
    FAR,
    HEADER,
    HEADER_SIZE,
    LOG_OVERHEAD,
    BatchHeader,
    RecordBatch,
)
from kraftool.decoders.checksum import crc32c

ReadAt = Callable[[int, int], bytes]

CHUNK = 1 << 20
LARGEST_BATCH = 32 << 20
"""Above this a length is taken for damage. Kafka's leaders write at most 8 MiB."""
MAGIC_POSITION = 16
SMALLEST_LENGTH = HEADER_SIZE - LOG_OVERHEAD
LARGEST_ATTRIBUTES = 0x7F
_STRIDE = 256
"""How far behind a byte that may be a magic the headers are looked for one by one."""
_OPENING = Struct(">qii")
_ZEROS = bytes(CHUNK)
_LONGEST_RUN = 512
"""Batches; whoever wants one only does not wait for all of a chunk."""
_RESYNC_WORK = 256 << 20
"""Bytes of CRC that looking for batches in damage may cost beyond a multiple of what was passed."""


OTHER_MAGIC = "a batch magic other than 2"
UNKNOWN_MAGIC = "a batch magic above 2, in a batch whose CRC fits"
"""Kafka's recovery passes over it, and its first reader fails: a magic above 2 is not checked."""


class DamageKind(Enum):
    """The appearance of a stretch of bytes that is not a batch."""

    TORN_TAIL = "torn tail"
    ZERO_TAIL = "zero-filled tail"
    CORRUPT = "corrupt"


@dataclass(frozen=True, slots=True, kw_only=True)
class Damage:
    """Bytes in which no batch could be found."""

    kind: DamageKind
    position: int
    size: int
    reason: str
    expected: str = ""
    found: str = ""


_LITTLE = 1 << 16
"""Bytes that are read once more rather than copied with all that follows."""


class _Window:
    """The bytes around the current position; slides forward, never back."""

    def __init__(self, read_at: ReadAt, position: int) -> None:
        self._read_at = read_at
        self.start = position
        self.data = b""
        self.ended = False

    def fill(self, position: int, size: int) -> int:
        """Have `size` bytes from `position` on, if there are as many; return how many there are.

        Bytes before `position` are forgotten.
        """
        assert position >= self.start, "the window never slides back"
        have = self.start + len(self.data) - position
        if have >= size or self.ended:
            return have
        kept = self.data[position - self.start :] if have > _LITTLE else b""
        self.start = position
        at = position + len(kept)
        wanted = max(size - len(kept), CHUNK)
        more = self._read_at(at, wanted)
        self.ended = len(more) < wanted
        self.data = kept + more if kept else more
        return len(self.data)

    def take(self, position: int, size: int) -> bytes:
        at = position - self.start
        return self.data[at : at + size]


class ResyncBudget(NamedTuple):
    """The cost of a scan's search for batches in damage so far, in bytes of CRC."""

    start: int = 0
    """Where the scan began."""
    spent: int = 0


NOTHING_SPENT = ResyncBudget()


class _Work:
    """The limit of what one scan may spend on looking for batches in damage.

    Crafted bytes can make every position look like a large batch; a budget for the whole file
    keeps the time linear. What is over it is passed over as damage.
    """

    def __init__(self, budget: ResyncBudget) -> None:
        self._start, self._spent = budget

    @property
    def budget(self) -> ResyncBudget:
        return ResyncBudget(self._start, self._spent)

    def allows(self, position: int, size: int) -> bool:
        """Charge a CRC over `size` bytes, if the budget at `position` has room for it."""
        if self._spent + size > _RESYNC_WORK + 16 * (position - self._start):
            return False
        self._spent += size
        return True


SPAN = 1 << 18
"""Bytes of a span beyond which no batch of it begins."""


class BatchSpan(NamedTuple):
    """Sound batches in one piece of memory, which follow on each other in one epoch."""

    data: bytes
    at: int
    """Where the first batch begins in `data`."""
    end: int
    position: int
    """The same in the file."""
    base_offset: int
    last_offset: int
    epoch: int
    batches: int

    @property
    def size(self) -> int:
        return self.end - self.at

    @property
    def data_position(self) -> int:
        """Return where `data` begins in the file."""
        return self.position - self.at

    def batch(self, at: int) -> RecordBatch:
        """The batch that begins at a place in `data`."""
        end = at + LOG_OVERHEAD + int.from_bytes(self.data[at + 8 : at + 12], "big")
        return RecordBatch.read(self.data[at:end], self.data_position + at)

    def base_offset_at(self, at: int) -> int:
        """The first offset of the batch that begins at a place in `data`."""
        return int.from_bytes(self.data[at : at + 8], "big")

    def read_batches(self, at: int, end: int) -> Iterator[RecordBatch]:
        """The batches from one place in `data` to another one."""
        while at < end:
            batch = self.batch(at)
            yield batch
            at += batch.size


class Scan:
    """Reads on from a position: the batches, and between them whatever is no batch.

    With `stop`, nothing that begins there or later is handed over; the bytes behind it are read all
    the same, since they show if a damaged batch's length is right. A scan that is continued takes
    the budget of the one before it.
    """

    def __init__(
        self,
        read_at: ReadAt,
        position: int = 0,
        stop: int | None = None,
        budget: ResyncBudget | None = None,
    ) -> None:
        self.position = position
        self._stop = stop
        self._window = _Window(read_at, position)
        self._work = _Work(ResyncBudget(position) if budget is None else budget)

    @property
    def budget(self) -> ResyncBudget:
        return self._work.budget

    def run(self) -> list[RecordBatch]:
        """The next batches, as far as their CRCs hold and they follow on each other in one epoch.

        Empty where the next thing needs a closer look, which `item` takes. Nearly all of a log is
        handed over in runs, so that a batch costs little.
        """
        window = self._window
        if self._stop is not None and self.position >= self._stop:
            return []
        window.fill(self.position, HEADER_SIZE)
        data, start = window.data, window.start
        at, end = self.position - start, len(data)
        last = end - HEADER_SIZE
        if self._stop is not None:
            last = min(last, self._stop - start - 1)
        view = memoryview(data)
        run: list[RecordBatch] = []
        epoch: int | None = None
        next_offset: int | None = None
        while at <= last and len(run) < _LONGEST_RUN:
            header = BatchHeader._make(HEADER.unpack_from(data, at))
            base_offset, length, its_epoch, magic, crc, _, delta, *_ = header
            following = at + LOG_OVERHEAD + length
            if not (
                magic == 2
                and SMALLEST_LENGTH <= length <= LARGEST_BATCH - LOG_OVERHEAD
                and following <= end
                and 0 <= base_offset < FAR
                and delta >= 0
                and base_offset == (base_offset if next_offset is None else next_offset)
                and its_epoch == (its_epoch if epoch is None else epoch)
                and crc32c(view[at + CRC_START : following]) == crc
            ):
                break
            run.append(RecordBatch(start + at, header, data[at:following]))
            epoch, next_offset = its_epoch, base_offset + delta + 1
            at = following
        self.position = start + at
        return run

    def span(self) -> BatchSpan | None:
        """The same batches as `run` in one piece, found by the native module."""
        from kraftool.decoders._native import sound

        window = self._window
        if self._stop is not None and self.position >= self._stop:
            return None
        if window.fill(self.position, HEADER_SIZE) < HEADER_SIZE:
            return None
        size = _batch_size(window, self.position)
        if HEADER_SIZE <= size <= LARGEST_BATCH:
            window.fill(self.position, size)
        data, at = window.data, self.position - window.start
        stop = at + SPAN
        if self._stop is not None:
            stop = min(stop, self._stop - window.start)
        end, batches, next_offset, _ = sound(data, at, stop)
        if not batches:
            return None
        base_offset, _, epoch = _OPENING.unpack_from(data, at)
        span = BatchSpan(data, at, end, self.position, base_offset, next_offset - 1, epoch, batches)
        self.position += span.size
        return span

    def item(self) -> RecordBatch | Damage | None:
        """The next batch, whose CRC may be wrong, or what is no batch; None at the end."""
        window, position = self._window, self.position
        if self._stop is not None and position >= self._stop:
            return None
        have = window.fill(position, HEADER_SIZE)
        if have <= 0:
            return None
        stretch = self._found(position, have)
        self.position = position + stretch.size
        return stretch

    def _found(self, position: int, have: int) -> RecordBatch | Damage:
        window, work = self._window, self._work
        starts_with_zero = window.take(position, 1) == b"\x00"
        problem = _problem(window, position, have, work)
        searched = None
        if problem is None:
            size = _batch_size(window, position)
            batch = RecordBatch.read(window.take(position, size), position)
            if batch.is_valid:
                return batch
            # Its CRC is wrong. If a whole batch lies inside, it is the length that is damaged; else
            # what follows tells. A batch that stands is yielded, for its records may be readable.
            searched = _resync(window, position + 1, work, position + size)
            if searched is None and _stands(window, batch):
                return batch
            problem = ("the CRC does not match, and no batch begins where this one ends", "", "")
        following, zeros = searched or _resync(window, position + 1, work) or (position, False)
        return _damage(position, following, window, zeros and starts_with_zero, problem)


def scan(
    read_at: ReadAt, position: int = 0, stop: int | None = None
) -> Iterator[RecordBatch | Damage]:
    """Yield the batches from `position` on, and between them whatever is no batch."""
    reading = Scan(read_at, position, stop)
    while True:
        run = reading.run()
        yield from run
        if not run:
            item = reading.item()
            if item is None:
                return
            yield item


def _batch_size(window: _Window, position: int) -> int:
    at = position - window.start + 8
    return LOG_OVERHEAD + int.from_bytes(window.data[at : at + 4], "big", signed=True)


def _problem(window: _Window, position: int, have: int, work: _Work) -> tuple[str, str, str] | None:
    """Why no batch can begin here; None when one may. Loads the whole batch."""
    if have < HEADER_SIZE:
        return "the file ends inside a batch header", f"{HEADER_SIZE} bytes", f"{have} left"
    at = position - window.start
    magic = window.data[at + MAGIC_POSITION]
    size = _batch_size(window, position)
    if size < HEADER_SIZE:
        length = size - LOG_OVERHEAD
        return "a batch length below the smallest", f"{SMALLEST_LENGTH} or more", str(length)
    if magic != 2:
        known_crc = 2 < magic < 128 and _crc_fits(window, position, size, work)
        return UNKNOWN_MAGIC if known_crc else OTHER_MAGIC, "2", str(magic)
    if size > LARGEST_BATCH:
        return "an absurd batch length", f"at most {LARGEST_BATCH}", str(size)
    have = window.fill(position, size)
    if have < size:
        return "the file ends inside a batch", f"{size} bytes", f"{have} left"
    return None


def _crc_fits(window: _Window, position: int, size: int, work: _Work) -> bool:
    """True if a batch is whole but for its magic, which no CRC covers."""
    if size > LARGEST_BATCH or not work.allows(position, size):
        return False
    if window.fill(position, size) < size:
        return False
    return RecordBatch.read(window.take(position, size)).is_valid


def _stands(window: _Window, batch: RecordBatch) -> bool:
    """True if the length of a batch with a wrong CRC can be trusted, judged by what follows it."""
    wanted = batch.size + HEADER_SIZE
    if window.fill(batch.position, wanted) < wanted:
        return plausible(batch.header)
    after = batch.position + batch.size
    return plausible(_header(window.take(after, HEADER_SIZE)))


def _header(data: bytes) -> BatchHeader:
    return RecordBatch.read(data).header


def plausible(header: BatchHeader) -> bool:
    """True if a header could be one that Kafka wrote."""
    return (
        header.magic == 2
        and SMALLEST_LENGTH <= header.length <= LARGEST_BATCH
        and header.base_offset >= 0
        and header.partition_leader_epoch >= -1
        and 0 <= header.attributes <= LARGEST_ATTRIBUTES
        and header.last_offset_delta >= 0
        and 0 <= header.record_count <= header.last_offset_delta + 1
    )


# What the header of any batch looks like: a base offset, a length of at most 32 MiB, magic 2 and
# attributes that Kafka knows. A lookahead, so that the next match may begin one byte further on.
_CANDIDATE = re.compile(
    rb"(?=[\x00-\x7f].{7}[\x00-\x02].{7}\x02.{4}\x00[\x00-\x7f].{38})", re.DOTALL
)


def _candidate(data: bytes, start: int, end: int) -> int | None:
    """Return where the first header that could be one begins, if it ends before `end`.

    What has no magic in it, as zeros and the holes of a sparse file, is passed over at once.
    """
    while True:
        magic = data.find(2, start + MAGIC_POSITION, end)
        if magic < 0:
            return None
        start = magic - MAGIC_POSITION
        stop = start + _STRIDE
        match = _CANDIDATE.search(data, start, min(end, stop + HEADER_SIZE - 1))
        if match is not None:
            return match.start()
        start = stop


def _is_zero(data: bytes, start: int, end: int) -> bool:
    """True if all bytes of a stretch are zero, compared in pieces."""
    for at in range(start, end, CHUNK):
        piece = data[at : min(at + CHUNK, end)]
        if not _ZEROS.startswith(piece):
            return False
    return True


def _resync(
    window: _Window, position: int, work: _Work, limit: int | None = None
) -> tuple[int, bool] | None:
    """Find the next batch whose CRC holds: its position, and if all before it was zero.

    Without one it is the end of the file; or None, if there is none below `limit`, from where on
    nothing is looked at and no byte is forgotten.
    """
    zeros = True
    while True:
        if limit is None:
            have = window.fill(position, HEADER_SIZE)
            end = window.start + len(window.data)
            if have < HEADER_SIZE:
                rest = window.take(position, max(have, 0))
                return max(position, end), zeros and not any(rest)
        else:
            end = limit
            if end - position < HEADER_SIZE:
                return None
        at, last = position - window.start, end - window.start
        candidate = _candidate(window.data, at, last)
        upto = candidate if candidate is not None else last - HEADER_SIZE + 1
        zeros = zeros and _is_zero(window.data, at, upto)
        position = window.start + upto
        if candidate is None:
            continue
        header = _header(window.take(position, HEADER_SIZE))
        size = LOG_OVERHEAD + header.length
        fits = limit is None or position + size <= limit
        if plausible(header) and fits and work.allows(position, size):
            # Within a limit all bytes are in the window; else it moves on with the search.
            have = size if limit is not None else window.fill(position, size)
            if have >= size and RecordBatch.read(window.take(position, size)).is_valid:
                return position, zeros
        position += 1


def _damage(
    position: int, following: int, window: _Window, zeros: bool, problem: tuple[str, str, str]
) -> Damage:
    reason, expected, found = problem
    at_end = window.fill(following, 1) <= 0
    # A few zeros may be the head of a torn batch, whose base offset begins with them.
    if at_end and zeros and following - position > MAGIC_POSITION + 1:
        kind, reason, expected, found = DamageKind.ZERO_TAIL, "only zeros up to the end", "", ""
    elif at_end and "the file ends" in reason:
        kind = DamageKind.TORN_TAIL
    else:
        kind = DamageKind.CORRUPT
    return Damage(
        kind=kind,
        position=position,
        size=following - position,
        reason=reason,
        expected=expected,
        found=found,
    )
