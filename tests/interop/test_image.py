"""Random histories through Kafka 4.3.0's own image and through kraftool's: the same trees.

Fixtures hold what a cluster does in a minute. These hold what the records allow: every type, every
field, in any order that Kafka can replay. The trees of the same histories are recorded; the soak
makes new ones.
"""

from __future__ import annotations

import secrets
import tempfile
from collections.abc import Iterable
from functools import cache
from pathlib import Path
from typing import Any

import pytest

from tests.image.histories import History, log_of
from tests.interop import kafka, shelltrees
from tests.interop.our_trees import differences, nodes_of, state_of, tree_of
from tests.interop.recorded import Recording
from tests.interop.shared_jvms import TREES_SOURCE

SEEDS = range(30)
BATCHES = 120


@cache
def log(seed: int) -> bytes:
    return log_of(list(History(seed).batches(BATCHES)))


def write(folder: Path, seeds: Iterable[int]) -> dict[int, str]:
    """Write the logs of histories; their names."""
    names = {seed: f"{seed}/{0:020}.log" for seed in seeds}
    for seed, name in names.items():
        (folder / name).parent.mkdir()
        (folder / name).write_bytes(log(seed))
    return names


def _trees() -> dict[str, Any]:
    with tempfile.TemporaryDirectory() as folder:
        names = write(Path(folder), SEEDS)
        trees = shelltrees.kafka_trees(list(names.values()), Path(folder))
    return {str(seed): shelltrees.kept(trees[name]) for seed, name in names.items()}


RECORDING = Recording(
    name="histories",
    release=kafka.TOOLS_VERSION,
    command="java/ShellTrees.java: tree FILE...",
    sources=(TREES_SOURCE,),
    about=lambda: {str(seed): log(seed) for seed in SEEDS},
    ask=_trees,
)


def test_random_histories_come_to_the_image_that_kafka_has(tmp_path: Path) -> None:
    for seed, name in write(tmp_path, SEEDS).items():
        kept = RECORDING.answers()[str(seed)]
        assert "faults" not in kept, (seed, kept)
        ours = shelltrees.comparable(nodes_of(tree_of(state_of(tmp_path / name))))
        assert shelltrees.digests(ours) == kept["parts"], seed


@pytest.mark.interop
@pytest.mark.soak
def test_new_histories_come_to_the_image_that_kafka_has(tmp_path: Path) -> None:
    names = write(tmp_path, [secrets.randbelow(1 << 40) for _ in SEEDS])
    trees = shelltrees.kafka_trees(list(names.values()), tmp_path)
    for seed, name in names.items():
        assert not trees[name].faults, (seed, trees[name].faults)
        ours = shelltrees.comparable(nodes_of(tree_of(state_of(tmp_path / name))))
        assert not differences(ours, shelltrees.comparable(trees[name].nodes)), seed
