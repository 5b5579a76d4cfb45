"""A snapshot whose partitions are placed is the same state as one that is replayed.

Owns the comparison, and counts the partitions that were placed: only there can they differ.

    python tests/fuzz/placed_checks.py --cases 1000000
"""

from __future__ import annotations

import argparse
import sys
from pathlib import Path
from random import Random
from tempfile import TemporaryDirectory
from typing import Any

if __name__ == "__main__":
    sys.path.insert(0, str(Path(__file__).resolve().parents[2]))

from kraftool.decoders.errors import KraftoolError
from kraftool.image.image import MetadataImage
from kraftool.image.loader import ImageLoader
from kraftool.image.placed import Placed
from kraftool.image.replay import ReplayError
from kraftool.image.state_hash import state_hash
from kraftool.reports.state import placed_records
from kraftool.reports.state.load import LoadedState, load_state
from kraftool.reports.state.shell.tree import shell_tree
from kraftool.reports.state.shell.walk import tree_lines
from kraftool.reports.state.summary import state_counts
from tests.fuzz.native_cases import pure
from tests.fuzz.placed_cases import change, snapshot

NAME = "00000000000000000500-0000000001.checkpoint"


def placed(image: MetadataImage) -> int:
    """The number of partitions that are read when they are asked for."""
    return sum(
        len(topic.partitions)
        for topic in image.topics.by_id.values()
        if isinstance(topic.partitions, Placed)
    )


def outcome(path: Path, seed: int, *, changes: int = 8) -> tuple[Any, LoadedState | None]:
    """What a file is loaded to, seen from every side, and after some changes."""
    try:
        state = load_state(str(path))
    except KraftoolError as error:
        return str(error), None
    image = state.image
    seen = (
        state.findings,
        state.records,
        state.inside,
        state.controls,
        state.open_transaction,
        _views(image),
        list(tree_lines(shell_tree(image))),
    )
    loader, random = ImageLoader(image), Random(seed)
    refused = []
    for number in range(changes):
        name, record = change(random)
        try:
            loader.replay(number, name, record)
        except ReplayError as error:
            refused.append((number, error.message))
    return (*seen, refused, _views(loader.image())), state


def _views(image: MetadataImage) -> tuple[Any, ...]:
    try:
        hashed = state_hash(image)
    except ReplayError as error:
        hashed = error.message
    topics = [
        (topic.name, topic.id, len(topic.partitions), list(topic.partitions.items()))
        for topic in image.topics.by_id.values()
    ]
    numbers = [
        [(number, topic.partitions.get(number)) for number in (*topic.partitions, -1, 7, 10**9)]
        for topic in image.topics.by_name.values()
    ]
    return hashed, topics, numbers, state_counts(image), image


def check(path: Path, seed: int = 0) -> tuple[int, int]:
    """Raises AssertionError if both paths differ; returns how many partitions there are, and how
    many were placed."""
    native, state = outcome(path, seed)
    with pure():
        expected, replayed = outcome(path, seed)
    assert native == expected, (path.read_bytes().hex(), seed)
    if state is None or replayed is None:
        return 0, 0
    assert not placed(replayed.image)
    assert replayed.image == state.image, path.read_bytes().hex()
    return state.image.topics.partitions, placed(state.image)


def run(seed: int, cases: int, folder: Path) -> tuple[int, int]:
    """Check so many snapshots; returns how many partitions there were, and how many placed."""
    random, path = Random(seed), folder / NAME
    partitions = taken = 0
    before = placed_records.MOST_RECORDS
    try:
        for number in range(cases):
            path.write_bytes(snapshot(random))
            placed_records.MOST_RECORDS = random.choice((1, 3, before))
            there, placed_there = check(path, number)
            partitions, taken = partitions + there, taken + placed_there
    finally:
        placed_records.MOST_RECORDS = before
    return partitions, taken


def main() -> int:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--cases", type=int, default=10_000)
    parser.add_argument("--seed", type=int, default=1)
    chosen = parser.parse_args()
    with TemporaryDirectory(prefix="kraftool-") as folder:
        partitions, taken = run(chosen.seed, chosen.cases, Path(folder))
    print(f"{chosen.cases} snapshots, {partitions} partitions, {taken} of them placed")
    return 0


if __name__ == "__main__":
    sys.exit(main())
