"""The choice between the native module, which is the fast path in Rust, and Python alone.

Owns that choice: a module that was built from other sources than these is not used. Callers of the
module check `is_native()` before they import it.
"""

from __future__ import annotations

from kraftool import PURE
from kraftool.decoders.native_build import BUILD_ID

END = -1
"""A reason of the native module's for stopping: everything is read."""
NOT_PLAIN = -3
"""A reason of the module's: the next batch is for Python."""
FULL = -2
"""A reason of the module's: its output has to be taken before it reads more."""


def _described() -> str:
    if PURE:
        return "pure Python, as KRAFTOOL_PURE=1 asks"
    try:
        from kraftool.decoders import _native
    except ImportError:
        from kraftool.native_archive import load_from_archive

        module = load_from_archive()
        if module is None:
            return "pure Python"
        _native = module
    if _native.BUILD_ID != BUILD_ID:
        return "pure Python: the native module is stale, install kraftool again"
    return _NATIVE


_NATIVE = "native"
described = _described()
"""The path in words."""


def is_native() -> bool:
    """True if the native module can be used."""
    return described is _NATIVE
