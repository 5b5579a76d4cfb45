"""Random histories through Kafka 4.3.0's own image and through kraftool's: the same trees.

Fixtures hold what a cluster does in a minute. These hold what the records allow: every type, every
field, in any order that Kafka can replay.
"""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.image.histories import History, log_of
from tests.interop import shelltrees
from tests.interop.our_trees import differences, nodes_of, state_of, tree_of

LOGS = 30
BATCHES = 120


@pytest.mark.interop
def test_random_histories_come_to_the_image_that_kafka_has(tmp_path: Path) -> None:
    for seed in range(LOGS):
        folder = tmp_path / str(seed)
        folder.mkdir()
        (folder / f"{0:020}.log").write_bytes(log_of(list(History(seed).batches(BATCHES))))
    files = [f"{seed}/{0:020}.log" for seed in range(LOGS)]
    for name, kafkas in shelltrees.kafka_trees(files, tmp_path).items():
        assert not kafkas.faults, (name, kafkas.faults)
        ours = shelltrees.comparable(nodes_of(tree_of(state_of(tmp_path / name))))
        theirs = shelltrees.comparable(kafkas.nodes)
        assert not differences(ours, theirs), name
