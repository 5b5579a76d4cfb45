"""The cluster of most directories, and the place of those that name none.

Owns that one rule, for every report of several directories.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable
from typing import TypeVar

T = TypeVar("T")


def home_of(cluster_ids: Iterable[str | None]) -> str | None:
    """The cluster id that most have; of equally many, the one that is told first."""
    counts = Counter(cluster_id for cluster_id in cluster_ids if cluster_id)
    return max(counts, key=lambda cluster_id: counts[cluster_id], default=None)


def by_cluster(things: Iterable[T], cluster_id: Callable[[T], str | None]) -> list[list[T]]:
    """Things cluster by cluster; those that name none go with most others."""
    listed = [(thing, cluster_id(thing)) for thing in things]
    home = home_of(id for _, id in listed)
    groups: dict[str | None, list[T]] = {}
    for thing, id in listed:
        groups.setdefault(id or home, []).append(thing)
    return list(groups.values())
