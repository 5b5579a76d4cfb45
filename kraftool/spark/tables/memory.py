"""The memory of earlier runs, cluster by cluster: how far each log is read.

Owns the form in which that is kept between runs, a JSON object for each cluster, in the table of
the state. It refuses to judge what is new; `plan.py` does.
"""

from __future__ import annotations

import json
from dataclasses import dataclass, field
from typing import NamedTuple

from kraftool.storage.tail import TailState


class ClusterKey(NamedTuple):
    """A cluster, or a directory that does not say which cluster it is of."""

    kind: str
    name: str

    @property
    def cluster_id(self) -> str | None:
        return self.name if self.kind == "cluster" else None

    @property
    def text(self) -> str:
        """Return the key of its memory; names may be no UTF-8."""
        return json.dumps(self)


@dataclass(frozen=True, slots=True, kw_only=True)
class LogMemory:
    """One log. `tail` is the listing of what is behind the batches that were read, whose rows are
    in the tables until it changes; "" if there is nothing."""

    listing: str
    state: TailState
    tail: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class GroupMemory:
    """One cluster."""

    key: ClusterKey
    listing: str = ""
    logs: dict[str, LogMemory] = field(default_factory=dict)
    wholes: dict[str, str] = field(default_factory=dict)
    """The listings of files that are read as a whole, and again if they change: checkpoints. ""
    for one that could not be read."""
    unreadable: tuple[str, ...] = ()
    """What could not be read, and is tried again although nothing else has changed."""

    def to_json(self) -> bytes:
        # Names of files may be no UTF-8, which orjson refuses.
        text = json.dumps(
            {
                "key": self.key,
                "listing": self.listing,
                "logs": {
                    name: (log.listing, log.state.to_json(), log.tail)
                    for name, log in self.logs.items()
                },
                "wholes": self.wholes,
                "unreadable": self.unreadable,
            }
        )
        return text.encode()

    @classmethod
    def from_json(cls, data: bytes) -> GroupMemory:
        value = json.loads(data)
        return cls(
            key=ClusterKey(*value["key"]),
            listing=value["listing"],
            logs={
                name: LogMemory(listing=listing, state=TailState.from_json(state), tail=tail)
                for name, (listing, state, tail) in value["logs"].items()
            },
            wholes=value["wholes"],
            unreadable=tuple(value["unreadable"]),
        )
