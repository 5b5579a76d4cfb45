"""The changes that records make to topics, partitions and topic configs, for a caller of a replay.

Owns their form: tuples in lists, since a log has millions of them. A record that does not fit adds
no tuple. A tuple does not name its record: the caller takes the tuples after each record.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Protocol


class NamedTopic(Protocol):
    """A topic, as far as changes name it."""

    @property
    def id(self) -> str: ...
    @property
    def name(self) -> str: ...


SeenPartition = tuple[NamedTopic, int, tuple[Any, ...] | None, bool]
"""Topic and number of a partition, what it is after a record, and if it was there before it. After
its removal it is None."""


SeenTopic = tuple[str, str, bool]
"""Name and id of a topic that was created (true) or removed."""

SeenConfig = tuple[tuple[int, str], str, bool, Mapping[str, str]]
"""A resource, the name of a config that was set (true) or removed, and all its configs after it."""


class SeenChanges:
    """The changes that were seen. Callers remove the changes that they have used."""

    __slots__ = ("configs", "partitions", "topics")

    def __init__(self) -> None:
        self.partitions: list[SeenPartition] = []
        self.topics: list[SeenTopic] = []
        self.configs: list[SeenConfig] = []
