"""The module that `decoders/native/binding` builds: the fast path in Rust.

Reasons why a call stopped: -1 at the end, -2 if its output is full, NOT_PLAIN of `fast_path.py`. A
record type without a program is its api key times 256 plus its version.
"""

from collections.abc import Sequence
from typing import Any, final

from typing_extensions import Buffer

BUILD_ID: str

def sound(data: bytes, at: int, stop: int) -> tuple[int, int, int, int]:
    """Find sound batches that follow on each other in one epoch and begin before `stop`. Returns
    their end, their number, one beyond the last offset, and where the last one begins."""

@final
class Renderer:
    """Writes plain batches in one format into a buffer of its own."""

    def __new__(
        cls,
        format: str,
        file: bytes,
        *,
        full: int,
        first_offset: int | None = None,
        last_offset: int | None = None,
        epoch: int | None = None,
        since: int | None = None,
        until: int | None = None,
        by_record: bool = False,
        batches_only: bool = False,
    ) -> Renderer: ...
    def add(
        self, api_key: int, version: int, program: bytes, opening: bytes, is_shown: bool
    ) -> None:
        """Give a record type the program that reads it."""

    def refuse(self, api_key: int, version: int) -> None:
        """Stop at this record type."""

    def render(self, data: bytes, at: int, end: int, start: int) -> tuple[int, int]:
        """Render the batches from `at` to `end`; `start` is the place of the first byte in the
        file. Returns how far it came and the reason."""

    def take(self) -> Buffer:
        """Return what the last call rendered. Its memory is used again once nobody has it."""

@final
class Sieve:
    """Passes over plain batches that have no record of a selection, and counts those that have."""

    def __new__(
        cls,
        *,
        first_offset: int | None = None,
        last_offset: int | None = None,
        epoch: int | None = None,
        since: int | None = None,
        until: int | None = None,
        control: bool | None = None,
        by_record: bool = False,
        by_header: bool = True,
        counts_batches: bool = False,
    ) -> Sieve: ...
    def look_for(
        self,
        number: int | None,
        labels: Sequence[bytes],
        uuids: Sequence[bytes],
        texts: Sequence[bytes],
    ) -> None:
        """A record must have one of these values. The number (None: any number) counts in a field
        with one of the labels, a uuid or a text in any field. A label is `"name":`."""

    def take_learnt(self) -> list[bytes]:
        """The records of learnt types since the last time, in the batches that were read."""

    def add(
        self,
        api_key: int,
        version: int,
        program: bytes,
        is_selected: bool,
        is_counted: bool,
        is_learnt: bool,
    ) -> None:
        """Give a record type the program that reads it."""

    def refuse(self, api_key: int, version: int) -> None:
        """Stop at this record type."""

    def skip(self, data: bytes, at: int, end: int) -> tuple[int, int]:
        """Pass over the batches from `at` on that have nothing. Returns how far it came and the
        reason: -2 if the next one has something, -1 also where something was learnt."""

    def take(self, data: bytes, at: int, end: int, most: int) -> tuple[int, int]:
        """Count the batches from `at` on that have something, up to about `most`. Returns how far
        it came and the reason."""

    @property
    def count(self) -> int:
        """What the batches of the last `take` count."""

def heads(
    data: bytes, at: int, end: int, grid: int, is_whole: bool
) -> tuple[int, bytes, bytes, bytes, list[tuple[int, int]]]:
    """Read the heads of sound batches from `at` on. Stops at a multiple of `grid` offsets, at a
    batch that is not plain, and, unless `is_whole`, at the batch that ends at `end`. Returns how
    far it came; the place of each batch in `data`, as int64; the bytes of its base offset, epoch
    and checksum; its types; and the number of records of each api key in all batches. The types of
    a batch are their number, then for each the api key and, in four bytes, the number of records.
    """

