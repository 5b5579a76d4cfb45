"""Metadata transactions (KIP-868) in a log: where they begin and end, and how.

Owns finding them by their three record types, without decoding anything else.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from kraftool.decoders.batch import RecordBatch
from kraftool.decoders.errors import DecodeError
from kraftool.decoders.walk import Item, batch_of


@dataclass(frozen=True, slots=True)
class Transaction:
    """A metadata transaction in the log: from its begin to its end, and how it ended."""

    begin: int
    end: int | None
    outcome: str


@dataclass(frozen=True, slots=True)
class Transactions:
    """The metadata transactions of a log (KIP-868), in order, asked by offset."""

    transactions: tuple[Transaction, ...]

    def at(self, offset: int) -> Transaction | None:
        index = (
            bisect_right(self.transactions, offset, key=lambda transaction: transaction.begin) - 1
        )
        if index < 0:
            return None
        transaction = self.transactions[index]
        return transaction if transaction.end is None or offset <= transaction.end else None

    def outcome(self, offset: int) -> str:
        """Return how the transaction around an offset ended: committed, aborted, open; empty for
        none.
        """
        transaction = self.at(offset)
        return transaction.outcome if transaction is not None else ""

    def hides(self, offset: int) -> bool:
        """True if no reader of the metadata ever sees this record."""
        transaction = self.at(offset)
        if transaction is None:
            return False
        return transaction.outcome != "committed" or offset in (transaction.begin, transaction.end)


_MARKS = {b"\x01\x17": "begin", b"\x01\x18": "committed", b"\x01\x19": "aborted"}


def marks(batch: RecordBatch) -> Iterator[tuple[int, str]]:
    """The offsets in a batch at which transactions begin or end, and which of it: begin, committed,
    aborted."""
    if batch.is_control:
        return
    try:
        for record in batch.records():
            mark = _MARKS.get(record.value[:2]) if record.value else None
            if mark is not None:
                yield record.offset, mark
    except DecodeError:
        return


def find_transactions(items: Iterable[Item]) -> Iterator[Transaction]:
    """Find the metadata transactions of a log, in order."""
    begin = None
    for batch in filter(None, map(batch_of, items)):
        for offset, mark in marks(batch):
            if mark == "begin":
                begin = offset
            elif begin is not None:
                yield Transaction(begin, offset, mark)
                begin = None
    if begin is not None:
        yield Transaction(begin, None, "open")
