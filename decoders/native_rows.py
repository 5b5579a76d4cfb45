"""The rows that the native module keeps, where there is one.

Owns that one import: whoever keeps rows asks `fast_path.is_native()` first.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from kraftool.decoders._native import OpenRows, RowKinds, Rows
else:
    OpenRows = RowKinds = Rows = Any


def row_kinds(*arguments: Any) -> RowKinds:
    """Return the kinds of rows that these arguments of RowKinds describe."""
    from kraftool.decoders import _native

    return _native.RowKinds(*arguments)


def open_rows(kinds: RowKinds) -> OpenRows:
    """Return groups of rows of these kinds, of which there is none yet."""
    from kraftool.decoders import _native

    return _native.OpenRows(kinds)


__all__ = ["OpenRows", "RowKinds", "Rows", "open_rows", "row_kinds"]
