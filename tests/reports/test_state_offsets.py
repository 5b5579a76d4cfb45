"""Real Kafka's directories at every offset: from a snapshot or from the log, on whichever node.

The one exception is a bug of Kafka's (ScramDelta.apply, seen in 3.7.2, 3.9.1, 4.1.1, 4.3.0, 4.4.0):
where a user's SCRAM credential is removed while others of the mechanism are new, the order of a
hash map decides whether a snapshot loses all credentials of that mechanism. EATEN lists the nodes
of the fixtures that lost some.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from kraftool.image.state_hash import state_hash
from kraftool.reports.state.diff import ChangeType, EntityChange, changes
from kraftool.reports.state.files import open_state
from kraftool.reports.state.load import LoadedState, load_from, load_state
from tests.reports.snapshot_cases import SCRAM_LOST
from tests.support.places import FIXTURES

pytestmark = pytest.mark.slow

LOG = f"__cluster_metadata-0/{0:020}.log"
EATEN = {
    tuple(path.removesuffix("/data").rsplit("/", 1)): (min(offsets), user.rpartition(" ")[2])
    for path, (offsets, user) in SCRAM_LOST.items()
}
"""The first snapshot of a node that lost a user, and the user."""

SCENARIOS = (
    "built/aborted-transaction",
    "kafka-3.3.2/static-quorum",
    "kafka-3.7.2/static-quorum",
    "kafka-3.9.1/upgrade",
    "kafka-4.1.1/upgrade",
    "kafka-4.3.0/aborted-transaction",
    "kafka-4.3.0/dynamic-quorum",
    "kafka-4.4.0/upgrade",
)
CLUSTERS = [
    folder.relative_to(FIXTURES)
    for folder in sorted(FIXTURES.glob("kafka-*/*"))
    if len(list(folder.glob("node-*/data"))) > 1
]


def nodes() -> Iterator[tuple[str, str]]:
    for scenario in SCENARIOS:
        for node in sorted((FIXTURES / scenario).glob("node-*")):
            if (node / "data" / LOG).exists():
                yield scenario, node.name


def is_eaten(change: EntityChange, user: str) -> bool:
    """Whether this is what the bug does: credentials of SCRAM-SHA-256 are gone."""
    return (
        change.change_type is ChangeType.REMOVED
        and change.entity_kind == "scramCredential"
        and change.entity["mechanism"] == "SCRAM-SHA-256"
        and change.entity["user"] == user
    )


@pytest.mark.parametrize(("scenario", "node"), list(nodes()))
def test_from_a_snapshot_or_from_0_the_state_is_the_same_at_every_offset(
    scenario: str, node: str
) -> None:
    directory = FIXTURES / scenario / node / "data"
    both, log = open_state(str(directory)), open_state(str(directory / LOG))
    first, user = EATEN.get((scenario, node), (0, ""))
    began = set()
    lost = 0
    for at in range(load_from(both).end_offset + 1):
        ours, theirs = load_from(both, at=at), load_from(log, at=at)
        began.add(ours.snapshot)
        assert ours.image.provenance == theirs.image.provenance
        assert ours.end_offset == theirs.end_offset == at
        if state_hash(ours.image) == state_hash(theirs.image):
            assert not list(changes(theirs.image, ours.image))
            continue
        differing = list(changes(theirs.image, ours.image))
        assert all(is_eaten(entity_change, user) for entity_change in differing), differing
        assert at >= first
        lost += 1
    assert bool(lost) == bool(user)
    assert len(began) > 1 or not both.snapshots[1:]


@pytest.mark.parametrize("cluster", CLUSTERS, ids=str)
def test_all_nodes_of_a_cluster_have_the_same_state_where_they_reach(cluster: Path) -> None:
    """But for what the bug took from single nodes."""
    states: dict[str, LoadedState] = {}
    for node in sorted((FIXTURES / cluster).glob("node-*")):
        if (node / "data/__cluster_metadata-0").exists():
            states[node.name] = load_state(str(node / "data"))
    assert len(states) > 1
    longest = max(states, key=lambda name: states[name].end_offset)
    for name, state in states.items():
        reference = load_state(str(FIXTURES / cluster / longest / "data"), at=state.end_offset)
        differing = list(changes(reference.image, state.image))
        users = {EATEN.get((str(cluster), node_name), (0, ""))[1] for node_name in (name, longest)}
        for entity_change in differing:
            assert entity_change.entity_kind == "scramCredential", (name, entity_change)
            assert entity_change.entity["user"] in users, (name, entity_change)
        if not any(users):
            assert state_hash(state.image) == state_hash(reference.image), name


@pytest.mark.parametrize(
    "scenario", ["built/aborted-transaction", "kafka-4.3.0/aborted-transaction"]
)
def test_topics_of_an_aborted_transaction_are_at_no_offset(scenario: str) -> None:
    files = open_state(str(FIXTURES / scenario / "node-1/data" / LOG))
    end = load_from(files).end_offset
    seen: set[str] = set()
    opened = 0
    for at in range(end + 1):
        state = load_from(files, at=at)
        seen |= set(state.image.topics.by_name)
        opened += state.open_transaction is not None
    assert opened
    assert "never-was" not in seen
    assert "plain" in seen or scenario.startswith("kafka")
