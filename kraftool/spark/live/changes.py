"""The changes of a log other than growth, from the poll that saw one to its row.

Owns the form in which a change stands in the offset of a stream: all that its row needs, whatever
happens to the files meanwhile. `storage/tail.py` judges one log; what a stream knows beyond it is
here.
"""

from __future__ import annotations

import time
from collections.abc import Sequence
from dataclasses import astuple, fields
from typing import Any

import orjson

from kraftool.arrow.fleet import FleetDirectory
from kraftool.arrow.rows import ArrowRows, identity
from kraftool.arrow.untyped import ArrowBatch, ArrowSchema
from kraftool.storage.tail import LogRewrite, TailState

Told = dict[str, Any]


def owner_object(owner: FleetDirectory) -> list[Any]:
    """Return whose log it is, as it stands in an offset: known still when the log has gone."""
    return list(astuple(owner))


def owner_of(value: Sequence[Any]) -> FleetDirectory:
    names = (field.name for field in fields(FleetDirectory))
    return FleetDirectory(**dict(zip(names, value, strict=True)))


def appeared(state: TailState) -> LogRewrite:
    """A log that was not there when the stream began, or was gone."""
    return LogRewrite(
        change="APPEARED", segment=state.segment, position=0, offset=None,
        was_offset=None, epoch=None, generation=state.generation,
    )  # fmt: skip


def lost(state: TailState, segment: str, position: int, generation: int) -> LogRewrite:
    """Records that were seen, and whose segment has gone before they were read."""
    return LogRewrite(
        change="LOST", segment=segment, position=position, offset=None,
        was_offset=state.offset, epoch=None, generation=generation,
    )  # fmt: skip


def stored_change(folder: str, owner: FleetDirectory, change: LogRewrite) -> Told:
    """A change as it stands in an offset."""
    return {
        "owner": owner_object(owner),
        "file": f"{folder}/{change.segment}",
        **change.values(),
        "seen_ms": time.time_ns() // 1_000_000,
        "sentence": change.sentence(),
    }


def change_rows(arrow: ArrowSchema, changes: Sequence[Told]) -> ArrowBatch:
    """Changes as rows: what happened is the type, its numbers are the payload. The time is when it
    was noticed."""
    table = ArrowRows(arrow)
    for change in changes:
        numbers = {name: change[name] for name in ("change", "offset", "was_offset", "generation")}
        table.add(
            {
                **identity(owner_of(change["owner"]), change["file"]),
                "generation": change["generation"],
                "kind": "change",
                "position": change["position"],
                "offset": change["offset"],
                "epoch": change["epoch"],
                "timestamp": change["seen_ms"],
                "timestamp_ms": change["seen_ms"],
                "type": change["change"],
                "payload": orjson.dumps(numbers),
                "data": orjson.dumps(numbers),
                "error": change["sentence"],
            }
        )
    return table.take()
