"""The judgement of damaged directories against what Kafka does when it starts on them, twice.

No judgement may be better than a start shows, and few may be worse.
"""

from __future__ import annotations

import os
from collections.abc import Iterator

import pytest

from tests.interop.judged_starts import Harmed, better_than, judged, orders, started, worse_than
from tests.interop.past import PATIENCE, SNAPSHOTS, Past
from tests.interop.recovering import cluster_of

pytestmark = [pytest.mark.interop, pytest.mark.soak]

FIRST, COUNT = (int(word) for word in os.environ.get("KRAFTOOL_JUDGED", "0,20").split(","))
"""The first seed, and how many for each release."""
MOST_WORSE = 0.02


@pytest.fixture(
    scope="module", params=[("4.3.1", True), ("4.1.1", True), ("3.9.1", False)], ids=str
)
def past(
    request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[Past]:
    version, is_dynamic = request.param
    with cluster_of(version, tmp_path_factory.mktemp("past")) as cluster:
        cluster.common |= SNAPSHOTS | PATIENCE
        yield Past(cluster, dynamic=is_dynamic)


def test_no_judgement_is_better_than_two_starts(past: Past) -> None:
    better, worse = [], []
    voters = [node.id for node in past.controllers]
    for seed in range(FIRST, FIRST + COUNT):
        harmed = Harmed.made(past, seed)
        assessment = judged(past)
        shown = f"{harmed}\n    {assessment}"
        starts = []
        for number, order in enumerate(orders(assessment, voters)):
            Harmed.made(past, seed)
            start = started(past, order)
            starts.append(start)
            shown += f"\n    {start}"
            problems = list(better_than(start, assessment, is_advised=not number))
            better += [f"{', '.join(problems)}: {shown}"] if problems else []
        problems = list(worse_than(starts, assessment))
        worse += [f"{', '.join(problems)}: {shown}"] if problems else []
        print(shown, flush=True)
    assert not better, "\n\n".join([*better, "worse:", *worse])
    assert len(worse) <= MOST_WORSE * COUNT, "\n\n".join(worse)
