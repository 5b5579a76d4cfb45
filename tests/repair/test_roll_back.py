"""Where a roll back may end: between batches, and outside of metadata transactions."""

from __future__ import annotations

from pathlib import Path

import pytest

from kraftool.decoders.batch import encode_batch
from kraftool.decoders.errors import KraftoolError
from kraftool.decoders.framing import encode_record
from kraftool.repair.planner import plan_for, read_quorum
from kraftool.repair.request import PlanRequest
from tests.repair.directories import APART, EQUAL, NOW, Quorum, batches, state_of


def test_no_roll_back_ends_inside_of_what_is_written_as_one(tmp_path: Path) -> None:
    """A controller applies a batch, and a transaction, whole or not at all."""
    quorum = Quorum(tmp_path / "one", APART, [3, 11])
    several = [
        record_batch
        for record_batch in batches(quorum.segment(3))
        if record_batch.last_offset > record_batch.base_offset
    ]
    batch = several[-1]
    first, end = batch.base_offset, batch.last_offset + 1
    accept = ["rollback", "ahead"]
    for offset in (first + 1, end - 1):
        with pytest.raises(
            KraftoolError, match=f"offsets {first} to {end - 1}.*at {first} or at {end}"
        ):
            quorum.plan("lost=2,4", f"rollback={offset}", accept=accept)
    carried = read_quorum([str(quorum[3])], now_ms=NOW, at=first + 1).surveys
    asked = PlanRequest(surveys=carried, now_ms=NOW, lost=frozenset({2, 4}), rollback=first)
    with pytest.raises(KraftoolError, match=f"at offset {first} was not collected"):
        plan_for(asked)
    then = state_of(quorum[3], at=end)
    quorum.carry_out(quorum.plan("lost=2,4", f"rollback={end}", accept=accept))
    assert state_of(quorum[3]) == then


def test_no_roll_back_ends_inside_of_a_transaction(tmp_path: Path) -> None:
    quorum = Quorum(tmp_path, EQUAL, [1, 11])
    path = quorum.segment(1)
    last = batches(path)[-1]
    begin = last.last_offset + 1
    records = [
        encode_record("BeginTransactionRecord", 0, {"name": "one"}),
        encode_record("NoOpRecord", 0, {}),
        encode_record("EndTransactionRecord", 0, {}),
        encode_record("NoOpRecord", 0, {}),
    ]
    more = b"".join(
        encode_batch([(None, record)], base_offset=at, epoch=last.epoch, timestamp=NOW)
        for at, record in enumerate(records, begin)
    )
    for node in (1, 11):
        quorum.segment(node).write_bytes(
            path.read_bytes() + more if node == 1 else path.read_bytes()
        )
    accept = ["rollback", "ahead"]
    for offset in (begin + 1, begin + 2):
        with pytest.raises(KraftoolError, match=f"transaction that begins at offset {begin}"):
            quorum.plan("lost=2,3", f"rollback={offset}", accept=accept)
    for offset in (begin, begin + 3):
        assert quorum.plan("lost=2,3", f"rollback={offset}", accept=accept).changes