@final
class Stretches:
    """Sums up plain batches in which nothing is watched, each stretch of them as one."""

    def __new__(cls, grid: int, longest: int) -> Stretches:
        """A stretch ends at multiples of `grid` offsets and before waits of over `longest` ms."""

    def add(
        self,
        api_key: int,
        version: int,
        program: bytes,
        role: str,
        numbers: Sequence[tuple[bytes, int | None]],
    ) -> None:
        """Give a record type the program that reads it, and its role: passed, watched, counted or
        idle. With `numbers` it is watched only if a field has one, of which None is any."""

    def refuse(self, api_key: int, version: int) -> None:
        """Stop at this record type."""

    def read(self, data: bytes, at: int, end: int) -> tuple[int, int]:
        """Read the batches from `at` to `end`. Returns how far it came and the reason: FULL if the
        stretch is over, which a batch with watched records is by itself."""

    def close(
        self,
    ) -> (
        tuple[
            tuple[int, int, int, int],
            tuple[int, int, int, int],
            tuple[int, int, int, int],
            int,
            int,
        ]
        | None
    ):
        """Return the stretch that was read; None if there is none. Base and last offset, epoch,
        batches; first and last time, longest and shortest wait; idle batches, time of the first
        and of the last of them, longest wait between two; counted records; digest."""

    def take_watched(self) -> list[tuple[int, bytes]]:
        """Offset and value of the watched records of the stretch that was closed last."""

@final
class Checker:
    """Reads plain batches field by field, and counts their records."""

    def __new__(cls) -> Checker: ...
    def add(self, api_key: int, version: int, program: bytes, is_watched: bool) -> None:
        """Give a record type the program that reads it."""

    def refuse(self, api_key: int, version: int) -> None:
        """Stop at this record type."""

    def check(self, data: bytes, at: int, end: int, start: int) -> tuple[int, int]:
        """Read the batches from `at` to `end`. Returns how far it came and the reason."""

    @property
    def taken(self) -> tuple[int, int, int]:
        """Batches, records and the last time of the last call."""

    def take_watched(self) -> list[tuple[int, int, int, bytes]]:
        """The records of watched types since the last time: place, offset, time and value."""

    def take_counts(self) -> list[tuple[int, int, int, int, int]]:
        """Of each record type since the last time: api key, version, the number of records, place
        and offset of the first."""

@final
class Places:
    """Finds records that may be read later, and reads them."""

    def __new__(
        cls,
        layouts: Sequence[
            tuple[
                int,
                int,
                bytes,
                tuple[int, int, int, int, int | None],
                bool,
                Sequence[int | None],
            ]
        ],
    ) -> Places:
        """For each version: api key, version, program; the fields of group, number, choice, array
        and the array that has as many elements; True if the newest writer writes it; the fields of
        a row."""

    def find(
        self, batch: bytes, most: int
    ) -> list[tuple[int, int, int, int, str | bytes, int, bool, int]] | None:
        """The records of a batch in order; None if it is not plain. An entry has records of one
        group to be read later, at most so many: index of the first, how many records, place and end
        in the batch, group, number of the first, True if the newest writer would write the same
        bytes, and the checksum. Any other record is an entry with 0 records and its value."""

    def rows(self, data: bytes, index: int, count: int, crc: int) -> list[tuple[Any, ...]] | None:
        """The rows of the records of an entry; None if the bytes have changed."""

    def values(self, data: bytes, index: int, count: int, crc: int) -> list[bytes] | None:
        """The values of the records of an entry; None if the bytes have changed."""

Cells = tuple[int, int, list[bytes | None], list[tuple[str, "Cells"]]]
"""A column: its cells and nulls, buffers with that of the nulls first, and the columns within."""

@final
class Columns:
    """Reads plain batches, and gives their rows as the buffers of Arrow's columns."""

    def __new__(
        cls,
        *,
        full_rows: int,
        full_bytes: int,
        rows: bool = True,
        checks: bool = True,
        frames_only: bool = False,
        payloads: bool = False,
        fields: bool = False,
        first_epoch: int | None = None,
        last_epoch: int | None = None,
        first_offset: int | None = None,
        last_offset: int | None = None,
        since: int | None = None,
        until: int | None = None,
    ) -> Columns:
        """`rows` are wanted of records; `checks` reads the other records too."""

    def add(
        self, api_key: int, version: int, program: bytes, is_shown: bool, chosen: Sequence[bool]
    ) -> None:
        """Give the next record type the program that reads it. `chosen` says of each field if it
        becomes a column."""

    def refuse(self, api_key: int, version: int) -> None:
        """Stop at this record type."""

    def read(self, data: bytes, at: int, end: int, start: int) -> tuple[int, int]:
        """Read the batches from `at` to `end`. Returns how far it came and the reason."""

    @property
    def counts(self) -> tuple[int, int, int]:
        """Of the rows since the last `take`: how many records, batches, and bytes of batches."""

    def take(
        self,
    ) -> tuple[
        int,
        tuple[bytes, ...],
        int,
        tuple[bytes, ...],
        list[tuple[int, int, list[tuple[str, Cells]]]],
    ]:
        """The number of batches; their position, base offset, count, epoch, timestamp, size and
        CRC; the number of records; their batch, position, offset, type, size, the ends of their
        payloads and the payloads; and of each type that there is: its number in the order of `add`,
        the number of its records, and the columns of its fields."""

