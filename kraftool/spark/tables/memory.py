"""The memory of earlier runs, cluster by cluster: how far each log is read, and which files have
what.

Owns the form in which that is kept between runs, a JSON object for each cluster, in the table of
the state. It refuses to judge what is new; `plan.py` does.
"""

from __future__ import annotations

import json
from dataclasses import dataclass, field
from typing import Any, NamedTuple

from kraftool.storage.tail import TailState


class Stored(NamedTuple):
    """A committed file, below the place of the tables."""

    path: str
    rows: int
    size: int

    @property
    def table(self) -> str:
        return self.path.partition("/")[0]


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
    """One log. `tail` is the listing of what lies behind the batches that were read, and
    `tail_files` what of it is in the tables until it changes."""

    listing: str
    state: TailState
    tail: str = ""
    tail_files: tuple[Stored, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class WholeMemory:
    """A file that is read as a whole, and again if it changes: a checkpoint."""

    listing: str
    files: tuple[Stored, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class GroupMemory:
    """One cluster."""

    key: ClusterKey
    listing: str = ""
    logs: dict[str, LogMemory] = field(default_factory=dict)
    wholes: dict[str, WholeMemory] = field(default_factory=dict)
    replaced: tuple[Stored, ...] = ()
    unreadable: tuple[str, ...] = ()
    """What could not be read, and is tried again although nothing else has changed."""

    def to_json(self) -> bytes:
        # Names of files may be no UTF-8, which orjson refuses.
        text = json.dumps(
            {
                "key": self.key,
                "listing": self.listing,
                "logs": {
                    name: {
                        "listing": log.listing,
                        "state": log.state.to_json(),
                        "tail": log.tail,
                        "tailFiles": log.tail_files,
                    }
                    for name, log in self.logs.items()
                },
                "wholes": {
                    name: {"listing": whole.listing, "files": whole.files}
                    for name, whole in self.wholes.items()
                },
                "replaced": self.replaced,
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
                name: LogMemory(
                    listing=log["listing"],
                    state=TailState.from_json(log["state"]),
                    tail=log["tail"],
                    tail_files=_stored(log["tailFiles"]),
                )
                for name, log in value["logs"].items()
            },
            wholes={
                name: WholeMemory(listing=whole["listing"], files=_stored(whole["files"]))
                for name, whole in value["wholes"].items()
            },
            replaced=_stored(value["replaced"]),
            unreadable=tuple(value["unreadable"]),
        )


def _stored(value: list[list[Any]]) -> tuple[Stored, ...]:
    return tuple(Stored(*row) for row in value)
