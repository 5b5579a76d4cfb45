"""Milliseconds of a log as Arrow's timestamps."""

from __future__ import annotations

from kraftool.arrow.narrowing import FIRST_MS, LAST_MS
from kraftool.arrow.untyped import Array, ArrowType, pa, pc


def instants(milliseconds: Array, kind: ArrowType) -> Array:
    """Milliseconds to Spark's microseconds; null where no calendar reaches."""
    mask = pc.and_(pc.greater_equal(milliseconds, FIRST_MS), pc.less_equal(milliseconds, LAST_MS))
    whole = pc.if_else(mask, milliseconds, pa.scalar(None, pa.int64()))
    return pc.multiply(whole, 1000).cast(kind)
