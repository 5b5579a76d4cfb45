"""Whether the native module is there: the fast path, in Rust, of what Python can do alone.

Owns that choice. A module that was built from other sources than these is not used. Everything
that calls it asks `is_native()` first, and imports it then.
"""

from __future__ import annotations

from kraftool import PURE
from kraftool.decoders.native_build import BUILD_ID

NOT_PLAIN = -3
"""A reason of the module's: the next batch is for Python."""


def _described() -> str:
    if PURE:
        return "pure Python, as KRAFTOOL_PURE=1 asks"
    try:
        from kraftool.decoders import _native
    except ImportError:
        return "pure Python"
    if _native.BUILD_ID != BUILD_ID:
        return "pure Python: the native module is stale, install kraftool again"
    return _NATIVE


_NATIVE = "native"
described = _described()
"""The path in words."""


def is_native() -> bool:
    """True if the native module can be used."""
    return described is _NATIVE
