"""The table of tolerated differences equals the documents, and the comparison can fail."""

from __future__ import annotations

import re
from dataclasses import replace
from pathlib import Path
from random import Random

from tests.differential.compare import differences
from tests.differential.outcome import Outcome, Replied
from tests.differential.random_start import random_start
from tests.differential.tolerated import TOLERATED, explained

DIFFERENCES = Path(__file__).resolve().parents[2] / "docs" / "differences.md"
HEADING = "## What the differential tests tolerate"


def documented() -> dict[str, str]:
    """Return name and reason of each difference that docs/differences.md lists."""
    section = DIFFERENCES.read_text().partition(HEADING)[2].partition("\n#")[0]
    items = re.findall(r"^- \*\*(.+?)\*\*: ((?:.+\n)(?:  .+\n)*)", section, re.MULTILINE)
    return {name: " ".join(reason.split()) for name, reason in items}


def test_the_documents_list_each_tolerated_difference_with_its_reason() -> None:
    assert documented() == {entry.name: entry.reason for entry in TOLERATED}


def test_names_are_unique() -> None:
    assert len({entry.name for entry in TOLERATED}) == len(TOLERATED)


def test_a_difference_without_an_entry_is_unexplained() -> None:
    start, _ = random_start(Random(1))
    ours = Outcome(
        replies={7: Replied(name="Vote", version=2, data=b"")},
        state={"role": "Follower", "epoch": 5, "highWatermark": 3},
    )
    theirs = replace(ours, replies={}, state={"role": "Follower", "epoch": 6, "highWatermark": 3})
    observed = differences(ours, theirs, None, None, start.settings)
    entries, unexplained = explained(observed)
    assert not entries
    assert [difference.where for difference in unexplained] == ["requests answered", "state .epoch"]


def test_a_kraftool_that_stops_alone_is_unexplained() -> None:
    start, _ = random_start(Random(1))
    observed = differences(Outcome(fatal="AssertionError"), Outcome(), None, None, start.settings)
    assert explained(observed)[1] == observed
