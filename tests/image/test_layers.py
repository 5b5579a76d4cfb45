"""Versions of a mapping share what did not change, and cost by what did."""

from __future__ import annotations

import copy
import pickle
from random import Random
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from kraftool.image.layers import Layers
from kraftool.image.loader import ImageLoader
from kraftool.image.overlay import Overlay
from tests.image.metadata import replayed, topic

CHANGES = st.lists(
    st.lists(st.tuples(st.integers(0, 60), st.one_of(st.none(), st.integers(1, 9))), max_size=8),
    max_size=40,
)
"""Commits of a key with a new item, or without one."""


def commit(version: Any, changes: list[tuple[Any, Any]]) -> Any:
    overlay: Overlay[Any, Any] = Overlay(version)
    for key, item in changes:
        if item is None:
            overlay.remove(key)
        else:
            overlay.set(key, item)
    return overlay.result()


@settings(max_examples=150, deadline=None)
@given(st.integers(0, 50), CHANGES, st.booleans())
def test_every_version_stays_what_a_dict_would_be(
    size: int, commits: list[list[tuple[int, int | None]]], reads_all: bool
) -> None:
    expected = dict.fromkeys(range(size), 1)
    version: Any = dict(expected)
    versions = [(version, dict(expected))]
    for changes in commits:
        version = commit(version, changes)
        for key, item in changes:
            if item is None:
                expected.pop(key, None)
            else:
                expected[key] = item
        versions.append((version, dict(expected)))
        if reads_all:
            assert dict(version.items()) == expected
    for mapping, items in versions:
        assert len(mapping) == len(items)
        for key in range(61):
            assert mapping.get(key) == items.get(key)
            assert (key in mapping) == (key in items)
        assert mapping == items
        assert items == mapping
        assert set(mapping) == set(items)
        assert sorted(mapping.values()) == sorted(items.values())


def large(size: int) -> Any:
    return {f"key-{number}": 1 for number in range(size)}


def test_the_order_is_that_of_the_base_and_then_of_the_additions() -> None:
    version = large(100)
    for number in (3, 1, 2):
        version = commit(version, [(f"new-{number}", 1)])
    version = commit(version, [("key-7", 2), ("key-9", None)])
    assert isinstance(version, Layers)
    base = [key for key in large(100) if key != "key-9"]
    assert list(version) == [*base, "new-3", "new-1", "new-2"]


@pytest.mark.parametrize(
    "again", [copy.deepcopy, lambda layers: pickle.loads(pickle.dumps(layers))]
)
def test_a_version_is_copied_and_pickled_as_what_it_holds(again: Any) -> None:
    version = commit(large(100), [("key-1", 5), ("key-2", None)])
    assert isinstance(version, Layers)
    assert again(version) == {**{key: 1 for key in large(100) if key != "key-2"}, "key-1": 5}


def dicts(version: Any) -> list[dict[Any, Any]]:
    """The dicts that a version consists of."""
    if not isinstance(version, Layers):
        return [version]
    base, layers = version._parts
    return [base, *layers]


def copies(size: int, commits: int) -> float:
    """How many entries are written for a commit of one change, on average."""
    random, copied = Random(1), 0
    version: Any = large(size)
    for _ in range(commits):
        shared = {id(layer) for layer in dicts(version)}
        before, version = version, commit(version, [(f"key-{random.randrange(size)}", 2)])
        copied += sum(len(layer) for layer in dicts(version) if id(layer) not in shared)
        del before
    return copied / commits


def test_a_change_copies_as_much_of_a_large_base_as_of_a_small_one() -> None:
    assert (few := copies(1_000, 2_000)) <= 30
    assert copies(20_000, 10_000) <= 2 * few


def test_few_layers_lie_over_a_base() -> None:
    version: Any = large(20_000)
    most = 0
    for number in range(6_000):
        version = commit(version, [(f"key-{number}", 2)])
        if isinstance(version, Layers):
            most = max(most, len(version._parts[1]))
    assert most <= 6


def test_a_commit_to_many_topics_copies_no_topic_that_it_does_not_change() -> None:
    """Neither of the two mappings of topics is read as a whole."""
    loader = ImageLoader(replayed(*(topic(f"t{n}", f"{n:022}") for n in range(500))))
    for number in range(20):
        name, value = topic(f"new{number}", f"x{number:021}")
        loader.replay(number, name, value)
        image = loader.image()
        for topics in (image.topics.by_id, image.topics.by_name):
            assert isinstance(topics, Layers)
            assert len(topics) == 501 + number
        assert image.topics.by_name[f"new{number}"] is image.topics.by_id[f"x{number:021}"]
