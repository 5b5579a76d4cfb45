"""A damaged bootstrap.checkpoint: Kafka 4.3.0 ends at its start on one that is empty, cut off or
garbage, and starts without one, since only a metadata log without a record begins with it."""

from __future__ import annotations

import shutil

import pytest

from kraftool.decoders.errors import KraftoolError
from kraftool.repair.narration import complaints, is_well
from kraftool.repair.plan import Method
from tests.repair.directories import Quorum, mended

FILE = "bootstrap.checkpoint"


@pytest.mark.parametrize("size", [0, 100])
def test_it_goes_where_there_is_metadata(quorum: Quorum, size: int) -> None:
    file = quorum[1] / FILE
    file.write_bytes(file.read_bytes()[:size])
    assert [complaint for complaint in complaints(quorum.survey(1)) if FILE in complaint]
    mended(quorum, 1, quorum.plan(), "bootstrap")
    assert not file.exists()


def test_it_goes_from_the_survivor_of_a_lost_majority(quorum: Quorum) -> None:
    (quorum[1] / FILE).write_bytes(b"what is this")
    quorum.carry_out(quorum.plan("lost=2,3", nodes=(1, 11)))
    assert not (quorum[1] / FILE).exists()
    assert is_well(quorum.survey(1))


def test_in_a_directory_without_metadata_nobody_reads_it(quorum: Quorum) -> None:
    shutil.rmtree(quorum.partition(11))
    (quorum[11] / FILE).write_bytes(b"")
    assert quorum.plan().method is Method.NONE


def test_nobody_elses_first_records_take_its_place(quorum: Quorum) -> None:
    """Of a quorum that was formatted, and has not run."""
    for node in (1, 2, 3):
        for file in quorum.partition(node).iterdir():
            if file.name != f"{0:020}-{0:010}.checkpoint":
                file.unlink()
        (quorum.partition(node) / f"{0:020}.log").write_bytes(b"")
    (quorum[1] / FILE).write_bytes(b"")
    with pytest.raises(KraftoolError, match="first records") as raised:
        quorum.plan(nodes=(1, 2, 3))
    assert "kraftool format" in raised.value.hint
