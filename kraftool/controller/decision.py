"""What a decision comes to."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any

from kraftool.image.replay import WrittenRecord


@dataclass(frozen=True, slots=True, kw_only=True)
class Decision:
    """Records to append and what to answer once they are committed."""

    answer: dict[str, Any]
    records: Sequence[WrittenRecord] = field(default_factory=tuple)
    is_atomic: bool = True
    """Whether the records must stay in one batch; others may be spread over several."""
    at_offset: Callable[[int], None] | None = None
    """Told the offset of the last record, or of the one before if there are none."""