@final
class Values:
    """Decodes the records of plain batches to values."""

    def __new__(cls) -> Values: ...
    def add(self, api_key: int, version: int, program: bytes, name: str, is_offered: bool) -> None:
        """Give a record type its name and the program that reads it. `is_offered` says if somebody
        else may take its records."""

    def refuse(self, api_key: int, version: int) -> None:
        """Stop at this record type."""

    def read(
        self, batch: bytes, at: int, index: int
    ) -> tuple[list[tuple[str, dict[str, Any]]], int] | int:
        """The names and values of the next records of a sound batch, and where the one behind them
        begins; or the reason for having none. `at` is where the record of this index begins. They
        end before a record that is offered to somebody else, unless the first one is."""

@final
class RowKinds:
    """The records that make and change rows, and the cells of a row."""

    def __new__(
        cls,
        cells: str,
        choice: int,
        arrays: tuple[int, int],
        filler: bytes,
        counters: Sequence[tuple[int, int | None]],
        layouts: Sequence[
            tuple[int, int, bytes, bool | None, tuple[int, int], Sequence[int | None]]
        ],
    ) -> RowKinds:
        """`cells` has a letter for each cell: i for a number, I for an array of numbers, U for one
        of uuids. `choice` is 0 or 1. `arrays` are one of numbers and one of as many uuids; no uuids
        stand for as many of the filler. A change raises `counters`: all changes, or those that set
        another cell. A layout is api key, version, program, True if the record makes a row,
        False if it changes one, None if it does nothing, the fields of group and number, and the
        field of each cell."""

@final
class Changes:
    """The changes of rows since they were taken the last time."""

    def __new__(cls, kinds: RowKinds, first: int) -> Changes:
        """`first` is the first offset of which changes are noted."""

    @property
    def count(self) -> int: ...
    @property
    def is_full(self) -> bool:
        """True if the changes must be taken before more records."""

    @property
    def has_begun(self) -> bool:
        """True if a record at or after the first offset was taken."""

    def take(self) -> tuple[list[bytes], list[Cells]]:
        """The ids of groups, and the columns of the changes: offset, epoch, time, effect (0 made, 1
        replaced, 2 changed), the number of the group's id, the row's number, and its cells."""

@final
class OpenRows:
    """Groups of rows while records change them."""

    def __new__(cls, kinds: RowKinds) -> OpenRows: ...
    def take(
        self,
        data: bytes,
        place: tuple[int, int, int],
        end: int,
        changes: Changes | None = None,
    ) -> tuple[tuple[int, int, int], int, tuple[int, int, int] | None, bytes | None]:
        """Take the records of sound batches from a place on, and note what they change. Stops at a
        record that does not fit, and when the changes are full. A place is where a batch begins,
        the index of a record in it, and where the record begins in the batch. Returns the place of
        the first record that was not taken; how many were taken; last offset, epoch and time of the
        last batch that was taken to its end; and the group of the next record, if it is not open.
        """

    def open(self, group: bytes, rows: Rows) -> None:
        """Open a group with the rows that it had."""

    def load(self, group: bytes, numbers: Sequence[int], rows: Sequence[tuple[Any, ...]]) -> bool:
        """Open a group with these rows. False if one of them cannot be kept."""

    def close(self, group: bytes) -> None: ...
    def get(self, group: bytes, number: int) -> tuple[Any, ...] | None: ...
    def put(self, group: bytes, number: int, row: tuple[Any, ...]) -> bool:
        """Make a row, or replace one. False if it cannot be kept."""

    def rows(self, group: bytes) -> Rows:
        """The rows of a group as they are now."""

@final
class Rows:
    """The rows of a group at one moment, in the order in which they were made."""

    def __len__(self) -> int: ...
    def has(self, number: int) -> bool: ...
    def get(self, number: int) -> tuple[Any, ...] | None: ...
    def numbers(self) -> list[int]: ...
    def part(self, start: int, stop: int) -> list[tuple[Any, ...]]:
        """The rows from one place to another."""

    def same(self, other: Rows) -> bool:
        """True if the other has the same rows in the same order."""
