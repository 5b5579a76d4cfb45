"""The result of a decision."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from typing import Any, NamedTuple

from kraftool.image.replay import WrittenRecord


class KRaftUpgrade(NamedTuple):
    """An upgrade of kraft.version, which the raft log carries out with records of its own."""

    level: int
    record_count: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Decision:
    """Records to append and what to answer once they are committed."""

    answer: dict[str, Any]
    records: Iterable[WrittenRecord] = field(default_factory=tuple)
    """Those of a decision that is not atomic may be worked out while they are taken, in slices:
    what a later one is made of has the earlier ones in it then."""
    is_atomic: bool = True
    """True if the records must stay in one batch; others may be spread over several."""
    kraft_upgrade: KRaftUpgrade | None = None
    """The log appends it before the records."""
    at_offset: Callable[[int], None] | None = None
    """Told the offset of the last record, or of the one before if there are none."""
