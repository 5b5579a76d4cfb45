"""The epoch in which a new majority begins."""

from __future__ import annotations

from pathlib import Path

import pytest

from kraftool.decoders.errors import KraftoolError
from tests.repair.directories import EQUAL, Quorum


def test_a_given_epoch_is_above_every_known_epoch(tmp_path: Path) -> None:
    """A node may have voted in the highest epoch that is known, and could vote again in it."""
    quorum = Quorum(tmp_path, EQUAL, [1])
    known = quorum.survey(1).highest_epoch
    with pytest.raises(KraftoolError, match=f"--set epoch={known}: it must be above {known}"):
        quorum.plan("lost=2,3", f"epoch={known}")
    quorum.carry_out(quorum.plan("lost=2,3", f"epoch={known + 1}"))
    assert quorum.survey(1).quorum_state.leader_epoch == known + 1
